"""Which of several times is meant where the year or the day was left out: the latest, or a near one to come.

Invariant: a chain is read at one anchor after the other, and every reading ends at the same place in the text.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from bot.memory.time_zh.calendar import Slot, Unit, floor, step
from bot.memory.time_zh.chain import read_chain
from bot.memory.time_zh.elements import Context

_ANCHORS = {Unit.YEAR: (-1, 1), Unit.DAY: (-1, -2)}
_SOON = timedelta(days=30)
_LONG_AGO = timedelta(days=60)


def latest(text: str, start: int, context: Context) -> tuple[Slot, int] | None:
    """What the chain from here on comes to: of a year or day left out, the latest that has begun.

    Of a year left out, the next instead, where that begins within 30 days and the latest began over 60 days ago.
    """
    read = read_chain(text, start, context)
    if read is None or context.is_ahead or read[0].left_out not in _ANCHORS:
        return read
    if _is_latest(read[0], context.now):
        return read
    slots = [read[0], *_others(text, start, context, read)]
    return _meant(slots, read[0].left_out, context.now), read[1]


def _is_latest(slot: Slot, now: datetime) -> bool:
    """Of a day left out: what has begun today is later than the same on the days before."""
    return slot.left_out is Unit.DAY and slot.start <= now


def _others(text: str, start: int, context: Context, read: tuple[Slot, int]) -> list[Slot]:
    left_out = read[0].left_out
    found: list[Slot] = []
    for years_or_days in _ANCHORS.get(left_out, ()) if left_out else ():
        try:
            anchor = step(context.anchor, years_or_days, left_out or Unit.DAY)
            again = read_chain(text, start, replace(context, anchor=anchor))
        except (ValueError, OverflowError):
            continue  # Beyond the calendar.
        if again and again[1] == read[1]:
            found.append(again[0])
    return found


def _meant(slots: list[Slot], left_out: Unit | None, now: datetime) -> Slot:
    if left_out is Unit.DAY:
        return max(
            (slot for slot in slots if slot.start <= now), key=lambda slot: slot.start, default=slots[0]
        )
    today = floor(now, Unit.DAY)
    begun = max((slot for slot in slots if _day(slot) <= today), key=_day, default=None)
    next_one = min((slot for slot in slots if _day(slot) > today), key=_day, default=None)
    if begun is None or next_one is None:
        return begun or next_one or slots[0]
    is_near = _day(next_one) - today <= _SOON and today - _day(begun) > _LONG_AGO
    return next_one if is_near else begun


def _day(slot: Slot) -> datetime:
    return floor(slot.start, Unit.DAY)
