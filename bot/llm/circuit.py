"""A circuit breaker: a dead model is asked now and then instead of at every message.

Invariant: while it is open at most one call in `rest_seconds` goes through.
"""

import time
from collections.abc import Callable

from bot.conversation.errors import ModelUnavailable

FAILURES_TO_OPEN = 3
"""One failure is chance, two may be one hiccup and its retry; three people in a row were let down."""
REST_SECONDS = 30.0
"""Short enough that a recovered model is back within the same chat."""


class Circuit:
    """Counts consecutive failures. Not thread-safe: one event loop uses it."""

    def __init__(
        self,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        failures_to_open: int = FAILURES_TO_OPEN,
        rest_seconds: float = REST_SECONDS,
    ) -> None:
        self._monotonic = monotonic
        self._failures_to_open = failures_to_open
        self._rest_seconds = rest_seconds
        self._failures = 0
        self._rests_until = 0.0
        self._last: ModelUnavailable | None = None

    @property
    def is_open(self) -> bool:
        """Whether `admit` would refuse now."""
        return self._failures >= self._failures_to_open and self._monotonic() < self._rests_until

    def admit(self) -> None:
        """Let a call through, or raise the kind of error that opened the circuit.

        The call let through after a rest is the only one of the next rest, whatever becomes of it:
        a trial that is cancelled must not leave the door open for everyone.
        """
        if self._failures < self._failures_to_open or self._last is None:
            return
        if self.is_open:
            kind = type(self._last)
            raise kind(f"模型连续 {self._failures} 次没有回答，暂停询问（最近一次：{self._last}）")
        self._rests_until = self._monotonic() + self._rest_seconds

    def note_success(self) -> None:
        self._failures = 0
        self._last = None

    def note_failure(self, error: ModelUnavailable) -> None:
        self._failures += 1
        self._last = error
        self._rests_until = self._monotonic() + self._rest_seconds
