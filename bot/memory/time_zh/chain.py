"""Chains of elements, each narrowing the one before.

Invariant: at every place the longest element that fits is taken, and none is taken back.
"""

from collections import defaultdict
from functools import cache, lru_cache

from bot.conversation.sieve import Sieve, places
from bot.memory.time_zh.calendar import NoSuchDay, Slot
from bot.memory.time_zh.clock import CLOCK
from bot.memory.time_zh.dates import DATES
from bot.memory.time_zh.elements import Context
from bot.memory.time_zh.months import MONTHS
from bot.memory.time_zh.moon_days import MOON_DAYS
from bot.memory.time_zh.relative import RELATIVE
from bot.memory.time_zh.weeks import WEEKS
from bot.memory.time_zh.years import YEARS

_LONGEST_CHAIN = 8
"""Century to second is less."""
_BETWEEN = (" 的", "的 ", " ", "的", ",", "")
"""What may stand between two elements."""
_FOLLOWS = frozenset(between[0] for between in _BETWEEN if between)


_ALL = (*YEARS, *MONTHS, *MOON_DAYS, *DATES, *WEEKS, *RELATIVE, *CLOCK)
_LATELY = 16
"""Texts: one is read from many places in a row."""


@cache
def _by_start() -> dict[str, int]:
    """Of `_ALL`, a bit for each."""
    found: defaultdict[str, int] = defaultdict(int)
    for place, one in enumerate(_ALL):
        for start in one.starts:
            found[start] |= 1 << place
    return dict(found)


@cache
def _sieve() -> Sieve:
    return Sieve([one.pattern for one in _ALL])


@lru_cache(_LATELY)
def _fitting(text: str) -> int:
    """The elements that the text may hold, likewise."""
    return _sieve().mask(text)


def starts() -> frozenset[str]:
    """The characters that elements begin with."""
    return frozenset(_by_start())


def may_start(character: str) -> bool:
    """Whether any element begins so."""
    return character in _by_start()


def read_chain(text: str, start: int, context: Context) -> tuple[Slot, int] | None:
    """What the elements from here on come to, and where they end. Raises NoSuchDay."""
    read = _read_element(text, start, context)
    if read is None:
        return None
    slot, end = read
    for _ in range(_LONGEST_CHAIN):
        following = _read_next(text, end, slot, context)
        if following is None:
            break
        slot, end = following
    return slot, end


def _read_next(text: str, end: int, slot: Slot, context: Context) -> tuple[Slot, int] | None:
    """What follows a slot and narrows it."""
    if text[end : end + 1] not in _FOLLOWS and not may_start(text[end : end + 1]):
        return None
    for between in _BETWEEN:
        start = end + len(between)
        if text.startswith(between, end) and may_start(text[start : start + 1]):
            read = _read_element(text, start, context.narrowed(slot))
            if read:
                return read
    return None


def _read_element(text: str, start: int, context: Context) -> tuple[Slot, int] | None:
    best: tuple[Slot, int] | None = None
    for place in places(_by_start().get(text[start : start + 1], 0) & _fitting(text)):
        one = _ALL[place]
        match = one.pattern.match(text, start)
        if match is None or match.end() <= (best[1] if best else start):
            continue
        try:
            slot = one.read(match, context)
        except NoSuchDay:
            raise
        except (ValueError, OverflowError):
            continue  # No such day, or none in the calendars we have.
        if slot is not None and slot.start < slot.end:
            best = slot, match.end()
    return best
