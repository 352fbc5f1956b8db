"""/导出: everything that is kept about a person, for them to take away, as text or as JSON.

Invariant: in private alone; nothing is left out: what is too long for one answer comes in numbered parts.
In text, times are local; in JSON they keep their offset.
"""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from bot.commands.context import Asker, channel_name
from bot.conversation.local_time import LOCAL_TIME, local_date
from bot.conversation.scope import PersonId
from bot.conversation.wording import Wording

Export: TypeAlias = Callable[[PersonId], Awaitable[Mapping[str, Any]]]
"""The document about a person. Raises StoreUnavailable."""
PART_CHARACTERS = 6_000
"""About ten pages of the narrowest channel, which are fetched one by one."""
_ASKED = re.compile(r"(?P<json>json)?\s*(?P<part>[0-9]{1,4})?", re.IGNORECASE)
_write = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class ExportCommands:
    def __init__(self, export: Export, wording: Wording) -> None:
        self._export = export
        self._wording = wording

    async def export(self, asker: Asker, argument: str) -> str:
        if asker.is_in_group:
            return self._wording.say("private_only")
        asked = _ASKED.fullmatch(argument.strip())
        if asked is None:
            return self._wording.say("export_usage")
        document = await self._export(asker.account.person)
        is_json = asked["json"] is not None
        parts = _cut(_write(document)) if is_json else _packed(self._lines(document))
        part = int(asked["part"] or 1)
        if not 1 <= part <= len(parts):
            return self._wording.say("export_no_part", count=len(parts))
        text = parts[part - 1]
        if len(parts) == 1:
            return text if is_json else self._wording.say("export_whole", text=text)
        following = self._next(part, len(parts), is_json=is_json)
        return self._wording.say("export_part", text=text, part=part, count=len(parts), following=following)

    def _next(self, part: int, count: int, *, is_json: bool) -> str:
        if part == count:
            return ""
        return self._wording.say("export_next", command=f"/导出 {'JSON ' if is_json else ''}{part + 1}")

    def _lines(self, document: Mapping[str, Any]) -> list[str]:
        """One for each thing that is kept, under headings."""
        say = self._wording.say
        lines = [say("export_accounts", count=len(document["accounts"]), phones=len(document["phones"]))]
        lines += [
            f"· {self._channel(each)} {each['openid']} {_day(each['since'])}" for each in document["accounts"]
        ]
        written = {
            "facts": [self._fact(each) for each in document["facts"]],
            "entities": [self._seen(each, each["value"], each["seen_at"]) for each in document["entities"]],
            "summaries": [self._seen(each, each["text"], each["until"]) for each in document["summaries"]],
            "turns": [self._turn(each) for each in document["turns"]],
        }
        for name, own in written.items():
            lines += [say(f"export_{name}", count=len(own)), *own]
        return lines

    def _fact(self, fact: Mapping[str, Any]) -> str:
        ended = self._wording.say("export_ended") if fact["valid_to"] else ""
        return f"· {fact['text']}（{self._where(fact)}，{_day(fact['said_at'])}{ended}）"

    def _seen(self, each: Mapping[str, Any], text: str, at: str) -> str:
        return f"· {text}（{self._where(each)}，{_day(at)}）"

    def _turn(self, turn: Mapping[str, Any]) -> str:
        return self._wording.say(
            "export_turn",
            at=f"{_local(turn['at']):%Y-%m-%d %H:%M}",
            where=self._where(turn),
            question=turn["question"],
            answer=turn["answer"],
        )

    def _where(self, each: Mapping[str, Any]) -> str:
        in_group = self._wording.say("export_in_group") if each["place"] else ""
        return self._channel(each) + in_group

    def _channel(self, each: Mapping[str, Any]) -> str:
        return channel_name(self._wording, each["channel"])


def _day(iso: str) -> str:
    return local_date(_local(iso))


def _local(iso: str) -> datetime:
    return datetime.fromisoformat(iso).astimezone(LOCAL_TIME)


def _packed(lines: Sequence[str]) -> list[str]:
    """Whole lines as far as they fit."""
    parts: list[list[str]] = [[]]
    size = 0
    for line in (piece for whole in lines for piece in _cut(whole)):
        if size + len(line) > PART_CHARACTERS and parts[-1]:
            parts.append([])
            size = 0
        parts[-1].append(line)
        size += len(line) + 1
    return ["\n".join(part) for part in parts]


def _cut(text: str) -> list[str]:
    return [text[start : start + PART_CHARACTERS] for start in range(0, len(text), PART_CHARACTERS)] or [""]
