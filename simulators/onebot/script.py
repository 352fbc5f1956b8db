"""Scripted failures: how the next API calls go wrong.

Invariant: each entry is spent by one call, in order; without an entry a call succeeds.
"""

from collections import defaultdict, deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What happens to one call."""

    retcode: int = 0
    """Non-zero: answered with this code."""
    message: str = ""
    is_delivered: bool = False
    """The message arrives all the same, as with NapCat's 1200."""
    is_unanswered: bool = False
    is_disconnecting: bool = False


class Script:
    """Failures waiting for calls, by action."""

    def __init__(self) -> None:
        self._failures: defaultdict[str, deque[Failure]] = defaultdict(deque)

    def fail(self, action: str, retcode: int, message: str = "", *, is_delivered: bool = False) -> None:
        """Answer the next call of `action` with an error, e.g. 1200 "Timeout" or 120 while muted."""
        self._failures[action].append(Failure(retcode=retcode, message=message, is_delivered=is_delivered))

    def drop(self, action: str, *, is_delivered: bool = True) -> None:
        """Leave the next call of `action` without an answer."""
        self._failures[action].append(Failure(is_unanswered=True, is_delivered=is_delivered))

    def disconnect(self, action: str, *, is_delivered: bool = False) -> None:
        """Break the connection instead of answering the next call of `action`."""
        self._failures[action].append(Failure(is_disconnecting=True, is_delivered=is_delivered))

    def next_for(self, action: str) -> Failure | None:
        """Spend and return the next failure of an action."""
        waiting = self._failures[action]
        return waiting.popleft() if waiting else None
