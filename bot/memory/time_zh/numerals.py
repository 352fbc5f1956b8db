"""Numbers as people write them beside a unit of time: 3, 三, 十五, 二十来, 两三, 半, 几.

Invariant: pure; what is no number is None, nothing raises.
"""

from dataclasses import dataclass
from functools import lru_cache

import cn2an

DIGITS = "零〇一二三四五六七八九"
CHINESE = "零〇一二三四五六七八九十"
"""Of which the number of a year, month, day, hour or minute is made."""
NUMERALS = "0123456789" + CHINESE
COUNTING = NUMERALS + "两俩仨几半百千万数"
"""Of which an amount is made (「两」 counts days, but names none)."""

_VALUES = {character: index - 1 for index, character in enumerate(DIGITS)} | {
    "零": 0,
    "十": 10,
    "两": 2,
    "俩": 2,
    "仨": 3,
}
_FEW = (3, 9)
"""「几」: more than two, less than ten."""


@dataclass(frozen=True, slots=True)
class Count:
    """At least `low`, at most `high`: the same, unless the words leave it open (「两三」, 「几」)."""

    low: float
    high: float

    @property
    def is_exact(self) -> bool:
        """Whether one number was said."""
        return self.low == self.high


@lru_cache(256)
def ordinal(text: str) -> int | None:
    """The number of a year, month, day or hour: 07, 七, 二十三, 二零二一."""
    if text.isascii():
        return int(text) if text.isdigit() else None
    if all(character in DIGITS for character in text):
        return int("".join(str(_VALUES[character]) for character in text))
    tens, ten, ones = text.partition("十")
    if not ten or len(tens) > 1 or len(ones) > 1:
        return None
    return _VALUES.get(tens, 1) * 10 + _VALUES.get(ones, 0)


@lru_cache(256)
def count(text: str) -> Count | None:
    """The number before a unit."""
    text = text.replace(",", "")
    if text.replace(".", "", 1).isdigit() and text.isascii():
        return Count(float(text), float(text))
    if text == "个把":
        return Count(1, 1)
    if text == "半":
        return Count(0.5, 0.5)
    if len(text) > 1 and text[-1] == "半" and (whole := _plain(text[:-1])):
        return Count(whole.low + 0.5, whole.high + 0.5)
    return _vague(text) or _plain(text)


def _vague(text: str) -> Count | None:
    if text in ("几", "好几", "数"):
        return Count(*map(float, _FEW))
    if text == "几十":
        return Count(20, 100)
    if text[-1] == "几" and (tens := _plain(text[:-1])):
        return Count(tens.low, tens.low + (10 if tens.low < 100 else 100))
    if len(text) >= 2 and all(character in _VALUES for character in text[-2:]):
        first, second = _VALUES[text[-2]], _VALUES[text[-1]]
        if 0 < first < second < 10 and second - first <= 2:
            tens = _plain(text[:-2]) if len(text) > 2 else Count(0, 0)
            return tens and Count(tens.low + first, tens.low + second)
    return None


def _plain(text: str) -> Count | None:
    if len(text) == 1 and text in _VALUES:
        return Count(_VALUES[text], _VALUES[text])
    try:
        value = float(cn2an.cn2an(text.replace("〇", "零"), "smart"))
    except (ValueError, IndexError, KeyError):
        return None
    return Count(value, value)
