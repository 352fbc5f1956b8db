"""/更正: put right what is remembered, by its number or by the old words and the new.

Invariant: exactly one memory is corrected or none; see `bot.memory.correcting`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.commands.context import Asker
from bot.commands.shown_numbers import ShownNumbers
from bot.conversation.text import clip
from bot.conversation.wording import Wording
from bot.memory.correcting import Correction, put_right
from bot.memory.fact import Fact, FactKind
from bot.memory.forget import meant, thing_named
from bot.memory.normalise import normalise
from bot.memory.numbering import numbered
from bot.memory.ports import FactStore

SHOWN = 5
SHOWN_CHARACTERS = 80
_BY_NUMBER = re.compile(
    r"(?:第|#|编号)?\s*(?P<number>[0-9]{1,4})\s*(?:条|号|[:：.、,，])?\s*(?:改成|改为)?\s*(?P<text>.*)",
    re.DOTALL,
)
_CHANGE = re.compile(
    r"(?P<before>.+?)\s*(?:→|->|=>|>|改成|改为|换成|变成|应该是|应为)\s*(?P<after>.+)", re.DOTALL
)
_BEFORE = re.compile(
    r"(?P<what>.*?)(?:\s+|(?<![0-9A-Za-z])(?=[0-9A-Za-z][0-9A-Za-z._-]*$))(?P<old>\S+)", re.DOTALL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    fact: Fact
    text: str


class CorrectCommands:
    def __init__(self, facts: FactStore, wording: Wording, numbers: ShownNumbers) -> None:
        self._facts = facts
        self._numbers = numbers
        self._wording = wording

    async def correct(self, asker: Asker, words: str) -> str:
        if asker.is_in_group:
            return self._wording.say("private_only")
        held = await self._facts.held_facts(asker.scope)
        shown = [
            fact
            for fact in (await self._facts.fact_sheet(asker.scope)).facts
            if fact.kind is not FactKind.PROMISE
        ]
        if (change := _CHANGE.fullmatch(words)) is not None:
            return await self._by_words(asker, change["before"], change["after"], shown, held)
        found = _BY_NUMBER.fullmatch(words)
        if found is None or not found["text"]:
            return self._wording.say("correct_usage")
        meant_one = self._numbered(asker, held).get(int(found["number"]))
        fact = next((each for each in shown if meant_one and each.text == meant_one.text), None)
        if fact is None:
            return self._wording.say("correct_nothing")
        return await self._put_right(asker, _Change(fact=fact, text=found["text"]))

    async def _by_words(
        self, asker: Asker, before: str, after: str, shown: Sequence[Fact], held: Sequence[Fact]
    ) -> str:
        number = _BY_NUMBER.fullmatch(before)
        if number is not None and not number["text"] and int(number["number"]) in self._numbered(asker, held):
            return await self.correct(asker, f"{before} {after}")
        parts = _BEFORE.fullmatch(before)
        what, old = (parts["what"], parts["old"]) if parts else ("", before)
        changes = [
            _Change(fact=fact, text=text)
            for fact in shown
            if (text := _with_new(fact.text, old, after)) is not None
        ]
        named = meant(thing_named(what), [each.fact for each in changes])
        changes = [each for each in changes if each.fact in named] or changes
        if not changes:
            return self._wording.say("correct_nothing")
        if len(changes) > 1:
            few = [each.fact.text for each in changes[:SHOWN]]
            numbers = self._numbers.show(asker.scope, held, few, is_anew=False)
            lines = "\n".join(f"{numbers.get(text, 0)}. {clip(text, SHOWN_CHARACTERS)}" for text in few)
            return self._wording.say("correct_which", facts=lines)
        return await self._put_right(asker, changes[0])

    def _numbered(self, asker: Asker, held: Sequence[Fact]) -> Mapping[int, Fact]:
        return numbered(held, self._numbers.of(asker.scope))

    async def _put_right(self, asker: Asker, change: _Change) -> str:
        done = await put_right(self._facts, asker.scope, change.fact, change.text, asker.message.sent_at)
        match done.outcome:
            case Correction.NO_FACT:
                return self._wording.say("correct_no_fact")
            case Correction.SAME:
                return self._wording.say("correct_same")
            case Correction.GONE:
                return self._wording.say("remember_failed")
            case Correction.DONE:
                held = await self._facts.held_facts(asker.scope)
                new = next((fact.id for fact in held if fact.text == done.texts[0]), change.fact.id)
                self._numbers.put_in_place(asker.scope, change.fact.id, new)
                return self._wording.say(
                    "corrected",
                    old=clip(change.fact.text, SHOWN_CHARACTERS),
                    new="；".join(clip(text, SHOWN_CHARACTERS) for text in done.texts),
                )


def _with_new(text: str, old: str, new: str) -> str | None:
    """The text with `new` in place of `old`; None where that isn't in it. What is the whole of a memory is replaced by a
    whole one."""
    if normalise(text) == normalise(old):
        return new
    pattern = re.escape(old)
    if old[0].isascii() and old[0].isalnum():
        pattern = rf"(?<![0-9A-Za-z]){pattern}"
    if old[-1].isascii() and old[-1].isalnum():
        pattern = rf"{pattern}(?![0-9A-Za-z])"
    changed, count = re.subn(pattern, lambda _: new, text, flags=re.IGNORECASE)
    return changed if count else None
