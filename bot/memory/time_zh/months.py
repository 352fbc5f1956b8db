"""Halves, quarters, months and their beginnings and ends.

Invariant: each narrows a year or a month, or else the year or month of the context.
"""

import re

from bot.memory.time_zh.calendar import Slot, Unit, floor, slot, step
from bot.memory.time_zh.elements import TO, Context, element, words
from bot.memory.time_zh.numerals import NUMERALS, count, ordinal

MONTH_NUMBER = r"(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])"
_NOT_MONTHS = r"(?![饼经球亮光薪租嫂票付供均费卡牙])"
_THIS = {
    "本": 0, "这": 0, "这个": 0, "本个": 0, "这一": 0, "这一个": 0, "上": -1, "上个": -1, "上一": -1, "上一个": -1,
    "前一个": -1, "上上": -2, "上上个": -2, "上上上": -3, "上上上个": -3,
    "下": 1, "下个": 1, "下一": 1, "下一个": 1, "下下": 2, "下下个": 2,
}  # fmt: skip
_OF_LEFT = {"当": 0, "次": 1, "同": 0}

_MONTH_EDGES = {
    "初": (0, 10), "头": (0, 10), "上旬": (0, 10), "中": (10, 20), "中旬": (10, 20), "底": (20, 31), "末": (20, 31),
    "尾": (20, 31), "上半月": (0, 15), "下半月": (15, 31), "下旬": (20, 31),
}  # fmt: skip
"""Days of a month: its thirds (旬), which is also what beginning, middle and end of a month mean."""
_YEAR_EDGES = {
    "初": (0, 2),
    "头": (0, 2),
    "中": (5, 7),
    "底": (10, 12),
    "末": (10, 12),
    "尾": (10, 12),
    "伊始": (0, 1),
    "首月": (0, 1),
}
"""Months of a year: the first two, June and July, the last two."""


def _months(start_of: Slot | None, context: Context, first: int, length: int, unit: Unit) -> Slot:
    year = floor(start_of.start if start_of else context.anchor, Unit.YEAR)
    start = step(year, first, Unit.MONTH)
    return Slot(
        start=start,
        end=step(start, length, Unit.MONTH),
        unit=unit,
        left_out=start_of.left_out if start_of else Unit.YEAR if unit is Unit.MONTH else None,
    )


def _is_year(slot_before: Slot | None) -> bool:
    return slot_before is None or slot_before.unit is Unit.YEAR


def _half(match: re.Match[str], context: Context) -> Slot | None:
    if not _is_year(context.within):
        return None
    return _months(context.within, context, 0 if match["half"] in "上前" else 6, 6, Unit.HALF)


def _quarter(match: re.Match[str], context: Context) -> Slot | None:
    number = ordinal(match["number"])
    if number is None or not _is_year(context.within):
        return None
    quarter = _months(context.within, context, (number - 1) * 3, 3, Unit.QUARTER)
    return _edge_of_quarter(quarter, match["edge"])


def _edge_of_quarter(quarter: Slot, edge: str | None) -> Slot:
    if not edge:
        return quarter
    return slot(step(quarter.start, {"初": 0, "中": 1}.get(edge, 2), Unit.MONTH), Unit.MONTH)


def _this_quarter(match: re.Match[str], context: Context) -> Slot | None:
    if not context.is_free():
        return None
    return _edge_of_quarter(
        slot(step(floor(context.now, Unit.QUARTER), _THIS[match["which"]], Unit.QUARTER), Unit.QUARTER),
        match["edge"],
    )


def _first_or_last(match: re.Match[str], context: Context) -> Slot | None:
    """「前三季度」, and in a year 「前两月」, 「后三月」, 「最后4个月」."""
    number = count(match["number"])
    each = 3 if "季" in match["unit"] else 1
    if (
        number is None
        or not number.is_exact
        or number.low != int(number.low)
        or not 0 < number.low * each <= 12
    ):
        return None
    is_first = match["which"] == "前"
    if not _is_year(context.within) or (context.is_free() and not (each == 3 and is_first)):
        return None
    length = int(number.low) * each
    return _months(context.within, context, 0 if is_first else 12 - length, length, Unit.QUARTER)


