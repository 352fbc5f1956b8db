"""A span of time as a person or a model reads it.

Invariant: in Beijing time, to the minute; an open end isn't shown.
"""

from datetime import datetime

from bot.conversation.local_time import LOCAL_TIME
from bot.memory.time_zh import OPEN_END, OPEN_START, Window


def shown_span(window: Window) -> str:
    """「2026-11-25 00:00 起，2026-11-26 00:00 止」."""
    start = "" if window.start <= OPEN_START else f"{shown_minute(window.start)} 起"
    end = "" if window.end >= OPEN_END else f"{shown_minute(window.end)} 止"
    return "，".join(filter(None, (start, end)))


def shown_minute(at: datetime) -> str:
    """「2026-11-25 08:30」."""
    return f"{at.astimezone(LOCAL_TIME):%Y-%m-%d %H:%M}"
