"""Times counted from now: 三天前, 半年之后, 最近10分钟, 前几天, 刚才.

Invariant: such a time opens an expression and is counted from the reference, whatever else the text names.
"""

import re
from datetime import datetime, timedelta

from bot.conversation.local_time import LOCAL_TIME
from bot.memory.time_zh.amounts import AMOUNT, AMOUNT_STARTS, Amount, read_amount
from bot.memory.time_zh.calendar import Slot, Unit, floor, slot
from bot.memory.time_zh.elements import Context, element, words
from bot.memory.time_zh.spans import OPEN_END, OPEN_START

ALWAYS_BEFORE = OPEN_START.astimezone(LOCAL_TIME)
ALWAYS_AFTER = OPEN_END.astimezone(LOCAL_TIME)

_JUST_NOW = timedelta(minutes=30)
_LATELY = {
    "最近": 30, "近来": 30, "近期": 30, "近日": 7, "最近几天": 7, "最近这几天": 7, "近几天": 7, "近几日": 7, "这几天": 7,
    "这几日": 7, "最近几日": 7, "这些天": 14, "最近这些天": 14, "这些日子": 30, "这两天": 2, "这两日": 2, "最近这两天": 2,
    "最近这段时间": 30, "最近这段日子": 30, "这段时间": 30, "这段日子": 30, "这一段时间": 30, "近段时间": 30,
    "这阵子": 30, "这一阵子": 30, "这一阵": 30, "这阵儿": 30, "最近这阵子": 30, "最近一阵子": 30, "近一段时间": 30,
    "最近一段时间": 30, "这几周": 30, "这几个月": 180,
}  # fmt: skip
"""From the start of so many days ago until now."""
_SOME_TIME_AGO = {
    "前几天": (7, 1), "头几天": (7, 1), "前几日": (7, 1), "前两天": (3, 1), "头两天": (3, 1), "前两日": (3, 1),
    "前俩天": (3, 1), "前些天": (14, 1), "前些日子": (60, 1), "前阵子": (60, 1), "前阵儿": (60, 1), "前一阵子": (60, 1),
    "前一阵": (60, 1), "前段时间": (60, 1), "前段日子": (60, 1), "前一段时间": (60, 1), "前一段日子": (60, 1),
    "前不久": (30, 1), "不久前": (30, 1), "几天前": (9, 2), "前几周": (42, 7), "前几个星期": (42, 7),
    "前几个月": (270, 30),
}  # fmt: skip
"""From so many days ago to so many."""
_SOON = {
    "过两天": (1, 3), "过几天": (1, 7), "过些天": (1, 14), "这之后几天": (1, 7), "接下来几天": (0, 7),
    "未来几天": (0, 7), "后几天": (1, 7),
}  # fmt: skip
_NOW = ("现在", "此刻", "目前", "当下", "眼下", "此时此刻", "这会儿")


_CLOCK_SLACK = {Unit.MINUTE: timedelta(minutes=5), Unit.HOUR: timedelta(minutes=30)}
_HALF_HOUR = timedelta(minutes=15)
_DAYS = {Unit.WEEK: 7, Unit.MONTH: 30}
"""「一个半月前」 is 45 days."""


def _around(amount: Amount, now: datetime, sign: int) -> Slot:
    """What 「三天前」 points at: the day, month or year it falls in; days around a week; minutes around an hour."""
    near = amount.before(now) if sign < 0 else amount.after(now)
    far = amount.before(now, longest=True) if sign < 0 else amount.after(now, longest=True)
    early, late = min(near, far), max(near, far)
    unit = amount.finest
    if unit < Unit.DAY:
        return _minutes_around(amount, early, late, sign)
    if amount.is_exact and _is_of_weeks(amount):
        early = late = now + sign * timedelta(
            days=sum(_DAYS[one] * number.low for number, one in amount.pieces)
        )
        return _days_around(early, late)
    if amount.is_about and unit is Unit.DAY:
        return _days_around(early, late)
    if unit is Unit.WEEK and amount.has_more:
        return Slot(start=floor(early, Unit.DAY), end=floor(late, Unit.DAY), unit=Unit.DAYS)
    return Slot(start=floor(early, unit), end=slot(late, unit).end, unit=unit)


def _days_around(early: datetime, late: datetime) -> Slot:
    three = timedelta(days=3)
    return Slot(start=floor(early, Unit.DAY) - three, end=slot(late, Unit.DAY).end + three, unit=Unit.DAYS)


