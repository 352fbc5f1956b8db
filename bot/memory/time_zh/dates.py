"""Days: by number, by name, and whole dates in digits.

Invariant: a number with 日 or 号 is a day only where no other noun follows (「5号线」, 「3日元」).
"""

import re
from calendar import isleap
from datetime import datetime, timedelta

from bot.memory.time_zh.calendar import NoSuchDay, Slot, Unit, at, days, floor, slot, step
from bot.memory.time_zh.elements import TO, Context, element, words
from bot.memory.time_zh.numerals import NUMERALS, count, ordinal

_NOT_DAYS = (
    r"(?:(?<=日)(?![元本语均夜游用常志程历报剧系])"
    r"|(?<=号)(?![线楼门店车院机馆厅仓柜桌位球令库口站房间床公汽字码选技文航电元座包厢件单段型商档柜库会员])(?!(?<!月.号)(?<!月..号)链))"
)
_DAY = (
    r"(?:3[01]|[12][0-9]|0?[1-9]|三十一?|廿[一二三四五六七八九]?|二?十[一二三四五六七八九]?|[一二三四五六七八九]"
    r"|二[一二三四五六七八九])"
)
_RELATIVE = {
    "今天": 0, "今日": 0, "本日": 0, "今儿": 0, "今儿个": 0, "今个": 0, "今个儿": 0, "昨个儿": -1, "明个儿": 1,
    "昨天": -1, "昨日": -1, "昨儿": -1,
    "昨儿个": -1, "昨个": -1, "前天": -2, "前日": -2, "前儿": -2, "大前天": -3, "大大前天": -4, "明天": 1, "明日": 1,
    "明儿": 1, "明儿个": 1, "明个": 1, "后天": 2, "后日": 2, "大后天": 3, "大大后天": 4,
    "夜儿": -1, "夜儿个": -1, "寻日": -1, "琴日": -1, "听日": 1, "前儿个": -2, "前个": -2, "大前儿": -3,
    "大前儿个": -3, "大前日": -3, "后儿": 2, "后儿个": 2, "大后儿": 3, "大后日": 3,
}  # fmt: skip
_OF_LEFT = {
    "前一天": -1,
    "头一天": -1,
    "头天": -1,
    "后一天": 1,
    "当天": 0,
    "当日": 0,
    "次日": 1,
    "翌日": 1,
    "第二天": 1,
    "隔天": 1,
}
"""Counted from the day named before."""


def _date(match: re.Match[str], context: Context) -> Slot | None:
    if not context.is_free():
        return None
    return slot(at(int(match["year"]), int(match["month"]), int(match["day"])), Unit.DAY)


def _year_and_month(match: re.Match[str], context: Context) -> Slot | None:
    if not context.is_free():
        return None
    return slot(at(int(match["year"]), int(match["month"])), Unit.MONTH)


def _month_and_day(match: re.Match[str], context: Context) -> Slot | None:
    if context.within is not None and context.within.unit is not Unit.YEAR:
        return None
    day = at(context.base.year, int(match["month"]), int(match["day"]))
    return slot(day, Unit.DAY).leaving_out(Unit.YEAR if context.within is None else None)


def _day(match: re.Match[str], context: Context) -> Slot | None:
    number = ordinal(match["day"].replace("廿", "二十"))
    within = context.within
    if number is None or (within is not None and (within.unit is not Unit.MONTH or within.is_lunar)):
        return None
    if within is not None:
        try:
            return _day_in(within, number)
        except ValueError as error:
            raise NoSuchDay(match.end()) from error
    month = floor(context.anchor, Unit.MONTH)
    if not (context.is_right or context.is_ahead):
        return slot(_nearest(month, number, context.anchor), Unit.DAY).leaving_out(Unit.MONTH)
    while number > (step(month, 1, Unit.MONTH) - month).days:
        # 「29日」 said in February is that of the last month that had one.
        month = step(month, -1, Unit.MONTH)
    return slot(month.replace(day=number), Unit.DAY).leaving_out(Unit.MONTH)


