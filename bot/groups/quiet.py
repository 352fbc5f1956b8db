"""Hours in which the bot says nothing unasked.

Invariant: pure; a range may go over midnight, and holds its beginning but not its end.
"""

import re
import unicodedata
from datetime import datetime, time

from bot.conversation.local_time import LOCAL_TIME

_RANGE = re.compile(r"([0-9]{1,2}):([0-9]{2})[-–—−~至到]+([0-9]{1,2}):([0-9]{2})")

Ranges = tuple[tuple[time, time], ...]


def read_hours(text: str) -> Ranges:
    """`23:00-07:00`, several with commas; () for "". Raises ValueError, in Chinese."""
    folded = re.sub(r"\s", "", unicodedata.normalize("NFKC", text))
    return tuple(_read(part) for part in re.split("[,、]", folded) if part)


def is_within(ranges: Ranges, at: datetime) -> bool:
    """`at`: aware; the ranges are Beijing's time."""
    now = at.astimezone(LOCAL_TIME).time()
    return any(start <= now < end if start <= end else now >= start or now < end for start, end in ranges)


def _read(part: str) -> tuple[time, time]:
    found = _RANGE.fullmatch(part)
    try:
        if found is None:
            raise ValueError
        hour, minute, last_hour, last_minute = map(int, found.groups())
        start, end = time(hour, minute), time(last_hour % 24, last_minute)
    except ValueError:
        raise ValueError("应为 23:00-07:00 这样的一段时间，几段用逗号分开") from None
    if start == end:
        raise ValueError("开始和结束的时间一样；要全天安静，在群里发“/关闭”")
    return start, end
