"""Times, places, people and numbers as the pages show them.

Invariant: pure; times are Beijing's, to the minute.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias

from bot.conversation.local_time import LOCAL_TIME
from bot.conversation.message import AccountKey

NameOf: TypeAlias = Callable[[AccountKey], str]
"""Who an account is on the page; its own id where nobody says."""


def minute(at: datetime) -> str:
    """「2026-03-04 13:06」."""
    return f"{at.astimezone(LOCAL_TIME):%Y-%m-%d %H:%M}"


def minute_of_iso(at: str | None) -> str:
    """Of a document's time."""
    return minute(datetime.fromisoformat(at)) if at else ""


def from_field(value: str) -> datetime | None:
    """What an `<input type="datetime-local">` posted. None: nothing, or no time."""
    try:
        at = datetime.fromisoformat(value)
        return (at if at.tzinfo is not None else at.replace(tzinfo=LOCAL_TIME)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def group_of(place: str) -> str:
    """The group's own id; "" is private."""
    return place.split(":", 2)[-1] if place else ""


def score(value: float | None) -> str:
    """「0.42」; 「–」 where there is none."""
    return "–" if value is None else f"{value:.2f}"


def by_id(key: AccountKey) -> str:
    """A `NameOf` that knows nobody."""
    return key.openid