def _nearest(month: datetime, number: int, today: datetime) -> datetime:
    """The day of that number fewest days away."""
    months = (step(month, offset, Unit.MONTH) for offset in (0, -1, 1, -2))
    found = [one.replace(day=number) for one in months if number <= (step(one, 1, Unit.MONTH) - one).days]
    return min(found, key=lambda day: abs(day - floor(today, Unit.DAY)))


def _day_in(month: Slot, number: int) -> Slot:
    start = month.start
    if number == 29 and start.month == 2 and month.left_out:
        while not isleap(start.year):
            start = step(start, -1, Unit.YEAR)  # 「2月29日」 is that of the last leap year.
    return slot(start.replace(day=number), Unit.DAY).leaving_out(month.left_out)


def _bare_day(match: re.Match[str], context: Context) -> Slot | None:
    """「1月3」: a day without 日, only behind a month."""
    if context.within is None:
        return None
    try:
        return _day(match, context)
    except NoSuchDay:
        if _ENDS_A_DATE.match(match.string, match.end()):
            raise
        return None  # 「2月30天」.


def _dotted(match: re.Match[str], context: Context) -> Slot | None:
    """「11.11买的」, 「从8.1到8.15」, 「去年8.17」: a day where a word beside it says so, else any number."""
    text, start, end = match.string, match.start(), match.end()
    is_led = context.within is not None or context.is_right or _LEADS_A_DAY.search(text[:start][-4:])
    if not (is_led or _SAYS_DAY.match(text, end) or (len(match["day"]) > 1 and _BOUGHT.match(text, end))):
        return None
    if _LEADS_A_NUMBER.search(text[:start][-6:]) or _COUNTS.match(text, end):
        return None
    return _month_and_day(match, context)


def _relative(match: re.Match[str], context: Context) -> Slot | None:
    name = match["name"]
    if (
        name in ("今天", "今日")
        and context.within is not None
        and context.within.unit in (Unit.YEAR, Unit.MONTH, Unit.WEEK)
    ):
        return _this_day_in(context.within, context.now)
    if name in _OF_LEFT and context.within is not None and context.within.unit is Unit.DAY:
        return slot(step(context.within.start, _OF_LEFT[name], Unit.DAY), Unit.DAY)
    if not context.is_free():
        return None
    if name in _RELATIVE:
        return slot(step(context.now, _RELATIVE[name], Unit.DAY), Unit.DAY)
    return slot(step(context.anchor, _OF_LEFT[name], Unit.DAY), Unit.DAY)


def _this_day_in(within: Slot, now: datetime) -> Slot:
    """「去年今天」, 「上个月的今天」, 「上周的今天」."""
    if within.unit is Unit.WEEK:
        return slot(step(within.start, now.weekday(), Unit.DAY), Unit.DAY)
    month = now.month if within.unit is Unit.YEAR else within.start.month
    return slot(within.start.replace(month=month, day=now.day), Unit.DAY)


def _first_or_last_days(match: re.Match[str], context: Context) -> Slot | None:
    """「4月前4天」, 「上个月最后三天」."""
    number = count(match["number"])
    within = context.within
    if (
        number is None
        or within is None
        or within.unit < (Unit.DAYS if match["which"] == "最后" else Unit.WEEK)
        or not 0 < number.low <= (within.end - within.start).days
    ):
        return None
    length = int(number.low)
    start = within.start if match["which"] in ("前", "头") else within.end - timedelta(days=length)
    return days(start, length).leaving_out(within.left_out)


def _nth_day(match: re.Match[str], context: Context) -> Slot | None:
    number = ordinal(match["number"])
    within = context.within
    if (
        number is None
        or within is None
        or within.unit < Unit.DAYS
        or not 0 < number <= (within.end - within.start).days
    ):
        return None
    return slot(step(within.start, number - 1, Unit.DAY), Unit.DAY).leaving_out(within.left_out)