def _month(match: re.Match[str], context: Context) -> Slot | None:
    number = 1 if match["number"] == "元" else ordinal(match["number"])
    if number is None or not _is_year(context.within):
        return None
    return _months(context.within, context, number - 1, 1, Unit.MONTH)


def _nth_month(match: re.Match[str], context: Context) -> Slot | None:
    number = ordinal(match["number"])
    if (
        number is None
        or context.within is None
        or context.within.unit is not Unit.YEAR
        or not 0 < number <= 12
    ):
        return None
    return _months(context.within, context, number - 1, 1, Unit.MONTH)


def _this_month(match: re.Match[str], context: Context) -> Slot | None:
    if not context.is_free():
        return None
    which = match["which"]
    if which in _OF_LEFT:
        return slot(step(floor(context.anchor, Unit.MONTH), _OF_LEFT[which], Unit.MONTH), Unit.MONTH)
    return slot(step(floor(context.now, Unit.MONTH), _THIS[which], Unit.MONTH), Unit.MONTH)


def _edge_of_month(match: re.Match[str], context: Context) -> Slot | None:
    within = context.within
    if within is None and not (match["of"] or match["edge"].endswith(("旬", "半月"))):
        return None
    if within is not None and within.unit is not Unit.MONTH:
        return None
    month = within or slot(context.anchor, Unit.MONTH)
    first, last = _MONTH_EDGES[match["edge"]]
    start = step(month.start, first, Unit.DAY)
    end = month.end if last == 31 else step(month.start, last, Unit.DAY)
    return Slot(start=start, end=end, unit=Unit.DAYS, left_out=within.left_out if within else None)


def _edge_of_year(match: re.Match[str], context: Context) -> Slot | None:
    if not _is_year(context.within) or (context.is_free() and not match["of"]):
        return None
    first, last = _YEAR_EDGES[match["edge"]]
    return _months(context.within, context, first, last - first, Unit.MONTH).leaving_out(None)


def _opening_of_year(_: re.Match[str], context: Context) -> Slot | None:
    if not _is_year(context.within):
        return None
    return _months(context.within, context, 0, 2, Unit.MONTH).leaving_out(None)


_QUARTER_EDGE = "(?P<edge>[初中末])?"
_NUMBER = f"(?P<number>[{NUMERALS}两仨]{{1,3}})"
MONTHS = (
    element(r"(?P<half>[上下前后])半年", "上下前后", _half),
    element(rf"(?:第)?(?P<number>[一二三四1-4])个?季度{_QUARTER_EDGE}", "第一二三四1234", _quarter),
    element(rf"q(?P<number>[1-4])(?:季度)?(?![a-z0-9]){_QUARTER_EDGE}", "q", _quarter),
    element(
        rf"(?P<which>{words(*_THIS)})季(?:度|(?![节军风后])){_QUARTER_EDGE}", "本这上前下", _this_quarter
    ),
    element(
        rf"(?P<which>前|后|最后)\s?{_NUMBER}\s?个?(?P<unit>季度|月)(?![以之前后内])", "前后最", _first_or_last
    ),
    element(
        rf"(?P<number>{MONTH_NUMBER}|元)(?:月{_NOT_MONTHS}份?|(?={TO}{MONTH_NUMBER}月))",
        NUMERALS + "元",
        _month,
    ),
    element(rf"第{_NUMBER}个?月", "第", _nth_month),
    element(rf"(?P<which>{words(*_THIS, *_OF_LEFT)})月{_NOT_MONTHS}份?", "本这上前下当次同", _this_month),
    element(
        rf"(?P<of>月)?(?P<edge>{words(*_MONTH_EDGES)})(?![秋午国间学心文])",
        "月初头中底末尾上下",
        _edge_of_month,
    ),
    element(r"(?<![公召])开年(?![会年报])", "开", _opening_of_year),
    element(
        rf"(?P<of>年|岁)?(?P<edge>{words(*_YEAR_EDGES)})(?![秋午国间学心文])",
        "年岁初头中底末尾伊首",
        _edge_of_year,
    ),
)
