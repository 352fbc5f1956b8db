"""Lengths of time: 三天, 两个半月, 一年零三个月, 好几个小时.

Invariant: a length is a sum of units, each with what it is at least and at most.
"""

import re
from dataclasses import dataclass
from datetime import datetime

from bot.memory.time_zh.calendar import Unit, step
from bot.memory.time_zh.numerals import COUNTING, Count, count

_NOT_A_UNIT = {
    "天": "气津猫空才下堂使然真河山涯地生数",
    "日": "元本语均",
    "年": "级纪轻糕货薪检味",
    "周": "岁边围转",
    "月": "饼经球亮光薪租份",
}
_UNITS = {
    "秒钟": (Unit.SECOND, 1), "秒": (Unit.SECOND, 1), "分钟": (Unit.MINUTE, 1), "分": (Unit.MINUTE, 1),
    "刻钟": (Unit.MINUTE, 15), "小时": (Unit.HOUR, 1), "钟头": (Unit.HOUR, 1), "钟": (Unit.HOUR, 1), "天": (Unit.DAY, 1),
    "日": (Unit.DAY, 1), "晚": (Unit.DAY, 1), "夜": (Unit.DAY, 1), "工作日": (Unit.DAY, 1), "周": (Unit.WEEK, 1),
    "星期": (Unit.WEEK, 1), "礼拜": (Unit.WEEK, 1), "月": (Unit.MONTH, 1), "季度": (Unit.MONTH, 3),
    "周年": (Unit.YEAR, 1), "年": (Unit.YEAR, 1), "载": (Unit.YEAR, 1), "世纪": (Unit.CENTURY, 1),
}  # fmt: skip
_FINER = {
    Unit.CENTURY: Unit.DECADE, Unit.YEAR: Unit.MONTH, Unit.MONTH: Unit.DAY, Unit.WEEK: Unit.DAY, Unit.DAY: Unit.HOUR,
    Unit.HOUR: Unit.MINUTE, Unit.MINUTE: Unit.MINUTE, Unit.SECOND: Unit.SECOND,
}  # fmt: skip
"""How finely a length with a half in it is meant: 「半年」 in months."""

_MONTH = rf"个把月|(?:[0-9]{{1,3}}|[{COUNTING}好]{{1,4}})[多来余]?\s?(?:个|半)(?:半|多|来)?月|[半俩仨两]月"
_UNIT = "|".join(
    ("(?<=个)钟(?![^前后内以之])" if name == "钟" else name)
    + (f"(?![{_NOT_A_UNIT[name]}])" if name in _NOT_A_UNIT else "")
    for name in sorted(_UNITS, key=len, reverse=True)
    if name != "月"
)
_NUMBER = rf"(?:[0-9]{{1,3}}(?:,[0-9]{{3}})+|[0-9]{{1,9}}(?:\.[0-9]{{1,3}})?|[{COUNTING}]{{1,8}}|好几|个把)"
_PIECE = rf"(?:{_MONTH}|{_NUMBER}[多来余]?\s?个?半?[多来]?\s?(?:{_UNIT}))半?[多余]?"
AMOUNT = rf"(?:{_PIECE})(?:[又零、]?\s?(?:{_PIECE})){{0,5}}钟?"
"""As a part of other patterns: it has no group of its own."""
AMOUNT_STARTS = COUNTING + "好个"

_READ = re.compile(
    rf"(?P<number>{_NUMBER})(?P<more>[多来余]?)\s?个?(?P<half>半?)(?P<more_after>[多来]?)\s?(?P<unit>{_UNIT}|月)(?P<and_half>半?)(?P<rest>[多余]?)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A length of time."""

    pieces: tuple[tuple[Count, Unit], ...]
    finest: Unit
    """How finely it was said."""
    is_about: bool = False
    """「十来天」."""
    has_more: bool = False
    """「一个多星期」."""

    def before(self, instant: datetime, *, longest: bool = False) -> datetime:
        """So long before; at its longest, where the words leave it open."""
        return self._moved(instant, -1, longest)

    def after(self, instant: datetime, *, longest: bool = False) -> datetime:
        """So long after."""
        return self._moved(instant, 1, longest)

    @property
    def is_exact(self) -> bool:
        """Whether the words leave nothing open."""
        return all(number.is_exact for number, _ in self.pieces)

    def _moved(self, instant: datetime, sign: int, longest: bool) -> datetime:
        for number, unit in self.pieces:
            instant = step(instant, sign * (number.high if longest else number.low), unit)
        return instant


def read_amount(text: str) -> Amount | None:
    """The length that the whole text says."""
    pieces: list[tuple[Count, Unit]] = []
    finest, is_about, has_more = Unit.CENTURY, False, False
    for match in _READ.finditer(text):
        number = count(match["number"])
        if number is None:
            return None
        unit, times = _UNITS[match["unit"]]
        half = 0.5 if match["half"] or match["and_half"] else 0
        more = 1 if "多" in (match["more"] + match["more_after"] + match["rest"]) and number.low < 10 else 0
        pieces.append((Count((number.low + half) * times, (number.high + half + more) * times), unit))
        said_more = match["more"] + match["more_after"] + match["rest"]
        is_about |= "来" in said_more or (number.low >= 10 and bool(said_more))
        has_more |= bool(more)
        is_broken = half or number.low != int(number.low)
        finest = min(finest, _FINER[unit] if is_broken else unit)
    if not pieces:
        return None
    return Amount(pieces=tuple(pieces), finest=finest, is_about=is_about, has_more=has_more)
