"""The dates of a message, by whoever can read them.

Invariant: what is told here is windows of time; lengths of time and recurrences are no dates.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Protocol

from bot.memory.time_zh import find_times

SHORTEST = timedelta(minutes=1)
"""Of a window: 现在 is no date to be remembered."""

Found = tuple[int, int, str]
"""Where it stands, and the window: two ISO 8601 times with a slash between."""


class DateFinder(Protocol):
    """Reads dates in a text."""

    def __call__(self, text: str, reference: datetime) -> Iterable[Found]:
        """`reference`: when it was written, aware."""
        ...


def no_dates(text: str, reference: datetime) -> Iterable[Found]:
    """For those who look for something else."""
    del text, reference
    return ()


def own_dates(text: str, reference: datetime) -> Iterable[Found]:
    """By the house's reader of Chinese times. A number behind a dash (型号 XR-2000) is part of a name."""
    return [
        (each.start, each.end, f"{each.window.start.isoformat()}/{each.window.end.isoformat()}")
        for each in find_times(text, reference)
        if each.window is not None
        and each.window.end - each.window.start >= SHORTEST
        and not (each.text.isdigit() and text[max(0, each.start - 1) : each.start] in (*"-_/.",))
    ]
