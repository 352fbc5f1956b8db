"""Years and what is longer: years by number and by name, decades, centuries.

Invariant: a year opens an expression; nothing coarser is ever said before it.
"""

import re

from bot.memory.time_zh.calendar import Slot, Unit, at, slot, step
from bot.memory.time_zh.elements import TO, Context, element, words
from bot.memory.time_zh.numerals import DIGITS, NUMERALS, ordinal

_NOT_YEARS = r"(?![级纪龄轻糕货薪检会味卡])"
_RELATIVE = {
    "今年": 0, "本年": 0, "本年度": 0, "今年度": 0, "这一年": 0, "这年": 0,
    "去年": -1, "去年度": -1, "上一年": -1, "上年": -1, "上年度": -1, "旧年": -1,
    "头年": -1, "前年": -2, "大前年": -3, "大大前年": -4, "明年": 1, "来年": 1, "下一年": 1, "明年度": 1, "后年": 2, "大后年": 3,
}  # fmt: skip
_FROM_LEFT = {"次年": 1, "翌年": 1, "同年": 0, "当年": 0}
"""Counted from the year named before."""
_AHEAD = 10
"""A year of two digits lies at most so far ahead: 「98年」 is behind us, 「30年」 may come."""

_PARTS = {
    "初": (0, 2), "早期": (0, 3), "初期": (0, 3), "中": (3, 7), "中期": (3, 7), "中叶": (3, 7), "后期": (7, 10), "末期": (7, 10),
    "末": (8, 10), "晚期": (7, 10),
}  # fmt: skip
"""Tenths of a decade or century. 「世纪初」 is its first two decades."""

_LENGTH_CUES = "了过近约满达整共足的第"
"""Before 「18年」 these say how long, not when."""
_FOLLOWED = (
    r"(?=的?\s?(?:[0-9]{1,2}月|[一二三四五六七八九十正腊冬]{1,2}月|年?[底初末中]|第|[上下]半年|[一二三四1-4]季|[春夏秋冬]"
    r"|q[1-4]|元旦|国庆|五一|春节|过年|六一|三八|618|七夕|圣诞|暑假|寒假|平安夜|重阳|腊八|小年|元宵|情人节|教师节|冬至|母亲节|父亲节|中旬|开年|大年|十一|双十|端午|中秋|清明|除夕|伊始|农历|开始|毕业|出生|至|到|-|~))"
)


def _by_number(match: re.Match[str], context: Context) -> Slot | None:
    year = ordinal(match["year"])
    return slot(at(year), Unit.YEAR) if year and context.is_free() else None


def _by_two_digits(match: re.Match[str], context: Context) -> Slot | None:
    written = match["year"]
    value = ordinal(written)
    if value is None or not context.is_free():
        return None
    if match["followed"] is None and not _stands_alone(match, written, value, context):
        return None
    years = [century + value for century in (1900, 2000) if century + value <= context.now.year + _AHEAD]
    return slot(at(years[-1] if years else 1900 + value), Unit.YEAR)


def _stands_alone(match: re.Match[str], written: str, value: int, context: Context) -> bool:
    before = match.string[match.start() - 1 : match.start()]
    if before and before in _LENGTH_CUES:
        return False
    if written[0] in "0零〇" or value >= 50 or not written.isascii():
        return True
    behind = match.string[match.end() : match.end() + 1]
    is_recent = 10 < value <= context.now.year % 100 + 1 and value % 10 != 0
    return is_recent and not (behind and behind in "前内来多以之间了后半工")


def _relative(match: re.Match[str], context: Context) -> Slot | None:
    if not context.is_free():
        return None
    name = match["name"]
    year = context.now.year + _RELATIVE[name] if name in _RELATIVE else context.anchor.year + _FROM_LEFT[name]
    return slot(at(year), Unit.YEAR)


def _decade(match: re.Match[str], context: Context) -> Slot | None:
    if not context.is_free():
        return None
    tens = ordinal(match["tens"])
    if tens is None:
        return None
    century = _century_start(match["century"], context) if match["century"] else None
    if century is None:
        century = 1900 if 1900 + tens > context.now.year - 100 and tens > context.now.year % 100 else 2000
    return _part_of(slot(at(century + tens), Unit.DECADE), match["part"], 1)


def _century(match: re.Match[str], context: Context) -> Slot | None:
    start = _century_start(match["century"], context)
    if start is None or not context.is_free():
        return None
    return _part_of(slot(at(start or 1), Unit.CENTURY), match["part"], 10)


def _century_start(name: str, context: Context) -> int | None:
    this = context.now.year // 100 * 100
    if name[0] in "上本这":
        return this - 100 if name[0] == "上" else this
    number = ordinal(name)
    return (number - 1) * 100 if number and number < 100 else None


def _part_of(whole: Slot, part: str | None, years_a_tenth: int) -> Slot:
    if not part:
        return whole
    first, last = _PARTS[part]
    years = (step(whole.start, tenth * years_a_tenth, Unit.YEAR) for tenth in (first, last))
    return Slot(start=next(years), end=next(years), unit=whole.unit)


_DIGIT = f"[{DIGITS}]"
_PART = f"(?P<part>{words(*_PARTS)})?"
YEARS = (
    element(rf"(?:公元)?(?P<year>[12][0-9]{{3}}|[一二]{_DIGIT}{{3}})(?:\s?年{_NOT_YEARS}度?|(?={TO}[12][0-9]{{3}}\s?年|\s?q[1-4](?![a-z0-9])))",
            "公12一二", _by_number),
    element(r"(?<=[-~到至])(?P<year>[12][0-9]{3})(?![0-9年月.-])", "12", _by_number),
    element(rf"(?P<year>[0-9]{{2}}|{_DIGIT}{{2}})年{_NOT_YEARS}(?:(?P<followed>{_FOLLOWED})|)", NUMERALS, _by_two_digits),
    element(rf"(?P<name>{words(*_RELATIVE, *_FROM_LEFT)}){_NOT_YEARS}", "今本这去上旧前头大明来下后次翌同当", _relative),
    element(rf"(?:(?P<century>上个?|本|[0-9]{{1,2}}|[{NUMERALS}]{{1,3}})世纪的?)?(?P<tens>[0-9]0|[{NUMERALS}][十零〇])年代{_PART}",
            NUMERALS + "上本", _decade),
    element(rf"(?P<century>上个?|本|这个?|[0-9]{{1,2}}|[{NUMERALS}]{{1,3}})世纪{_PART}", NUMERALS + "上本这", _century),
)  # fmt: skip
