"""Which memories tell of a time, though they were said at another: 「国庆去了三亚」 said on the ninth.

Invariant: pure; a memory's own words about time are read as meant when it was said.
"""

import time
from collections.abc import Sequence
from datetime import timedelta

import numpy as np

from bot.memory.lexical import FactIndex
from bot.memory.searched import Rows
from bot.memory.time_zh import Window

AROUND = timedelta(days=31)
"""What is told of a time is told within a month of it: further away 「上周」 and 「国庆」 mean others."""
MOST_READ = 100
"""Memories, those said the soonest after the time first: reading one for the first time takes up to 0.5 ms."""


def rows_about(index: FactIndex, window: Window) -> list[int]:
    """Of memories said outside the window those that may tell of it, the soonest said first."""
    near = index.said_about(window, AROUND)
    is_after = index.said_at[near] >= window.end.timestamp()
    after: list[int] = near[is_after].tolist()
    before: list[int] = near[~is_after][::-1].tolist()
    return [*after, *before][:MOST_READ]


def rows_telling_of(index: FactIndex, about: Sequence[int], window: Window) -> Rows:
    """Which of these tell of it."""
    return np.array([row for row in sorted(about) if _tells_of(index, row, window)], np.intp)


def _tells_of(index: FactIndex, row: int, window: Window) -> bool:
    """Whether one of the times it tells lies in the window, whole."""
    if not index.knows_times_of(row):
        time.sleep(0)  # Lets the loop go on: a thread that reads on and on gives the GIL back each 5 ms only.
    return any(window.start <= told.start and told.end <= window.end for told in index.times_told(row))
