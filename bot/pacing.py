"""How many messages are worked on at once, so that a rush is served in the order in which it came.

Invariant: first come, first served; nobody holds a place while waiting for a model.

All work is done by one thread. A thousand messages taken up together would all be done at the end, none before, and
what must happen on time meanwhile (the word to WeChat within its five seconds) would happen when all had had a turn.
"""

import asyncio
import math
import time

AT_ONCE = 16
"""Enough that some work while others wait for the disk, which takes several in one commit."""
CALM_SECONDS = 0.02
"""Between two looks whether a rush is over: what waits for its end is not to wait much longer."""


REST_SECONDS = 0.25
"""After a message: its sender's next one, or its second page, comes soon if at all."""


class _Places(asyncio.Semaphore):
    held = 0
    left_at = -math.inf


class Place:
    """One of the places. Its holder gives it away while it waits for something slow."""

    def __init__(self, places: _Places) -> None:
        self._places = places
        self.is_held = False

    async def take(self) -> None:
        await self._places.acquire()
        self._places.held += 1
        self.is_held = True

    async def __aenter__(self) -> "Place":
        await self.take()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> None:
        """May be called twice."""
        if self.is_held:
            self.is_held = False
            self._places.held -= 1
            self._places.left_at = time.monotonic()
            self._places.release()

    def given_away(self) -> "_Absence":
        """`async with place.given_away():`"""
        return _Absence(self)


class _Absence:
    """A class of its own: a generator's costs four times as much, three times a message."""

    __slots__ = ("_place",)

    def __init__(self, place: Place) -> None:
        self._place = place

    async def __aenter__(self) -> None:
        self._place.leave()

    async def __aexit__(self, *_: object) -> None:
        await self._place.take()


class Pace:
    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._places = _Places(at_once)

    def place(self) -> Place:
        """`async with pace.place() as place:` waits for one."""
        return Place(self._places)

    async def calm(self, patience_seconds: float) -> None:
        """Until there is a free place, or for that long: what nobody waits for gives way."""
        waited = 0.0
        while self._places.locked() and waited < patience_seconds:
            await asyncio.sleep(CALM_SECONDS)
            waited += CALM_SECONDS

    async def quiet(self, patience_seconds: float) -> bool:
        """Until no place is taken and none was a moment ago, or for that long: what takes hours gives way to every
        message. Whether it was quiet already."""
        waited = 0.0
        while waited < patience_seconds and not self._is_quiet:
            await asyncio.sleep(CALM_SECONDS)
            waited += CALM_SECONDS
        return not waited

    @property
    def _is_quiet(self) -> bool:
        return not self._places.held and time.monotonic() - self._places.left_at >= REST_SECONDS
