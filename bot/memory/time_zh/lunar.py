"""The lunar calendar and the solar terms, from 1900 to 2100.

Invariant: the tables are loaded at the first question, not at import. What is not in them raises ValueError.
"""

from datetime import date, datetime, timedelta
from functools import lru_cache

from bot.memory.time_zh.calendar import Slot, Unit, days, midnight

TERMS: tuple[str, ...] = (
    "小寒", "大寒", "立春", "雨水", "惊蛰", "春分",
    "清明", "谷雨", "立夏", "小满", "芒种", "夏至",
    "小暑", "大暑", "立秋", "处暑", "白露", "秋分",
    "寒露", "霜降", "立冬", "小雪", "大雪", "冬至",
)  # fmt: skip
"""In the order of the Gregorian year: two a month."""

_SEASON_STARTS = {"春": "立春", "夏": "立夏", "秋": "立秋", "冬": "立冬"}


@lru_cache(256)
def lunar_day(year: int, month: int, day: int, is_leap: bool = False) -> datetime:
    """The midnight that a day of the lunar calendar begins with."""
    from borax.calendars.lunardate import LunarDate

    return midnight(LunarDate(year, month, day, int(is_leap)).to_solar_date())


@lru_cache(256)
def lunar_month(year: int, month: int, is_leap: bool = False) -> Slot:
    """A month from new moon to new moon."""
    from borax.calendars.lunardate import LCalendars

    length = LCalendars.ndays(year, month, int(is_leap))
    return days(lunar_day(year, month, 1, is_leap), length, Unit.MONTH)


@lru_cache(256)
def lunar_place(day: date) -> tuple[int, int, bool]:
    """Lunar year, month, and whether it is the leap one, of a Gregorian day."""
    from borax.calendars.lunardate import LunarDate

    lunar = LunarDate.from_solar(day)
    return lunar.year, lunar.month, bool(lunar.leap)


@lru_cache(256)
def term_day(year: int, term: str) -> datetime:
    """The day a solar term begins on, in a Gregorian year."""
    from borax.calendars.lunardate import TermUtils

    return midnight(TermUtils.nth_term_day(year, TERMS.index(term)))


def season(year: int, name: str) -> Slot:
    """From the solar term that opens it to the eve of the next: winter ends in the year after."""
    start = term_day(year, _SEASON_STARTS[name])
    following = "春夏秋冬春"["春夏秋冬".index(name) + 1]
    end = term_day(year + (name == "冬"), _SEASON_STARTS[following])
    return Slot(start=start, end=end, unit=Unit.QUARTER)


def eve(year: int) -> datetime:
    """除夕: the last day of a lunar year, the eve of the next one's first."""
    return lunar_day(year + 1, 1, 1) - timedelta(days=1)
