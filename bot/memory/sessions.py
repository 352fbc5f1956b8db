"""One talk and the next: turns with a long silence between them belong to different ones.

Invariant: pure; a talk's window holds all its turns and none of any other.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from bot.memory.time_zh import OPEN_START, Window

SESSION_GAP = timedelta(minutes=30)
"""Without a word: what follows is another talk."""


def session_began(times: Iterable[datetime], at: datetime) -> datetime:
    """When the talk going on at `at` began, as far as `times` tell, newest first: 上次 is before it."""
    began = at
    for time in times:
        if began - time >= SESSION_GAP:
            break
        began = min(began, time)
    return began


def earlier_session(times: Iterable[datetime], at: datetime, back: int = 1) -> Window:
    """The talk that many before the one going on at `at`. `times`: of the turns, newest first.

    Where so many are not known, all that was before: what was said then may be remembered without its turns.
    """
    seen = [time for time in times if time <= at]
    window = Window(start=session_began(seen, at), end=at)
    for _ in range(back):
        before = [time for time in seen if time < window.start]
        if not before:
            return Window(start=OPEN_START, end=window.start)
        window = Window(start=session_began(before, before[0]), end=before[0] + SESSION_GAP)
    return window
