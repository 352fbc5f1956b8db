"""The time people here mean by a date: Beijing's, all of China's.

Invariant: only what a person or a model reads is in local time; everything stored and compared is UTC.
"""

from datetime import datetime, timedelta, timezone

LOCAL_TIME = timezone(timedelta(hours=8))


def local_date(at: datetime) -> str:
    """The day in Beijing time, e.g. `2026-11-29`."""
    return at.astimezone(LOCAL_TIME).date().isoformat()
