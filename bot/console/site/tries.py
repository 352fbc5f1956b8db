"""How often a password may be tried.

Invariant: a try counts before it is looked at, so that many at once are no way around.
"""

import time
from collections.abc import Callable

FREE_TRIES = 5
FIRST_WAIT_SECONDS = 15.0
"""After the fifth wrong try; doubled by each further one."""
LONGEST_WAIT_SECONDS = 15 * 60.0
"""So that who has forgotten it is not locked out for a day."""


class LoginTries:
    """One count for all: whoever comes over loopback has the same address."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._wrong = 0
        self._open_at = 0.0

    def begin(self) -> float:
        """0.0: try now, and it counts as wrong until `succeed`. Else the seconds to wait, and nothing counts."""
        now = self._monotonic()
        if now < self._open_at:
            return self._open_at - now
        self._wrong += 1
        if (beyond := self._wrong - FREE_TRIES) >= 0:
            wait = min(FIRST_WAIT_SECONDS * 2.0 ** min(beyond, 16), LONGEST_WAIT_SECONDS)
            self._open_at = now + wait
        return 0.0

    def succeed(self) -> None:
        self._wrong, self._open_at = 0, 0.0
