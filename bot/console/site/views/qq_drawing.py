"""What was said on a QQ stage as it is drawn: bubbles and notes, in the order in which they were seen.

Invariant: pure; it sorts and names, and decides nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from bot.conversation.message import Role
from bot.playground.qq_state import Act, Answer, Line, Place, Window

FOR_NOBODY = "nobody"
"""What decided that a message wasn't for the bot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bubble:
    """One thing on the screen."""

    id: str
    side: Literal["me", "bot", "other", "note"]
    at: float
    text: str
    ref: str = ""
    name: str = ""
    """As the group calls them; "" is the bot, or nobody."""
    role: str = ""
    """"" where it is not shown."""
    act: str = ""
    at_bot: bool = False
    quoted: str = ""
    quoted_shown: str = ""
    """"" is the bot."""
    mentions: tuple[str, ...] = ()
    is_folded: bool = False
    after: str = ""
    """Of an answer: seconds since the message."""
    meta: str = ""
    """Of a message without an answer: the name of a sentence."""
    window: Window | None = None
    why: str = ""
    """Where it is told why; "" where nothing is."""


def bubbles(lines: Iterable[Line], channel: str, app_id: str, who: str) -> list[Bubble]:
    """`who`: whose screen it is."""
    drawn: list[Bubble] = []
    for line in lines:
        why = _why_address(channel, app_id, line)
        if line.act is not Act.UNASKED:
            drawn.append(_said(line, who, why))
        drawn += [_answer(f"{line.number}-{at}", each, why) for at, each in enumerate(line.answers)]
    return sorted(drawn, key=lambda each: each.at)


def _said(line: Line, who: str, why: str) -> Bubble:
    is_note = line.act is not Act.TEXT
    side: Literal["me", "other", "note"] = "note" if is_note else "me" if line.who == who else "other"
    is_group = line.place is Place.GROUP
    return Bubble(
        id=f"{line.number}",
        side=side,
        at=line.at,
        text=line.text,
        ref="" if line.is_lost else line.ref,
        name=line.who if is_note else line.shown,
        role=line.role.value if is_group and not is_note and line.role is not Role.MEMBER else "",
        act=line.act.value,
        at_bot=is_group and line.is_addressed,
        quoted=line.quoted,
        quoted_shown=line.quoted_shown,
        meta=_meta(line),
        window=line.window if line.is_addressed and not line.is_lost else None,
        why="" if line.answers else why,
    )


def _meta(line: Line) -> str:
    """What is said below a message that has no answer."""
    if line.is_lost:
        return "lost"
    if line.answers or line.act is not Act.TEXT:
        return ""
    if line.decided_by == FOR_NOBODY:
        return "for_nobody"
    if line.decided_by:
        return "no_answer"
    return "awaited" if line.is_addressed else ""


def _answer(name: str, answer: Answer, why: str) -> Bubble:
    return Bubble(
        id=name,
        side="bot",
        at=answer.at,
        text=answer.text,
        ref=answer.ref,
        mentions=answer.mentions,
        is_folded=answer.is_folded,
        after=f"{answer.after_seconds:.1f}",
        why=why,
    )


def _why_address(channel: str, app_id: str, line: Line) -> str:
    """ "" while nothing can be told: the bot is at it, or does not know of it."""
    is_told = line.key and (line.decided_by or line.answers)
    return f"/playground/why/{channel}/{quote(app_id)}/{quote(line.key)}" if is_told else ""