def _is_of_weeks(amount: Amount) -> bool:
    """Weeks, and months with a half: 「两周」, 「一个半月」."""
    return all(
        unit is Unit.WEEK or (unit is Unit.MONTH and number.low != int(number.low))
        for number, unit in amount.pieces
    )


def _minutes_around(amount: Amount, early: datetime, late: datetime, sign: int) -> Slot:
    number, unit = amount.pieces[-1]
    slack = _HALF_HOUR if (number.low, unit) == (0.5, Unit.HOUR) else _CLOCK_SLACK.get(unit)
    if slack:
        return Slot(start=early - slack, end=late + slack, unit=Unit.PART)
    second = timedelta(seconds=1)
    return Slot(start=early - second * (sign < 0), end=late + second * (sign > 0), unit=amount.finest)


def _away(match: re.Match[str], context: Context) -> Slot | None:
    amount = read_amount(match["amount"])
    if amount is None or not context.is_free() or _is_year(match["amount"]):
        return None
    way = match["way"]
    around = _around(amount, context.now, -1 if "前" in way else 1)
    if (
        len(way) == 1
        or way == "之前"
        or (way == "之后" and amount.finest is Unit.DAY)
        or (amount.finest is Unit.WEEK and amount.is_exact)
    ):
        return around
    near = amount.before(context.now) if "前" in way else amount.after(context.now)
    piece = slot(near, amount.finest) if amount.finest >= Unit.DAY else None
    if "前" in way:
        return Slot(start=ALWAYS_BEFORE, end=piece.end if piece else near, unit=around.unit)
    return Slot(start=piece.start if piece else near, end=ALWAYS_AFTER, unit=around.unit)


def _is_year(written: str) -> bool:
    """「2025年前」 and 「07年以后」 name a year."""
    return written.endswith("年") and (len(written) == 5 or written[0] in "0零〇")


def _past(match: re.Match[str], context: Context) -> Slot | None:
    """「最近10分钟」, 「过去的一年」, 「前1周」, 「三年以来」."""
    amount = read_amount(match["amount"])
    if amount is None or not context.is_free():
        return None
    start = _to_day(amount, amount.before(context.now, longest=True))
    if _is_half_year(amount):
        start = floor(start, Unit.MONTH)
    return Slot(start=start, end=context.now, unit=amount.finest)


def _is_half_year(amount: Amount) -> bool:
    """「三年半」: years counted to the month."""
    number, unit = amount.pieces[-1]
    return unit is Unit.YEAR and number.low > 1 and number.low != int(number.low)


def _future(match: re.Match[str], context: Context) -> Slot | None:
    """「未来两个月」, 「60日内」, 「还剩3小时」."""
    amount = read_amount(match["amount"])
    if amount is None or not context.is_free():
        return None
    end = amount.after(context.now, longest=True)
    if _is_half_year(amount):
        end = slot(end, Unit.MONTH).end
    elif amount.finest in (Unit.DAY, Unit.WEEK):
        is_whole = match[0].startswith(("未来", "接下来"))
        end = floor(end, Unit.DAY) + timedelta(days=1) if is_whole else end
    return Slot(
        start=context.now,
        end=_to_day(amount, end) if amount.finest >= Unit.MONTH else end,
        unit=amount.finest,
    )


def _beside(match: re.Match[str], context: Context) -> Slot | None:
    """「圣诞前一周」, 「国庆后三天」: counted from a day that was named."""
    amount, within = read_amount(match["amount"]), context.within
    if (
        amount is None
        or within is None
        or within.unit not in (Unit.DAY, Unit.DAYS)
        or amount.finest < Unit.DAY
    ):
        return None
    if match["way"] == "前":
        return Slot(start=amount.before(within.start, longest=True), end=within.start, unit=Unit.DAYS)
    return Slot(start=within.end, end=amount.after(within.end, longest=True), unit=Unit.DAYS)


def _to_day(amount: Amount, instant: datetime) -> datetime:
    """Days and what is longer are counted in whole days."""
    return floor(instant, Unit.DAY) if amount.finest >= Unit.DAY else instant


def _once_passed(match: re.Match[str], context: Context) -> Slot | None:
    """「再过半个小时」: from then on."""
    amount = read_amount(match["amount"])
    if amount is None or not context.is_free():
        return None
    start = amount.after(context.now)
    if match[0].startswith("再") and amount.finest >= Unit.DAY:
        return _around(amount, context.now, 1)
    return Slot(
        start=floor(start, min(amount.finest, Unit.WEEK)) if amount.finest >= Unit.DAY else start,
        end=ALWAYS_AFTER,
        unit=amount.finest,
    )


