"""The whole numbers that a question tells itself: 「SF123… 到哪了」, 「不是SF123…，是SF456…」.

Invariant: pure. A number that is told whole is the one that is meant, and never another.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from bot.memory.entities.entity import TAIL_MARK, EntityType
from bot.memory.entities.extract import extract, may_name_order, no_dates

_LATELY = 256
"""Texts whose numbers are kept: one message is asked about several times in a row."""
_MAY = re.compile(r"[0-9]{4}|[0-9][0-9A-Za-z\-]{4}")
_CLAUSE = "[^，,。；;！!？?\n]"
_DENIED = re.compile(
    rf"(?:(?<!是)不是|并非|(?<!要)不要|除了|除开|不算|不查|不用查|别查|别管|不管|没说|没问){_CLAUSE}{{0,8}}$"
)
_WRONG = re.compile(
    rf"{_CLAUSE}{{0,4}}?(?:不对|是错的|不是(?:我的?|这个|那个)?(?=$|[，,。；;！!？?])|[写打报说输填记]错)"
)
_ANY = datetime(2000, 1, 1, tzinfo=UTC)
"""Dates aren't read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    value: str
    normalised: str
    start: int
    """Of what denies it, where it is denied."""
    end: int
    is_denied: bool


@lru_cache(_LATELY)
def numbers_told(text: str) -> tuple[Number, ...]:
    """`text`: as `read`. In the order they stand in."""
    if not _MAY.search(text) or not may_name_order(text):
        return ()
    return tuple(
        _number(text, each.value, each.normalised, each.start, each.end)
        for each in extract(text, _ANY, dates=no_dates)
        if each.type is EntityType.ORDER_ID and not each.normalised.startswith(TAIL_MARK)
    )


def affirmed(text: str) -> tuple[Number, ...]:
    return tuple(each for each in numbers_told(text) if not each.is_denied)


def denied(text: str) -> tuple[Number, ...]:
    return tuple(each for each in numbers_told(text) if each.is_denied)


def is_denied(text: str, start: int) -> bool:
    """「不是」 and the like stand before what begins here."""
    return _DENIED.search(text[max(0, start - 16) : start]) is not None


def _number(text: str, value: str, normalised: str, start: int, end: int) -> Number:
    before = _DENIED.search(text[max(0, start - 16) : start])
    behind = _WRONG.match(text, end)
    if before is not None:
        start -= len(before.group())
    return Number(
        value=value,
        normalised=normalised,
        start=start,
        end=behind.end() if behind else end,
        is_denied=before is not None or behind is not None,
    )
