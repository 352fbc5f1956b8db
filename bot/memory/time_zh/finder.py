"""All times in a running text.

Invariant: spans don't overlap and come in the order of the text; any text is accepted; the time it takes is
linear in the text.
"""

import re
from dataclasses import replace
from datetime import UTC, datetime

from bot.conversation.local_time import LOCAL_TIME
from bot.memory.time_zh.calendar import Slot, Unit, at, slot, step
from bot.memory.time_zh.chain import may_start
from bot.memory.time_zh.elements import Context
from bot.memory.time_zh.expression import LEAD_STARTS, read_expression
from bot.memory.time_zh.letters import fold
from bot.memory.time_zh.not_times import hide, is_cut
from bot.memory.time_zh.repeats import LENGTH_STARTS, read_length, read_recurrence, read_session
from bot.memory.time_zh.spans import OPEN_END, OPEN_START, Kind, TimeSpan, Window

_LIMIT_CHARACTERS = 2_000
"""Of a longer text only the beginning is read: what a person asks about, they say early."""
_BARE_YEAR = re.compile(r"[\s=:]{0,4}((?:1[5-9]|20|21)[0-9]{2})\s{0,4}")
_NOT_ELEVEN = re.compile(r"[^放去出回那假期长黄小的在我你,.!?\s]")
"""Behind 「十一」: a number, not the first of October."""


def find_times(text: str, reference: datetime, *, is_ahead: bool = False) -> tuple[TimeSpan, ...]:
    """All times said in the text, as meant at `reference` (aware). The longest from each place.

    What was left out is taken so that the time is the latest; `is_ahead`: so that it lies in the running year, week
    or day, as in talk of plans.
    """
    folded = hide(fold(text[:_LIMIT_CHARACTERS]))
    now = reference.astimezone(LOCAL_TIME)
    context = Context(now=now, anchor=now, is_ahead=is_ahead)
    found: list[TimeSpan] = []
    place = 0
    while place < len(folded):
        span = _span_at(folded, place, context)
        if span is None:
            place += 1
            continue
        found.append(_as_written(span, text))
        place = span.end
    return tuple(found)


def window_of(expression: str, reference: datetime, *, is_ahead: bool = False) -> Window | None:
    """What the expression means at `reference` (aware). None: no window (a length, 「每天」, 「上次」, no time)."""
    bare = _BARE_YEAR.fullmatch(fold(expression))
    if bare:
        return _window(slot(at(int(bare[1])), Unit.YEAR))
    spans = find_times(expression, reference, is_ahead=is_ahead)
    longest = max(spans, key=lambda span: span.end - span.start, default=None)
    return longest.window if longest else None


def _span_at(text: str, start: int, context: Context) -> TimeSpan | None:
    character = text[start]
    spans: list[TimeSpan] = []
    if may_start(character) or character in LEAD_STARTS:
        spans += _expression_at(text, start, context)
    if character == "上" and (session := read_session(text, start)):
        spans.append(
            TimeSpan(text="", start=start, end=session[1], kind=Kind.SESSION, sessions_back=session[0])
        )
    if character == "每" and (end := read_recurrence(text, start, context.now)):
        spans.append(TimeSpan(text="", start=start, end=end, kind=Kind.RECURRENCE))
    if character in LENGTH_STARTS and (end := read_length(text, start)):
        spans.append(TimeSpan(text="", start=start, end=end, kind=Kind.DURATION))
    whole = [span for span in spans if not is_cut(text, span.start, span.end)]
    return max(whole, key=lambda span: span.end, default=None)


def _expression_at(text: str, start: int, context: Context) -> list[TimeSpan]:
    read = read_expression(text, start, context)
    if read is None:
        return []
    meant, end = read
    if text[start:end] == "十一" and _NOT_ELEVEN.match(text, end):
        return []
    earlier = _earlier(text, start, context, meant)
    return [TimeSpan(text="", start=start, end=end, kind=Kind.WINDOW, window=_window(meant), earlier=earlier)]


def _earlier(text: str, start: int, context: Context, meant: Slot) -> Window | None:
    now = context.now
    if meant.left_out is None or meant.start <= now:
        return None
    try:
        before = step(now, -1, meant.left_out)
        again = read_expression(text, start, replace(context, anchor=before, is_ahead=True))
    except (ValueError, OverflowError):
        return None  # Before the calendar begins.
    return _window(again[0]) if again and again[0].start <= now else None


def _as_written(span: TimeSpan, text: str) -> TimeSpan:
    return replace(span, text=text[span.start : span.end])


def _window(meant: Slot) -> Window:
    start = max(meant.start.astimezone(UTC), OPEN_START) if meant.start.year > 1 else OPEN_START
    end = min(meant.end.astimezone(UTC), OPEN_END) if meant.end.year < 9999 else OPEN_END
    return Window(start=start, end=end)