def _hour_beside(match: re.Match[str], context: Context) -> Slot | None:
    if not context.is_free():
        return None
    hour = timedelta(hours=1)
    start = context.now if match["which"][0] == "下" else context.now - hour
    return Slot(start=start, end=start + hour, unit=Unit.HOUR)


def _lately(match: re.Match[str], context: Context) -> Slot | None:
    if not context.is_free():
        return None
    start = floor(context.now, Unit.DAY) - timedelta(days=_LATELY[match["name"]])
    return Slot(start=start, end=context.now, unit=Unit.DAYS)


def _just_now(_: re.Match[str], context: Context) -> Slot | None:
    if not context.is_free():
        return None
    return Slot(start=context.now - _JUST_NOW, end=context.now, unit=Unit.MINUTE)


def _some_minutes_ago(_: re.Match[str], context: Context) -> Slot | None:
    if not context.is_free():
        return None
    return Slot(start=context.now - timedelta(minutes=10), end=context.now, unit=Unit.MINUTE)


def _some_time_ago(match: re.Match[str], context: Context) -> Slot | None:
    if not context.is_free():
        return None
    today = floor(context.now, Unit.DAY)
    first, last = (timedelta(days=days) for days in _SOME_TIME_AGO[match["name"]])
    return Slot(start=today - first, end=today - last + timedelta(days=1), unit=Unit.DAYS)


def _soon(match: re.Match[str], context: Context) -> Slot | None:
    if not context.is_free():
        return None
    today = floor(context.now, Unit.DAY)
    first, last = (timedelta(days=days) for days in _SOON[match["name"]])
    return Slot(start=today + first, end=today + last + timedelta(days=1), unit=Unit.DAYS)


def _now(match: re.Match[str], context: Context) -> Slot | None:
    if not context.is_free():
        return None
    return Slot(start=context.now, end=context.now + timedelta(seconds=1), unit=Unit.SECOND)


_NOW_JUST = (
    r"刚刚才|刚才|刚刚(?!好)|方才|适才|头先(?!导)|刚儿|将才(?!是|们|难)|才将(?![其这那它他她])"
    r"|(?:(?<![\w])|(?<=[我你他她您们]))刚(?![刚好性强需果正毅柔烈劲度体架直要一])"
)
"""「刚」 alone only where a clause or its subject stands before it: 「昨天刚买」 is of yesterday."""
_WAY = "之前|以前|之后|以后|前|后"
_BEHIND = "在?最近|近|刚?过去|过往|这|前|之前|以前|此前"
_AHEAD = "未来|今后|接下来|往后|之后|以后|此后|后|下|还剩下?|还有"
_SAID = rf"(?P<amount>{AMOUNT})"
RELATIVE = (
    element(rf"(?P<name>{words(*_LATELY)})(?!更新)", "最近这", _lately),
    element(_NOW_JUST, "刚方适头将才", _just_now),
    element(r"好?几分钟(?:之?前)", "好几", _some_minutes_ago),
    element(rf"(?P<name>{words(*_SOME_TIME_AGO)})", "前头不几", _some_time_ago),
    element(rf"(?P<name>{words(*_SOON)})", "过这接未后", _soon),
    element(rf"(?:大约|大概|约|差不多)?{_SAID}(?:左右)?的?(?P<way>{_WAY})(?![面台端任辈排门半天年])",
            AMOUNT_STARTS + "大约差", _away),
    element(rf"{_SAID}(?:以来|来(?!自|到|说|电|的|不|了))", AMOUNT_STARTS, _past),
    element(rf"(?:{_BEHIND})的?这?\s?{_SAID}(?:之?内|以?来|里|间|中)?", "在最近刚过这前之以此", _past),
    element(rf"(?:{_AHEAD})的?\s?{_SAID}(?:之?内|里|间)?", "未今接往之以此后下还", _future),
    element(rf"{_SAID}(?:以内|之内|内)", AMOUNT_STARTS, _future),
    element(rf"(?:再过|过){_SAID}(?!了)", "再过", _once_passed),
    element(rf"(?P<way>前|后)的?{_SAID}(?:之?内|里)?", "前后", _beside),
    element(r"(?P<which>上个?|上一个?|下个?|下一个?)(?:小时|钟头)", "上下", _hour_beside),
    element(rf"(?:{words(*_NOW)})(?!的?的话)", "现此目当眼这", _now),
)  # fmt: skip
