"""The civil calendar in local time: units, pieces of it, and steps from one to the next.

Invariant: every instant here is aware and in `LOCAL_TIME`. A day that is not in the calendar raises
ValueError, a year beyond it OverflowError or ValueError: who reads an expression takes both as no time.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import IntEnum

from bot.conversation.local_time import LOCAL_TIME


class NoSuchDay(ValueError):
    """A day was named of a month that hasn't so many: no part of such a date is a time."""

    def __init__(self, end: int) -> None:
        """`end`: where its words end in the text."""
        super().__init__(end)
        self.end = end


class Unit(IntEnum):
    """How fine a time was named; a finer one may narrow it."""

    SECOND = 1
    MINUTE = 2
    HOUR = 3
    PART = 4
    """A part of the day."""
    DAY = 5
    DAYS = 6
    """Some days: a festival, a weekend, a third of a month."""
    WEEK = 7
    MONTH = 8
    QUARTER = 9
    HALF = 10
    YEAR = 11
    DECADE = 12
    CENTURY = 13


_MONTHS = {Unit.MONTH: 1, Unit.QUARTER: 3, Unit.HALF: 6, Unit.YEAR: 12, Unit.DECADE: 120, Unit.CENTURY: 1200}
_SECONDS = {Unit.SECOND: 1, Unit.MINUTE: 60, Unit.HOUR: 3600, Unit.DAY: 86_400, Unit.WEEK: 604_800}


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A piece of the calendar: from `start` up to `end`, named as finely as `unit`."""

    start: datetime
    end: datetime
    unit: Unit
    part: str = ""
    """The part of the day it was named by, which tells the hours after it (「晚上」 8点)."""
    left_out: Unit | None = None
    """The coarser unit that was not said (「3月」: the year) and taken from the context."""
    is_lunar: bool = False
    """Whether days in it are counted by the moon."""

    def leaving_out(self, unit: "Unit | None") -> "Slot":
        """The same, knowing what was not said."""
        if unit is self.left_out:
            return self
        return Slot(
            start=self.start,
            end=self.end,
            unit=self.unit,
            part=self.part,
            left_out=unit,
            is_lunar=self.is_lunar,
        )


def at(year: int, month: int = 1, day: int = 1) -> datetime:
    """Midnight of a day."""
    return datetime(year, month, day, tzinfo=LOCAL_TIME)


def midnight(of: date) -> datetime:
    """The start of a day."""
    return at(of.year, of.month, of.day)


def floor(instant: datetime, unit: Unit) -> datetime:
    """The start of the unit it lies in; a week starts on Monday."""
    if unit <= Unit.HOUR:
        names = ("microsecond", "second", "minute")[: unit.value]
        return instant.replace(**dict.fromkeys(names, 0))
    day = midnight(instant)
    if unit <= Unit.DAYS:
        return day
    if unit is Unit.WEEK:
        return day - timedelta(days=day.weekday())
    if unit >= Unit.DECADE:
        return at(day.year // (_MONTHS[unit] // 12) * (_MONTHS[unit] // 12) or 1)
    months = _MONTHS[unit]
    return at(day.year, (day.month - 1) // months * months + 1)


def step(instant: datetime, amount: float, unit: Unit) -> datetime:
    """So many units later; by months, the day is cut to what the month has, and a half month is 15 days."""
    if unit not in _MONTHS:
        return instant + timedelta(seconds=amount * _SECONDS[unit])
    months = amount * _MONTHS[unit]
    whole = int(months)
    return _add_months(instant, whole) + timedelta(days=round((months - whole) * 30))


def slot(instant: datetime, unit: Unit, amount: int = 1) -> Slot:
    """The unit an instant lies in, or as many in a row from there."""
    start = floor(instant, unit)
    return Slot(start=start, end=step(start, amount, unit), unit=unit)


def days(start: datetime, amount: int, unit: Unit = Unit.DAYS) -> Slot:
    """Whole days in a row."""
    return Slot(start=start, end=start + timedelta(days=amount), unit=unit)


def _add_months(instant: datetime, months: int) -> datetime:
    count = instant.year * 12 + instant.month - 1 + months
    year, month = divmod(count, 12)
    last = (at(year + month // 11, (month + 1) % 12 + 1) - timedelta(days=1)).day if year < 9999 else 28
    return instant.replace(year=year, month=month + 1, day=min(instant.day, last))
