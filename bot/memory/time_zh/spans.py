"""What a person's words about time come to: a piece of the text, and the window it means.

Invariant: plain values; windows are aware UTC, half-open and never empty (start < end).
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

OPEN_START = datetime(1, 1, 2, tzinfo=UTC)
"""Where a window without a start begins (「三年以前」). A day off the edge, so that every time zone can show it."""
OPEN_END = datetime(9999, 12, 30, tzinfo=UTC)
"""Where a window without an end stops (「半年之后」)."""


class Kind(StrEnum):
    """What sort of time is meant."""

    WINDOW = "window"
    """From one instant to another."""
    DURATION = "duration"
    """A length (「三天」), at no place on the calendar."""
    RECURRENCE = "recurrence"
    """Again and again (「每周一」)."""
    SESSION = "session"
    """An earlier talk (「上次」): which one, only who keeps the talks can tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Half-open, aware UTC."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSpan:
    """One expression of time in a text."""

    text: str
    """As written: the text from `start` to `end`."""
    start: int
    """Offset of the first character."""
    end: int
    """Offset behind the last."""
    kind: Kind
    window: Window | None = None
    """Only of a WINDOW."""
    earlier: Window | None = None
    """The latest such time before, where `window` is still to come and the year, month, week or day was left out:
    「周五」 said on a Monday may be the one to come or the last."""
    sessions_back: int = 0
    """Only of a SESSION: 1 is the latest earlier one (「上次」), 2 the one before (「上上次」)."""
