"""Days by the moon, solar terms, festivals and seasons, as elements of an expression.

Invariant: where no year was named, months up to the tenth belong to the Gregorian year's lunar one, and the
last two to the one that is running: 「腊月」 said in January is this very month.
"""

import re
from dataclasses import replace

from bot.memory.time_zh.calendar import Slot, Unit, at, days, floor, slot, step
from bot.memory.time_zh.clock import part_of
from bot.memory.time_zh.elements import Context, element, words
from bot.memory.time_zh.festivals import NAMES, NEW_YEAR, YEAR_END, feast, holiday_days
from bot.memory.time_zh.lunar import lunar_day, lunar_month, lunar_place, season
from bot.memory.time_zh.months import MONTH_NUMBER
from bot.memory.time_zh.numerals import DIGITS, NUMERALS, ordinal

_MONTH_NAMES = {"正": 1, "冬": 11, "腊": 12}
_VACATIONS = {"暑假": (7, 2), "寒假": (1, 2)}
"""First month and how many: schools are closed in July and August, and around Spring Festival."""
_SEASON_YEARS = {"今": 0, "去": -1, "前": -2, "明": 1, "来": 1, "当": 0}


def _lunar_year(context: Context, month: int) -> int:
    if context.within is not None:
        return context.within.start.year
    return lunar_place(context.anchor.date())[0] if month > 10 else context.anchor.year


def _number_of_day(written: str) -> int | None:
    return ordinal(written.replace("初", "").replace("廿", "二十").replace("卅", "三十"))


def _lunar_date(match: re.Match[str], context: Context) -> Slot | None:
    written = match.groupdict()
    if context.within is not None and (context.within.unit is not Unit.YEAR or written.get("year")):
        return None
    month = _MONTH_NAMES.get(match["month"]) or ordinal(match["month"])
    if month is None:
        return None
    year = ordinal(written["year"]) if written.get("year") else _lunar_year(context, month)
    is_leap = bool(match["leap"])
    left_out = Unit.YEAR if context.is_free() and not written.get("year") else None
    if not match["day"]:
        return lunar_month(year or 0, month, is_leap).leaving_out(left_out)
    day = _number_of_day(match["day"])
    return slot(lunar_day(year or 0, month, day or 0, is_leap), Unit.DAY).leaving_out(left_out)


def _new_year_day(match: re.Match[str], context: Context) -> Slot | None:
    if context.within is not None and context.within.unit is not Unit.YEAR:
        return None
    if context.is_free() and match.string[match.start() - 1 : match.start()] == "年":
        return None
    day = slot(lunar_day(context.base.year, 1, _number_of_day(match["day"]) or 0), Unit.DAY)
    return day.leaving_out(Unit.YEAR if context.is_free() else None)


def _day_alone(match: re.Match[str], context: Context) -> Slot | None:
    if not context.is_free():
        return None
    year, month, is_leap = lunar_place(context.anchor.date())
    return slot(lunar_day(year, month, _number_of_day(match["day"]) or 0, is_leap), Unit.DAY)


def _feast(match: re.Match[str], context: Context) -> Slot | None:
    name, within = match["name"], context.within
    if within is not None and within.unit is Unit.DAY:
        # 「2月14号情人节」
        return within if feast(name, within.start.year).start == within.start else None
    if within is not None and within.unit is not Unit.YEAR:
        return None
    year = context.base.year
    if within is None and context.is_ahead and name in YEAR_END:
        year = 1 + lunar_place(context.anchor.date())[0]
    day = feast(name, year)
    some = match["some"] or ""
    if some.endswith(("当天", "那天", "当日")):
        day = days(feast("大年初一", year).start if name in NEW_YEAR else day.start, 1, Unit.DAY)
    elif some and day.unit is Unit.DAY:
        day = days(day.start, holiday_days(name))
    day = day.leaving_out(Unit.YEAR if within is None else None)
    if match["night"]:
        return part_of(day, context, f"夜{match['night']}")
    # 「除夕夜十点」: the hours behind a night are the evening's.
    return replace(day, part="晚上") if name.endswith("夜") and day.unit is Unit.DAY else day


def _season(match: re.Match[str], context: Context) -> Slot | None:
    within = context.within
    if within is not None and within.unit is not Unit.YEAR:
        return None
    year, name = context.base.year, match["name"]
    named = _three_months(year, name) if match["is_day"] else season(year, name)
    return named.leaving_out(Unit.YEAR if within is None else None)


