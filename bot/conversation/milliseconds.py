"""Moments as they are stored: milliseconds since 1970, UTC.

Invariant: exact, no float in between; `from_ms` is the inverse of `to_ms` but for what is finer than a millisecond.
"""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def to_ms(moment: datetime) -> int:
    """Of an aware datetime."""
    return (moment - _EPOCH) // _MILLISECOND


def from_ms(milliseconds: int) -> datetime:
    """Aware, UTC."""
    return _EPOCH + timedelta(milliseconds=milliseconds)
