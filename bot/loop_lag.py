"""How late the event loop is: everybody waits that long, and nothing else says so.

Invariant: measuring costs one timer every half second.
"""

import asyncio
from collections import deque

from bot.metrics import Metrics

SAMPLE_SECONDS = 0.5
REMEMBERED = 40
"""Samples, 20 s in all: a monitor that scrapes every 15 s sees each stall at least once."""


class LoopLag:
    """Samples the loop it runs in."""

    def __init__(self, metrics: Metrics) -> None:
        self._lags: deque[float] = deque(maxlen=REMEMBERED)
        metrics.event_loop_lag.set_function(lambda: max(self._lags, default=0.0))

    async def run(self) -> None:
        """Until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + SAMPLE_SECONDS
            await asyncio.sleep(SAMPLE_SECONDS)
            self._lags.append(max(0.0, loop.time() - due))