def _three_months(year: int, name: str) -> Slot:
    """「春天」: from March on."""
    start = at(year, 3 + 3 * "春夏秋冬".index(name))
    return Slot(start=start, end=step(start, 3, Unit.MONTH), unit=Unit.QUARTER)


def _season_of(match: re.Match[str], context: Context) -> Slot | None:
    if not context.is_free():
        return None
    return season(context.now.year + _SEASON_YEARS[match["which"]], match["name"])


def _vacation(match: re.Match[str], context: Context) -> Slot | None:
    if context.within is not None and context.within.unit is not Unit.YEAR:
        return None
    first, length = _VACATIONS[match["name"]]
    start = at(floor(context.base, Unit.YEAR).year, first)
    return Slot(
        start=start,
        end=step(start, length, Unit.MONTH),
        unit=Unit.QUARTER,
        left_out=Unit.YEAR if context.is_free() else None,
    )


_LUNAR_ONLY = "初[一二三四五六七八九十]|廿[一二三四五六七八九]?|卅"
_CHINESE_DAY = rf"{_LUNAR_ONLY}|三十|二?十[一二三四五六七八九]?|二十|[一二三四五六七八九]"
_YEAR = rf"(?:(?P<year>[12][0-9]{{3}}|[一二][{DIGITS}]{{3}})年)?"
_MONTH = rf"(?P<leap>闰)?(?P<month>{MONTH_NUMBER}|[正冬腊])月份?"
_NOT_COUNTED = r"(?![一二三四五六七八九十0-9日号点个多几时份年天次分])"
_NOT_A_GRADE = (
    "(?!的?(?:孩子?|娃|女儿|儿子|学生|毕业|下学期|上学期|年级|班|[下上]册|[数语英物化]|老师|家长)|[次步级期])"
)
"""「初三」 is a class at school too."""
MOON_DAYS = (
    element(rf"(?:农历|阴历|旧历)的?{_YEAR}{_MONTH}(?P<day>(?:{_CHINESE_DAY}|[0-9]{{1,2}})(?=[日号]|\b|[^0-9个多几点时年]))?[日号]?",
            "农阴旧", _lunar_date),
    element(rf"(?P<leap>闰)?(?P<month>{MONTH_NUMBER}|[正冬腊])月的?(?P<day>{_LUNAR_ONLY})", NUMERALS + "闰正冬腊", _lunar_date),
    element(rf"(?P<leap>闰)?(?P<month>[正冬腊])月(?P<day>{_CHINESE_DAY})?", "闰正冬腊", _lunar_date),
    element(rf"(?P<leap>闰)(?P<month>{MONTH_NUMBER})月(?P<day>{_CHINESE_DAY})?", "闰", _lunar_date),
    element(rf"(?P<leap>闰)?(?P<month>{MONTH_NUMBER})月(?P<day>二?十[一二三四五六七八九]?|三十|[一二三四五六七八九]){_NOT_COUNTED}",
            NUMERALS, _lunar_date),
    element(rf"(?:大?年|(?<![最当起之月学升读上念农]))(?P<day>初[一二三四五六七八九十]){_NOT_A_GRADE}",
            "大年初", _new_year_day),
    element(r"(?P<day>廿[一二三四五六七八九])", "廿", _day_alone),
    element(rf"(?:农历|阴历)?(?P<name>{words(*NAMES)})(?P<some>的?(?:那几天|那些天|期间|假期|长假|黄金周|放假|前后几天|那阵子|当天|那天|当日))?(?P<night>(?<=夜)[里间])?(?![路点月日号衣年树帽卡袜线轻满纪龄份]|夜[市班宵]|老人|大盖|红旗)",
            "农阴" + "".join({name[0] for name in NAMES}), _feast),
    element(r"(?P<name>[春夏秋冬])(?:(?P<is_day>天)|季|日(?!语|本))", "春夏秋冬", _season),
    element(r"(?<=年)(?P<name>[春夏秋冬])(?P<is_day>)(?![节分至装眠季天日瓜游令笋茶])", "春夏秋冬", _season),
    element(r"(?P<which>[今去前明来当])年?(?P<name>[春夏秋冬])(?![节分至装眠天季日])", "今去前明来当", _season_of),
    element(rf"(?P<name>{words(*_VACATIONS)})", "暑寒", _vacation),
)  # fmt: skip
