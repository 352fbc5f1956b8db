"""All times in a running text.

Invariant: spans don't overlap and come in the order of the text; any text is accepted; the time it takes is
linear in the text.
"""

import re
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, lru_cache

from bot.conversation.local_time import LOCAL_TIME
from bot.memory.time_zh.calendar import NoSuchDay, Slot, Unit, at, slot, step
from bot.memory.time_zh.chain import starts
from bot.memory.time_zh.elements import Context
from bot.memory.time_zh.expression import LEAD_STARTS, end_of_all, read_expression
from bot.memory.time_zh.letters import fold
from bot.memory.time_zh.not_times import begins_within, goes_on, hide
from bot.memory.time_zh.repeats import LENGTH_STARTS, read_length, read_recurrence, read_session
from bot.memory.time_zh.spans import OPEN_END, OPEN_START, Kind, TimeSpan, Window

_LIMIT_CHARACTERS = 2_000
"""Of a longer text only the beginning is read: what a person asks about, they say early."""
_LATELY = 1_024
"""Texts whose times are kept: a message is read when it is asked, when it is remembered, and when it is pointed at."""
_BARE_YEAR = re.compile(r"[\s=:]{0,4}((?:1[5-9]|20|21)[0-9]{2})\s{0,4}")
_NOT_ELEVEN = re.compile(r"[^放去出回那假期长黄小的在我你,.!?\s]")
"""Behind 「十一」: a number, not the first of October."""


@lru_cache(_LATELY)
def find_times(text: str, reference: datetime, *, is_ahead: bool = False) -> tuple[TimeSpan, ...]:
    """All times said in the text, as meant at `reference` (aware). The longest from each place.

    What was left out is taken so that the time is the latest; `is_ahead`: so that it lies in the running year, week
    or day, as in talk of plans.
    """
    begins, folded = _begins(), fold(text[:_LIMIT_CHARACTERS])
    if begins.search(folded) is None:
        return ()
    folded = hide(folded)
    now = reference.astimezone(LOCAL_TIME)
    context = Context(now=now, anchor=now, is_ahead=is_ahead)
    found: list[TimeSpan] = []
    place = 0
    while (begin := begins.search(folded, place)) is not None:
        place = begin.start()
        try:
            span = None if begins_within(folded, place) else _span_at(folded, place, text, context)
        except NoSuchDay as day:
            # 「2月30号到3月2号」 is no span at all, nor is any part of it.
            place = end_of_all(folded, day.end, context)
            continue
        if span is None:
            place += 1
            continue
        found.append(span)
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


@cache
def _begins() -> re.Pattern[str]:
    """A character that a span may begin with: most of a text is none of them."""
    return re.compile(f"[{re.escape(''.join({*starts(), *LEAD_STARTS, *_READERS}))}]")


def _span_at(folded: str, start: int, text: str, context: Context) -> TimeSpan | None:
    """The longest span that begins here."""
    character, longest = folded[start], None
    for read in _READERS.get(character, (_expression_at,)):
        span = read(folded, start, text, context)
        if span is not None and (longest is None or span.end > longest.end) and not goes_on(folded, span.end):
            longest = span
    return longest


def _expression_at(folded: str, start: int, text: str, context: Context) -> TimeSpan | None:
    read = read_expression(folded, start, context)
    if read is None:
        return None
    meant, end = read
    if folded[start:end] == "十一" and _NOT_ELEVEN.match(folded, end):
        return None
    return TimeSpan(
        text=text[start:end],
        start=start,
        end=end,
        kind=Kind.WINDOW,
        window=_window(meant),
        earlier=_earlier(folded, start, context, meant),
    )


def _session_at(folded: str, start: int, text: str, _: Context) -> TimeSpan | None:
    read = read_session(folded, start)
    if read is None:
        return None
    back, end = read
    return TimeSpan(text=text[start:end], start=start, end=end, kind=Kind.SESSION, sessions_back=back)


def _recurrence_at(folded: str, start: int, text: str, context: Context) -> TimeSpan | None:
    end = read_recurrence(folded, start, context.now)
    return TimeSpan(text=text[start:end], start=start, end=end, kind=Kind.RECURRENCE) if end else None


def _length_at(folded: str, start: int, text: str, _: Context) -> TimeSpan | None:
    end = read_length(folded, start)
    return TimeSpan(text=text[start:end], start=start, end=end, kind=Kind.DURATION) if end else None


_READERS = dict.fromkeys(LENGTH_STARTS, (_expression_at, _length_at)) | {
    "上": (_expression_at, _session_at),
    "每": (_expression_at, _recurrence_at),
}
"""Who reads what begins with a character; what begins with any other is an expression. Of two as long the first counts."""


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


def _window(meant: Slot) -> Window:
    start = max(meant.start.astimezone(UTC), OPEN_START) if meant.start.year > 1 else OPEN_START
    end = min(meant.end.astimezone(UTC), OPEN_END) if meant.end.year < 9999 else OPEN_END
    return Window(start=start, end=end)
