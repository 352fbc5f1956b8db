"""Parts of the day, and the time on a clock.

Invariant: an hour named behind a part of the day is that part's (「晚上8点」 is 20:00); alone it is read as on a
clock of 24 hours.
"""

import re
from datetime import timedelta

from bot.memory.time_zh.calendar import Slot, Unit, floor, slot, step
from bot.memory.time_zh.elements import TO, Context, element, words
from bot.memory.time_zh.numerals import CHINESE, NUMERALS, count, ordinal

_PARTS = {
    "凌晨": (0, 6), "清晨": (5, 10), "清早": (5, 10), "大清早": (5, 10), "黎明": (5, 7), "拂晓": (5, 7),
    "早晨": (5, 10), "早上": (5, 10), "一早": (5, 10), "大早上": (5, 10), "一大早": (5, 10), "一清早": (5, 10),
    "早间": (8, 12), "上午": (6, 12), "头晌": (6, 12), "午前": (9, 12), "中午": (11, 14), "正午": (12, 13),
    "晌午": (11, 14), "午后": (13, 15), "下午": (12, 18), "后晌": (12, 18), "午间": (11, 14),
    "傍晚": (17, 20), "黄昏": (17, 20), "擦黑": (17, 20), "天擦黑": (17, 20), "晚上": (18, 24), "晚间": (18, 24),
    "大晚上": (18, 24), "夜晚": (18, 24), "夜间": (20, 24), "夜里": (22, 30), "深夜": (22, 30), "半夜": (22, 30),
    "大半夜": (22, 30), "三更半夜": (22, 30), "午夜": (0, 1), "前半夜": (20, 24), "后半夜": (2, 5),
    "下半夜": (2, 5), "白天": (6, 19), "日间": (6, 19),
}  # fmt: skip
"""From hour to hour; past 24 it is the next day's morning."""
_SHORT = {"早": "早上", "晨": "早晨", "晚": "晚上", "夜": "夜里", "午": "中午"}
_DAYS = {"今": 0, "昨": -1, "前": -2, "明": 1, "当": 0, "后": 2, "寻": -1, "琴": -1, "听": 1}
_AFTERNOON = frozenset({"下午", "午后", "后晌", "傍晚", "黄昏", "擦黑", "天擦黑"})
_NIGHT = frozenset(
    {"晚上", "晚间", "大晚上", "夜晚", "夜里", "夜间", "深夜", "前半夜", "半夜", "大半夜", "三更半夜"}
)
_NOON = frozenset({"中午", "正午", "晌午", "午间"})
_DEEP_NIGHT = frozenset(name for name, (_, last) in _PARTS.items() if last == 30)
_UNTIL_DAWN = 4
"""「昨晚两点」: an hour up to here is the morning after; in the deep of night up to the sixth."""


def part_of(day: Slot | None, context: Context, name: str) -> Slot:
    """A part of that day, or of the context's, by one of the names in `_PARTS`."""
    first, last = _PARTS[name]
    start = floor(day.start if day else context.anchor, Unit.DAY)
    return Slot(
        start=start + timedelta(hours=first),
        end=start + timedelta(hours=last),
        unit=Unit.PART,
        part=name,
        left_out=day.left_out if day else Unit.DAY,
    )


def _part(match: re.Match[str], context: Context) -> Slot | None:
    if context.within is not None and context.within.unit is not Unit.DAY:
        return None
    return part_of(context.within, context, match["part"])


def _short_part(match: re.Match[str], context: Context) -> Slot | None:
    if context.within is None or context.within.unit is not Unit.DAY:
        return None
    return part_of(context.within, context, _SHORT[match["part"]])


def _day_and_part(match: re.Match[str], context: Context) -> Slot | None:
    if not context.is_free():
        return None
    base = context.anchor if match["day"] == "当" else context.now
    day = slot(base + timedelta(days=_DAYS[match["day"]]), Unit.DAY)
    return part_of(day, context, _SHORT[match["part"]])


def _hours_into_day(hour: int, part: str) -> int | None:
    if not 0 <= hour <= 24:
        return None
    if part in _AFTERNOON:
        return hour + 12 if hour < 12 else hour
    if part in _NOON:
        return hour + 12 if 0 < hour < 6 else hour
    if part == "凌晨":
        return hour % 12 if hour <= 12 else hour
    if part in _NIGHT:
        if hour in (0, 12):
            return 24
        if hour <= (6 if part in _DEEP_NIGHT else _UNTIL_DAWN):
            return hour + 24
        return hour + 12 if hour < 12 else hour
    return hour


def _clock(match: re.Match[str], context: Context) -> Slot | None:
    within = context.within
    if within is not None and within.unit not in (Unit.DAY, Unit.PART):
        return None
    written = match.groupdict()
    part = _half_of_day(written.get("half")) or (within.part if within else context.part)
    hour = ordinal(match["hour"].replace("两", "二"))
    if hour is None or (within is None and not part and not _is_surely_clock(match, written)):
        return None
    hours = _hours_into_day(hour, part)
    minute, second = _minute(written.get("minute")), _minute(written.get("second"))
    if hours is None or (minute or 0) > 59 or (second or 0) > 59:
        return None
    start = floor(context.base, Unit.DAY) + timedelta(hours=hours, minutes=minute or 0, seconds=second or 0)
    unit = Unit.SECOND if second is not None else Unit.MINUTE if minute is not None else Unit.HOUR
    length = {Unit.SECOND: 1, Unit.MINUTE: 60, Unit.HOUR: 3600}[unit]
    left_out = Unit.DAY if within is None else within.left_out
    return Slot(start=start, end=start + timedelta(seconds=length), unit=unit, part=part, left_out=left_out)


