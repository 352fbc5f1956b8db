"""An element of an expression: a pattern, and how what it says narrows the piece of the calendar named so far.

An expression is a chain of elements, each finer than the one before: 去年 · 3月 · 5号 · 晚上 · 8点.

Invariant: an element that doesn't fit what it follows returns None or raises ValueError, and isn't part of the
expression. Every pattern is bounded, so that reading takes time linear in the text.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.memory.time_zh.calendar import Slot, Unit

Reading = Callable[[re.Match[str], "Context"], "Slot | None"]

TO = r"\s?(?:-{1,2}|~|至|到)\s?"
"""What stands between the two ends of a range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What an element is read against."""

    now: datetime
    anchor: datetime
    """What left-out fields are taken from: now, or where the left end of a range starts."""
    within: Slot | None = None
    """What the elements before came to."""
    part: str = ""
    """The part of the day of a range's left end: 「下午1点到3点」."""
    is_right: bool = False
    """Whether it is the right end of a range: the first such time from the anchor on."""
    is_ahead: bool = False
    """Whether what is left out is taken from the running year, month, week and day, as of plans and terms; else
    the latest such time is meant."""

    @property
    def base(self) -> datetime:
        """Where the next finer field is counted from."""
        return self.within.start if self.within else self.anchor

    def is_free(self) -> bool:
        """Whether nothing was named before."""
        return self.within is None

    def narrowed(self, within: Slot) -> "Context":
        """The same, behind an element that came to `within`."""
        return Context(
            now=self.now,
            anchor=self.anchor,
            within=within,
            part=self.part,
            is_right=self.is_right,
            is_ahead=self.is_ahead,
        )

    def holds(self, unit: Unit) -> bool:
        """Whether what was named before is coarser than the unit, or there is none."""
        return self.within is None or self.within.unit > unit


@dataclass(frozen=True, slots=True)
class Element:
    """One kind of word."""

    pattern: re.Pattern[str]
    starts: frozenset[str]
    """The characters it may begin with: most places of a text are passed over by these."""
    read: Reading


def words(*texts: str) -> str:
    """An alternation, the longest first, so that none hides behind its own beginning."""
    return "|".join(sorted({re.escape(text) for text in texts}, key=lambda text: (-len(text), text)))


def element(pattern: str, starts: str, read: Reading) -> Element:
    """An element, compiled."""
    return Element(re.compile(pattern), frozenset(starts), read)
