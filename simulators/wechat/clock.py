"""The simulator's clock: the machine's, or one that a test moves.

Invariant: everything in this package that waits or dates something asks the one clock it was given.
"""

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

_IDLE_TURNS = 200
"""Turns of the loop without an end after which nothing but time can help. One in-process request takes
about thirty; a turn costs microseconds."""


class Clock(Protocol):
    def now(self) -> float:
        """Unix seconds."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The machine's clock."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        """`now` replaces the time of day alone; waiting stays real."""
        self._now = now

    def now(self) -> float:
        return self._now()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


class ManualClock:
    """Stands still until it is moved: `advance` from a test, or `run`, which skips every wait.

    `run` is for callbacks in the same process that wait on this very clock: what waits on a socket or a
    thread looks idle to it, and time would jump past it.
    """

    def __init__(self, now: float = 1_750_000_000.0) -> None:
        self._now = now
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (self._now + seconds, next(self._numbers), woken))
        await woken

    @property
    def waiting(self) -> int:
        """How many wait now."""
        return sum(not woken.done() for _, _, woken in self._waiting)

    def advance(self, seconds: float) -> None:
        """Move on, waking who waited, in the order of their times."""
        until = self._now + seconds
        while self._waiting and self._waiting[0][0] <= until:
            self._wake_next()
        self._now = max(self._now, until)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Await `work`, jumping to the next wait whenever nothing else goes on."""
        task = asyncio.create_task(work)
        try:
            while not await self._is_done_at_once(task):
                if self._waiting:
                    self._wake_next()
            return await task
        finally:
            task.cancel()

    @staticmethod
    async def _is_done_at_once(task: asyncio.Task[Any]) -> bool:
        for _ in range(_IDLE_TURNS):
            if task.done():
                return True
            await asyncio.sleep(0)
        return task.done()

    def _wake_next(self) -> None:
        when, _, woken = heapq.heappop(self._waiting)
        # Whoever gave up waiting takes no time.
        if not woken.done():
            self._now = max(self._now, when)
            woken.set_result(None)