def _half_of_day(letters: str | None) -> str:
    if not letters:
        return ""
    return "下午" if letters.strip()[0] == "p" else "凌晨"


def _minute(written: str | None) -> int | None:
    if not written:
        return None
    named = {"半": 30, "一刻": 15, "三刻": 45, "1刻": 15, "3刻": 45, "两刻": 30}.get(written)
    return named if named is not None else ordinal(written)


_NOT_CLOCK_BEFORE = "这那有几第说提分差少多高低快慢好早晚涨跌哪各"
_NOT_CLOCK_BEHIND = "建意原要问区不理好说是水感想心看都也吗儿的事内经技疑共结教钱油信希声反击赞评"


def _is_surely_clock(match: re.Match[str], written: dict[str, str | None]) -> bool:
    """「两点建议」 and 「快一点」 are no clock times; 「8点」, 「十一点」 and 「三点半」 are."""
    if written.get("sign") != "点" or written.get("minute") or written.get("tail"):
        return True
    before = match.string[match.start() - 1 : match.start()]
    behind = match.string[match.end() : match.end() + 1]
    if match["hour"] == "一":
        return False
    if match["hour"].isascii():
        return not (behind and behind in _NOT_CLOCK_BEHIND.replace("的", ""))
    is_counted = (before and before in _NOT_CLOCK_BEFORE) or (behind and behind in _NOT_CLOCK_BEHIND)
    return len(match["hour"]) > 1 or not is_counted


def _same_time(match: re.Match[str], context: Context) -> Slot | None:
    """「昨天这个时候」: as late in that day or week as it is now; in a year, the fortnights around this day."""
    within = context.within
    if within is None or within.unit not in (Unit.DAY, Unit.WEEK, Unit.YEAR):
        return None
    if within.unit is Unit.YEAR:
        day = floor(step(context.now, within.start.year - context.now.year, Unit.YEAR), Unit.DAY)
        return Slot(start=day - timedelta(days=14), end=day + timedelta(days=15), unit=Unit.DAYS)
    start = within.start + (context.now - floor(context.now, within.unit)) - timedelta(minutes=30)
    return Slot(start=start, end=start + timedelta(hours=1), unit=Unit.HOUR)


def _two_hours(match: re.Match[str], context: Context) -> Slot | None:
    """「七八点」: from the first to the end of the second."""
    if context.within is not None and context.within.unit not in (Unit.DAY, Unit.PART):
        return None
    both = count(match["hours"])
    if both is None or both.is_exact:
        return None
    part = context.within.part if context.within else context.part
    first, last = (_hours_into_day(int(hour), part) for hour in (both.low, both.high))
    if first is None or last is None or first >= last:
        return None
    day = floor(context.base, Unit.DAY)
    return Slot(
        start=day + timedelta(hours=first),
        end=day + timedelta(hours=last + 1),
        unit=Unit.HOUR,
        part=part,
        left_out=Unit.DAY if context.within is None else context.within.left_out,
    )


_DIGITS = NUMERALS + "两"
_HOUR = r"(?P<hour>2[0-4]|1[0-9]|0?[0-9]|二十[一二三四]?|十[一二三四五六七八九]?|[零〇一二两三四五六七八九])"
_MINUTES = rf"[0-5]?[0-9]|[{CHINESE}]{{1,3}}"
_MINUTE = (
    rf"(?P<minute>半|[一三两13]刻|(?:{_MINUTES})(?=分)|[0-5][0-9](?![0-9个天人年月元块.])"
    r"|[零〇二三四五]?十[一二三四五六七八九]?|[零〇][一二三四五六七八九])"
)
_SECOND = rf"(?:(?P<second>{_MINUTES})秒)?"
_SIGN = r"(?P<sign>点钟?(?![名评赞击餐菜歌球滴缀]|[0-9一二三四五六七八九]折)|时(?![代候间尚髦光差速刻常期机不而长]))"
_SAME_TIME = "这个时候|这个时间|这个点|这时候|此时|这会儿"
_TAIL = r"(?P<tail>钟|整|多钟?|许|(?=左右|前后|来钟))?"
CLOCK = (
    element(rf"(?<!整)(?<!(?<![周期拜初十五六七八])一)(?<!一个)(?P<part>{words(*_PARTS)})",
            "".join({name[0] for name in _PARTS}), _part),
    element(r"(?P<part>[早晨晚夜])(?![餐饭点年期些就已知宵市班会])", "早晨晚夜", _short_part),
    element(r"(?P<day>[今昨前明当后寻琴听])(?P<part>[早晨晚夜])上?(?![餐会报])", "今昨前明当后寻琴听", _day_and_part),
    element(rf"{_HOUR}{_SIGN}过?(?:{_MINUTE}分?钟?{_SECOND})?{_TAIL}", _DIGITS, _clock),
    element(rf"{_HOUR}(?={TO}(?:2[0-4]|1[0-9]|0?[0-9]|[{CHINESE}两]{{1,3}})(?:点|时))", _DIGITS, _clock),
    element(r"(?P<hour>2[0-4]|1[0-9]|0?[0-9])\s?:\s?(?P<minute>[0-5][0-9])(?::(?P<second>[0-5][0-9]))?(?![0-9:])"
            r"(?P<half>\s?[ap]\.?m\.?(?![a-z]))?时?", "0123456789", _clock),
    element(r"(?P<hour>1[0-2]|0?[0-9])(?P<half>\s?[ap]\.?m\.?)(?![a-z0-9])", "0123456789", _clock),
    element(rf"(?:的)?(?:{_SAME_TIME})", "的这此", _same_time),
    element(r"(?P<hours>[一二三四五六七八九十]{2,3})点(?:多|钟|左右)?", "一二三四五六七八九十", _two_hours),
)  # fmt: skip
