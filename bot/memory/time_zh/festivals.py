"""Festivals by name: on a day of the Gregorian year, of the lunar one, or a weekday of a month.

Invariant: a table and a few lines to read it; a name means the feast of the year asked for.
"""

from datetime import datetime, timedelta

from bot.memory.time_zh.calendar import Slot, Unit, at, days
from bot.memory.time_zh.lunar import TERMS, eve, lunar_day, term_day

_GREGORIAN = {
    (1, 1): "元旦|元旦节|阳历年",
    (2, 14): "情人节",
    (3, 5): "学雷锋日",
    (3, 8): "妇女节|三八妇女节|女神节|女生节|三八节|三八",
    (3, 12): "植树节",
    (3, 15): "消费者权益日|315晚会|三一五",
    (4, 1): "愚人节",
    (5, 1): "劳动节|五一劳动节|五一|五一节",
    (5, 4): "青年节|五四|五四青年节",
    (5, 12): "护士节",
    (5, 20): "网络情人节|五二零|五二〇",
    (6, 1): "儿童节|六一|六一儿童节",
    (6, 18): "六一八|618大促|618购物节|618年中大促|618活动|618期间|618",
    (7, 1): "建党节|七一",
    (8, 1): "建军节|八一|八一建军节",
    (9, 10): "教师节",
    (10, 1): "国庆|国庆节|十一国庆|国庆长假|国庆假期|国庆黄金周|十一|十一长假|十一假期|十一黄金周|黄金周",
    (10, 31): "万圣节前夜|万圣夜",
    (11, 1): "万圣节",
    (11, 11): "双十一|双11|光棍节|双十一购物节|双11购物节",
    (12, 12): "双十二|双12|双十二购物节|双12购物节",
    (12, 13): "国家公祭日",
    (12, 24): "平安夜|圣诞夜",
    (12, 25): "圣诞|圣诞节",
    (12, 31): "跨年夜|跨年",
}
_LUNAR = {
    (1, 1): "大年初一|农历新年|年初一|春节当天|春节那天|过年当天|过年那天",
    (1, 15): "元宵|元宵节|上元节|元宵佳节",
    (2, 2): "龙抬头",
    (5, 5): "端午|端午节",
    (7, 7): "七夕|七夕节",
    (7, 15): "中元节",
    (8, 15): "中秋|中秋节",
    (9, 9): "重阳|重阳节",
    (12, 8): "腊八|腊八节",
    (12, 23): "小年|小年夜",
}
_WEEKDAYS = {
    (5, 6, 2): "母亲节",
    (6, 6, 3): "父亲节",
    (11, 3, 4): "感恩节",
}
"""Month, weekday (Monday is 0) and which of them."""
_EVES = "除夕|除夕夜|大年三十|年三十|大年夜|年夜饭那天"

_BY_NAME: dict[str, tuple[int, ...]] = {
    name: rule
    for table in (_GREGORIAN, _LUNAR, _WEEKDAYS)
    for rule, names in table.items()
    for name in names.split("|")
}
_LUNAR_NAMES = frozenset(name for names in _LUNAR.values() for name in names.split("|"))
_HOLIDAYS = {"国庆": 7, "春节": 7, "十一": 7, "黄金周": 7, "五一": 5, "劳动节": 5}
"""How long 「那几天」, 「期间」 and 「假期」 last: the days off by law (国务院《全国年节及纪念日放假办法》), a sale three."""
_HOLIDAY_DEFAULT = 3

NEW_YEAR = frozenset({"过年", "春节", "大年", "农历春节", "过大年"})
"""From the eve on, for as long as the holiday."""
YEAR_END = frozenset({*_EVES.split("|"), "小年", "小年夜", "腊八", "腊八节"})
"""Feasts of the last lunar month, early in the Gregorian year after."""
NAMES = (
    *NEW_YEAR,
    *_BY_NAME,
    *_EVES.split("|"),
    *(term + more for term in TERMS for more in ("", "节", "节气")),
)


def feast(name: str, year: int) -> Slot:
    """The feast that falls in that Gregorian year; the last days of a lunar year lie early in the next."""
    if name in _EVES.split("|"):
        return days(eve(year - 1), 1, Unit.DAY)
    if name in NEW_YEAR:
        return days(eve(year - 1), holiday_days("春节"))
    if name in _LUNAR_NAMES:
        month, day = _BY_NAME[name]
        year -= month == 12
        return days(lunar_day(year, month, day), 1, Unit.DAY)
    rule = _BY_NAME.get(name)
    if rule is None:
        return days(term_day(year, name.removesuffix("气").removesuffix("节")), 1, Unit.DAY)
    if len(rule) == 2:
        slot = days(at(year, *rule), 1, Unit.DAY)
        if name.endswith(("期间", "大促", "活动")):
            return days(slot.start, _HOLIDAY_DEFAULT)
        length = holiday_days(name)
        return days(slot.start, length) if length > _HOLIDAY_DEFAULT else slot
    return days(nth_weekday(year, *rule), 1, Unit.DAY)


def holiday_days(name: str) -> int:
    """How many days 「国庆那几天」 are."""
    return next((length for stem, length in _HOLIDAYS.items() if name.startswith(stem)), _HOLIDAY_DEFAULT)


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> datetime:
    """The nth such weekday of a month; -1 is the last."""
    first = at(year, month)
    day = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (nth - 1))
    if nth > 0:
        return day
    following = at(year + month // 12, month % 12 + 1)
    return following - timedelta(days=1 + (following.weekday() - 1 - weekday) % 7)