_ENDS_A_DATE = re.compile(r"$|[,.，。!！?？;；\s到至~\-的我你您那买下说发收]")
_LEADS_A_DAY = re.compile("(?:[在于自从]|截[至止]|截止到)$")
_LEADS_A_NUMBER = re.compile(
    r"(?:[花用付价格费卖涨跌降升重长高宽厚约共计值差补退赔减满版本号第得评分比数率温度额各]|[涨跌降升卖减]到|只要|才|ios|android)(?:了|是|为|到|:)?\s?$"
)
_SAYS_DAY = re.compile(
    r"\s?(?:那[天日几一]|当[天日]|这天|前后|之?前(?!几)|以前|之?后(?!几)|以后|早上|上午|中午|下午|晚上|凌晨"
    r"|下[的了]?单|发[的了]?货|发的|发出|寄|到[的了]?货|签收|收[到的]|付款|支付|退[的货款]|登记|预约|约"
    r"|[我你您咱]们?.{0,4}?[说讲提聊问发买下收寄留]|[说讲提聊问](?!明)|大促|活动|促销|[的]?(?:订单|快递|单子|包裹|那[单批次件]))"
)
_BOUGHT = re.compile(r"\s?(?:买|拍|订|购)")
"""「9.9买的」 is a price, 「11.11买的」 no."""
_COUNTS = re.compile(r"\s?[涨跌降升加减元块折分斤米%公千克毫厘倍万亿度寸英个版]")
_MONTH_DIGITS = r"(?P<month>1[0-2]|0?[1-9])"
_DAY_DIGITS = r"(?P<day>3[01]|[12][0-9]|0?[1-9])"
_AFTER_DATE = r"(?:(?![0-9.])|(?=\.(?![0-9]))|(?=[0-9]{2}:))"
_YEAR_DIGITS = r"(?P<year>(?:1[89]|20|21)[0-9]{2})"
DATES = (
    element(rf"{_YEAR_DIGITS}\s?[-/.]\s?{_MONTH_DIGITS}\s?[-/.]\s?{_DAY_DIGITS}日?{_AFTER_DATE}", "12", _date),
    element(rf"{_YEAR_DIGITS}\s{_MONTH_DIGITS}\s{_DAY_DIGITS}{_AFTER_DATE}", "12", _date),
    element(rf"{_YEAR_DIGITS}(?P<month>1[0-2]|0[1-9])(?P<day>3[01]|[12][0-9]|0[1-9])(?![0-9a-z])", "12", _date),
    element(rf"{_DAY_DIGITS}/{_MONTH_DIGITS}/{_YEAR_DIGITS}(?![0-9/])", "0123456789", _date),
    element(rf"{_YEAR_DIGITS}[-/.]{_MONTH_DIGITS}(?![0-9元块万亿%]|[-/.][0-9]{{1,2}}(?![0-9]))", "12", _year_and_month),
    element(rf"{_MONTH_DIGITS}·{_DAY_DIGITS}(?![0-9·])", "0123456789", _month_and_day),
    element(rf"{_MONTH_DIGITS}/(?P<day>3[01]|[12][0-9]|0[1-9])(?![0-9/元块%的])(?:号|日)?", "0123456789", _month_and_day),
    element(rf"{_MONTH_DIGITS}\.{_DAY_DIGITS}(?![0-9.])", "0123456789", _dotted),
    element(rf"{_MONTH_DIGITS}[.-]{_DAY_DIGITS}[号日]{_NOT_DAYS}", "0123456789", _month_and_day),
    element(rf"(?P<day>{_DAY})(?:[日号]{_NOT_DAYS}|(?={TO}{_DAY}[日号]))", NUMERALS + "廿", _day),
    element(r"(?P<day>3[01]|[12][0-9]|0?[1-9]|三十一|二?十[一二三四五六七八九]?|三十)(?![0-9点时:个多几%元块件人号日\.年万千百]|分)",
            NUMERALS, _bare_day),
    element(rf"(?P<name>{words(*_RELATIVE, *_OF_LEFT)})(?!(?<=日)[记历报志语元本]|(?<=儿)[童子女]|(?<=个)[税人月])",
            "今本昨前头大明后当次翌第隔夜寻琴听", _relative),
    element(rf"(?P<which>前|头|后|最后)(?P<number>[{NUMERALS}两]{{1,2}})天", "前头后最", _first_or_last_days),
    element(rf"第(?P<number>[{NUMERALS}]{{1,3}})[天日]", "第", _nth_day),
)  # fmt: skip
