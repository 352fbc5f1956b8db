"""A whole expression: one chain, two with 到 between them, or one with 之前, 以后, 起 or 至今 behind it.

Invariant: what comes out is half-open and not empty.
"""

import re
from dataclasses import replace
from datetime import datetime, timedelta

from bot.memory.time_zh.calendar import NoSuchDay, Slot, Unit, step
from bot.memory.time_zh.chain import read_chain
from bot.memory.time_zh.elements import TO, Context
from bot.memory.time_zh.latest import latest
from bot.memory.time_zh.numerals import NUMERALS
from bot.memory.time_zh.relative import ALWAYS_AFTER, ALWAYS_BEFORE

_LEAD = re.compile(
    r"(?P<from>自从|从|自|由|打)|(?P<until>截止到|截止至|截至|截止)|(?P<about>大约|大概|差不多|约)"
)
LEAD_STARTS = frozenset("自从由打截大差约")
_TO = re.compile(rf"{TO}|\s?(?:一直|直)(?:到|至)\s?|\s?-{{3,4}}\s?|,?\s?(?:到|至)")
_AND = re.compile(r"\s?[和与跟及、]\s?")
_NEXT_TO = re.compile(rf"\s?[,、和]\s?(?=[{NUMERALS}])")
_TO_END = re.compile(r"\s?(?:为止|止|之间|期间|这段时间|这段时间里)?")
_AND_END = re.compile(r"\s?(?:之间|间|期间)")
_ABOUT = re.compile(
    r"左右|来钟|前后(?!几)|上下(?![班单楼车铺级文学游课])|附近|许(?!多)|那几天|那些天|那阵子|那段时间|期间"
)
_SOME_DAYS = {"那几天", "那些天"}
_INCLUDED = re.compile(r"(?:及|或|以及|及其)(?:在?此?)?(?:之|以)?(?P<way>前|后)")
_AWAY = re.compile(
    r"的?(?P<way>之前|以前|之后|以后|过后|前(?![面台端任辈排门往一两几天年次者])|后(?![面来台端天年续悔门果勤一两几者]))"
)
_SINCE = re.compile(
    r"(?:的时候)?(?:起至今|开始至今|起到现在|起到今天|以来|至今|起|开始|到现在|到今天为止|到目前为止)(?!床|来|码|诉|草|点)"
)


def read_expression(text: str, start: int, context: Context) -> tuple[Slot, int] | None:
    """The expression that begins here, and where it ends."""
    lead = _LEAD.match(text, start) if text[start] in LEAD_STARTS else None
    plain = latest(text, start, context)
    if lead is None or (plain and plain[1] > lead.end()):
        return _with_what_follows(text, start, plain, context) if plain else None
    left = latest(text, lead.end(), context)
    if left is None:
        return None
    if lead["until"]:
        return _before(left[0], context.now), left[1]
    whole = _with_what_follows(text, lead.end(), left, context)
    # 「从上周」 alone only tells where the span begins: 从 is none of it.
    return whole if whole[1] > left[1] or lead["about"] else None


def end_of_all(text: str, end: int, context: Context) -> int:
    """Where an expression would end whose day, up to `end`, doesn't exist: behind its hour and the end of its range."""
    match = _TO.match(text, end)
    try:
        rest = read_chain(text, match.end() if match else end, context)
    except NoSuchDay as day:
        return day.end
    return rest[1] if rest else end


def _with_what_follows(text: str, start: int, left: tuple[Slot, int], context: Context) -> tuple[Slot, int]:
    return (
        _range(text, left, context)
        or _days_in_a_row(text, left, context)
        or _about(text, left)
        or _open_end(text, start, left, context)
        or left
    )


def _range(text: str, left: tuple[Slot, int], context: Context) -> tuple[Slot, int] | None:
    first, end = left
    for between, closing in ((_TO, _TO_END), (_AND, _AND_END)):
        match = between.match(text, end)
        if match is None:
            continue
        right = read_chain(
            text, match.end(), replace(context, anchor=first.start, part=first.part, is_right=True)
        )
        closed = closing.match(text, right[1]) if right else None
        if right is None or closed is None:
            continue
        joined = _join(first, right[0])
        if joined is not None:
            return joined, closed.end()
    return None


def _days_in_a_row(text: str, left: tuple[Slot, int], context: Context) -> tuple[Slot, int] | None:
    """「10号、11号、12号」: each the day after the one before."""
    day, end = left
    if day.unit is not Unit.DAY:
        return None
    first = day
    while match := _NEXT_TO.match(text, end):
        following = read_chain(text, match.end(), replace(context, anchor=day.start, is_right=True))
        if following is None or following[0].unit is not Unit.DAY or following[0].start != day.end:
            break
        day, end = following
    if day is first:
        return None
    return replace(first, end=day.end, unit=Unit.DAYS), end


def _join(first: Slot, last: Slot) -> Slot | None:
    start = first.start
    end = last.start if last.unit <= Unit.HOUR and last.end - last.start <= timedelta(hours=1) else last.end
    if end <= start and last.left_out is Unit.DAY:
        end = step(end, 1, Unit.DAY)
    elif end <= start and last.left_out:
        end = step(end, 1, last.left_out)
    elif end <= start and first.left_out:
        start = step(start, -1, first.left_out)
    if end <= start:
        return None
    return Slot(start=start, end=end, unit=min(first.unit, last.unit), left_out=first.left_out)


def _open_end(text: str, place: int, left: tuple[Slot, int], context: Context) -> tuple[Slot, int] | None:
    slot, end = left
    now = context.now
    if slot.end == ALWAYS_AFTER or slot.start == ALWAYS_BEFORE:
        return None
    if match := _INCLUDED.match(text, end):
        start, stop = (ALWAYS_BEFORE, slot.end) if match["way"] == "前" else (slot.start, ALWAYS_AFTER)
        return Slot(start=start, end=stop, unit=slot.unit), match.end()
    if match := _AWAY.match(text, end):
        term = read_chain(text, place, replace(context, is_ahead=True))
        slot = term[0] if term else slot  # 「周五之前」 is a term: the Friday to come.
        return (_before(slot, now) if "前" in match["way"] else _after(slot)), match.end()
    if match := _SINCE.match(text, end):
        return Slot(
            start=slot.start, end=now if slot.start < now else ALWAYS_AFTER, unit=slot.unit
        ), match.end()
    return None


def _before(slot: Slot, now: datetime) -> Slot:
    """Until it begins; a time to come is a term, whose last day counts: 「周五之前交」."""
    if slot.end > now:
        return Slot(start=now, end=slot.end, unit=slot.unit)
    return Slot(start=ALWAYS_BEFORE, end=slot.start, unit=slot.unit)


def _after(slot: Slot) -> Slot:
    """From a day or hour on, that one counted; from the end of what is longer."""
    return Slot(start=slot.start if slot.unit <= Unit.DAY else slot.end, end=ALWAYS_AFTER, unit=slot.unit)


def _about(text: str, left: tuple[Slot, int]) -> tuple[Slot, int] | None:
    slot, end = left
    match = _ABOUT.match(text, end)
    if match is None:
        return None
    if slot.unit in (Unit.HOUR, Unit.MINUTE) and slot.end - slot.start <= timedelta(hours=1):
        half = timedelta(minutes=30)
        return replace(slot, start=slot.start - half, end=slot.start + half), match.end()
    if match[0] in _SOME_DAYS and slot.unit is Unit.DAY:
        return replace(
            slot, start=slot.start - timedelta(days=1), end=slot.end + timedelta(days=1)
        ), match.end()
    return slot, match.end()
