"""That something changed, for who shows it live.

Invariant: nobody who asks with what they have seen misses a change, and none waits for another.
"""

import asyncio


class Changes:
    """Counts changes. One event loop uses it."""

    def __init__(self) -> None:
        self.count = 0
        self._waiting: set[asyncio.Future[None]] = set()

    def note(self) -> None:
        self.count += 1
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)

    async def after(self, seen: int) -> int:
        """The count, as soon as it is another than `seen`."""
        while self.count == seen:
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.add(waiting)
            try:
                await waiting
            finally:
                self._waiting.discard(waiting)
        return self.count
