"""Chinese expressions of time: found in running text, and turned into windows.

Invariant: rules only (no model, no network, no clock of its own), the same answer for the same text and reference.
"""

from bot.memory.time_zh.finder import find_times, window_of
from bot.memory.time_zh.spans import OPEN_END, OPEN_START, Kind, TimeSpan, Window

__all__ = ["OPEN_END", "OPEN_START", "Kind", "TimeSpan", "Window", "find_times", "window_of"]
