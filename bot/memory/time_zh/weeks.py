"""Weeks and their days: 上周三, 周末, 6月第3个星期日, 今年第三十七个星期.

Invariant: a week starts on Monday, and the first of a month or year is the one with its first Monday.
"""

import re
from datetime import datetime, timedelta

from bot.memory.time_zh.calendar import Slot, Unit, days, floor, slot, step
from bot.memory.time_zh.elements import Context, element, words
from bot.memory.time_zh.festivals import nth_weekday
from bot.memory.time_zh.numerals import NUMERALS, count, ordinal

WEEK = "(?:周|星期|礼拜)"
WEEKDAY = "[一二三四五六日天1-7]"
_NOT_NAMES = r"(?![鸣围凡帆诺涵楠菲曼仙丹良杰福舟洲轩贝龙])"
"""Given names that follow 周一, 周三 … in people's names, and a jeweller's."""
_NOT_CALLED = r"(?<![姓叫])"

_OFFSETS = {
    "本": 0, "这": 0, "这个": 0, "这一": 0, "这一个": 0, "上": -1, "上个": -1, "上一": -1, "上一个": -1, "前一": -1,
    "上上": -2, "上上个": -2, "上上上": -3, "大上": -2, "大上个": -2,
    "下": 1, "下个": 1, "下一": 1, "下一个": 1, "下下": 2, "下下个": 2,
}  # fmt: skip
_ENDS_A_DATE = frozenset("日号 (0123456789")
_OF_LEFT = {"当": 0, "同": 0, "次": 1}


def _weekday(name: str) -> int:
    return int(name) - 1 if name.isascii() else "一二三四五六日".index(name.replace("天", "日"))


def _pick(monday: datetime, named: str, left_out: Unit | None) -> Slot:
    if named == "末":
        return days(monday + timedelta(days=5), 2).leaving_out(left_out)
    if named == "工作日":
        return days(monday, 5).leaving_out(left_out)
    return slot(monday + timedelta(days=_weekday(named)), Unit.DAY).leaving_out(left_out)


def _this_week(match: re.Match[str], context: Context) -> Slot | None:
    if not context.is_free():
        return None
    which = match["which"]
    offset = _OFFSETS.get(which)
    base = context.anchor if offset is None else context.now
    monday = step(floor(base, Unit.WEEK), _OF_LEFT[which] if offset is None else offset, Unit.WEEK)
    if match["day"]:
        return _pick(monday, match["day"], left_out=None)
    if which in ("这一", "这一个"):
        return Slot(start=step(floor(context.now, Unit.DAY), -7, Unit.DAY), end=context.now, unit=Unit.DAYS)
    return slot(monday, Unit.WEEK)


def _day_of_week(match: re.Match[str], context: Context) -> Slot | None:
    within = context.within
    before = match.string[match.start() - 1 : match.start()]
    if within is not None and within.unit is Unit.DAY and match["day"] != "末" and before in _ENDS_A_DATE:
        return within  # 「6月1日周六」: the date decides.
    if within is not None and within.unit is not Unit.WEEK:
        return None
    if within is None and not context.is_ahead:
        return _bare_day(match["day"], context)
    return _pick(floor(context.base, Unit.WEEK), match["day"], left_out=Unit.WEEK if within is None else None)


def _bare_day(named: str, context: Context) -> Slot:
    """The latest that has begun; as the right end of a range, the first from the left end on."""
    day = floor(context.anchor, Unit.DAY)
    monday = floor(day, Unit.WEEK)
    picked = _pick(monday, named, Unit.WEEK)
    weeks = int(picked.start < day) if context.is_right else -int(picked.start > day)
    return _pick(step(monday, weeks, Unit.WEEK), named, Unit.WEEK) if weeks else picked


def _nth_weekday(match: re.Match[str], context: Context) -> Slot | None:
    within = context.within
    if within is None or within.unit is not Unit.MONTH:
        return None
    nth = -1 if match["nth"] == "最后一" else ordinal(match["nth"].removeprefix("第"))
    if nth is None or not (nth == -1 or 0 < nth <= 5):
        return None
    day = nth_weekday(within.start.year, within.start.month, _weekday(match["day"]), nth)
    return slot(day, Unit.DAY).leaving_out(within.left_out) if within.start <= day < within.end else None


def _nth_week(match: re.Match[str], context: Context) -> Slot | None:
    within = context.within
    number = ordinal(match["number"])
    if number is None or not 0 < number <= 53 or within is None or within.unit not in (Unit.MONTH, Unit.YEAR):
        return None
    monday = within.start + timedelta(days=-within.start.weekday() % 7 + 7 * (number - 1))
    return slot(monday, Unit.WEEK) if monday < within.end else None


def _last_weeks(match: re.Match[str], context: Context) -> Slot | None:
    within = context.within
    number = count(match["number"])
    if number is None or not 0 < number.low <= 52 or within is None or within.unit < Unit.MONTH:
        return None
    end = floor(within.end - timedelta(days=1), Unit.WEEK)
    end = end if end + timedelta(days=7) > within.end else end + timedelta(days=7)
    return Slot(start=step(end, -int(number.low), Unit.WEEK), end=end, unit=Unit.WEEK)


_NTH = f"第[{NUMERALS}]{{1,2}}|最后一"
WEEKS = (
    element(rf"(?P<which>{words(*_OFFSETS, *_OF_LEFT)}){WEEK}{WEEK}?的?(?P<day>{WEEKDAY}|末|工作日)?(?![岁年边转围])",
            "本这上前下当同次", _this_week),
    element(rf"{_NOT_CALLED}{WEEK}(?P<day>{WEEKDAY}(?![年岁])|末(?!班))(?![0-9])(?!(?<=日)常){_NOT_NAMES}",
            "周星礼", _day_of_week),
    element(rf"(?P<nth>{_NTH})个{WEEK}(?P<day>{WEEKDAY})", "第最", _nth_weekday),
    element(rf"第(?P<number>[{NUMERALS}]{{1,3}})个?{WEEK}", "第", _nth_week),
    element(rf"最后\s?(?P<number>[{NUMERALS}两]{{1,2}})\s?个?{WEEK}", "最", _last_weeks),
)  # fmt: skip
