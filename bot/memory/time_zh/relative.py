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

_LATELY = {
    "刚才": timedelta(hours=1), "刚刚": timedelta(hours=1), "方才": timedelta(hours=1), "适才": timedelta(hours=1),
    "刚刚才": timedelta(hours=1), "最近": timedelta(days=30), "近来": timedelta(days=30), "近期": timedelta(days=30),
    "近日": timedelta(days=7), "最近几天": timedelta(days=7), "最近这几天": timedelta(days=7),
    "这几天": timedelta(days=7), "这些天": timedelta(days=14), "这两天": timedelta(days=2),
    "最近这段时间": timedelta(days=30), "这段时间": timedelta(days=30), "这阵子": timedelta(days=30),
    "最近一段时间": timedelta(days=30), "这几周": timedelta(days=30), "这几个月": timedelta(days=180),
}  # fmt: skip
"""From so long ago until now. What somebody calls 刚才 fits in an hour, 最近 in a month."""
_SOME_TIME_AGO = {
    "前几天": (7, 1), "前些天": (14, 2), "前些日子": (60, 3), "前阵子": (60, 7), "前一阵子": (60, 7),
    "前一阵": (60, 7), "前段时间": (90, 7), "前一段时间": (90, 7), "前不久": (30, 1), "不久前": (30, 1),
    "几天前": (9, 2), "前几周": (42, 7), "前几个星期": (42, 7), "前几个月": (270, 30),
}  # fmt: skip
"""From so many days ago to so many: memory of when is coarse, and a window too wide costs less than one missed."""
_SOON = {"过几天": (3, 9), "这之后几天": (1, 7), "接下来几天": (0, 7), "未来几天": (0, 7), "后几天": (1, 7)}
_NOW = ("现在", "此刻", "目前", "当下", "眼下", "此时此刻", "这会儿")


def _around(amount: Amount, now: datetime, sign: int) -> Slot:
    """What 「三天前」 points at: the day, month or year it falls in; below a day, one unit up to it."""
    near = amount.before(now) if sign < 0 else amount.after(now)
    far = amount.before(now, longest=True) if sign < 0 else amount.after(now, longest=True)
    early, late = min(near, far), max(near, far)
    unit = amount.finest
    if unit < Unit.DAY:
        length = timedelta(seconds={Unit.SECOND: 1, Unit.MINUTE: 60, Unit.HOUR: 3600}[unit])
        return (
            Slot(start=early - length, end=late, unit=unit)
            if sign < 0
            else Slot(start=early, end=late + length, unit=unit)
        )
    return Slot(start=floor(early, unit), end=slot(late, unit).end, unit=unit)


def _away(match: re.Match[str], context: Context) -> Slot | None:
    amount = read_amount(match["amount"])
    if amount is None or not context.is_free() or _is_year(match["amount"]):
        return None
    way = match["way"]
    around = _around(amount, context.now, -1 if "前" in way else 1)
    if len(way) == 1 or (amount.finest is Unit.WEEK and amount.is_exact):
        return around
    if "前" in way:
        return Slot(start=ALWAYS_BEFORE, end=around.end, unit=around.unit)
    return Slot(start=around.start, end=ALWAYS_AFTER, unit=around.unit)


def _is_year(written: str) -> bool:
    """「2025年前」 and 「07年以后」 name a year."""
    return written.endswith("年") and (len(written) == 5 or written[0] in "0零〇")


def _past(match: re.Match[str], context: Context) -> Slot | None:
    """「最近10分钟」, 「过去的一年」, 「前1周」, 「三年以来」."""
    amount = read_amount(match["amount"])
    if amount is None or not context.is_free():
        return None
    return Slot(
        start=_to_day(amount, amount.before(context.now, longest=True)), end=context.now, unit=amount.finest
    )


def _future(match: re.Match[str], context: Context) -> Slot | None:
    """「未来两个月」, 「60日内」, 「还剩3小时」."""
    amount = read_amount(match["amount"])
    if amount is None or not context.is_free():
        return None
    return Slot(
        start=context.now, end=_to_day(amount, amount.after(context.now, longest=True)), unit=amount.finest
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
    """Months and years are counted in whole days."""
    return floor(instant, Unit.DAY) if amount.finest >= Unit.MONTH else instant


def _once_passed(match: re.Match[str], context: Context) -> Slot | None:
    """「再过半个小时」: from then on."""
    amount = read_amount(match["amount"])
    if amount is None or not context.is_free():
        return None
    start = amount.after(context.now)
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
    return Slot(start=context.now - _LATELY[match["name"]], end=context.now, unit=Unit.DAYS)


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


_WAY = "之前|以前|之后|以后|前|后"
_BEHIND = "在?最近|近|刚?过去|过往|这|前|之前|以前|此前"
_AHEAD = "未来|今后|接下来|往后|之后|以后|此后|后|下|还剩下?|还有"
_SAID = rf"(?P<amount>{AMOUNT})"
RELATIVE = (
    element(rf"(?P<name>{words(*_LATELY)})(?!更新)", "刚方适最近这", _lately),
    element(rf"(?P<name>{words(*_SOME_TIME_AGO)})", "前不几", _some_time_ago),
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
