"""When each platform last proved that it reaches us, for the operator who is setting it up.

Invariant: kept in memory, by channel and app_id; what is noted was verified before by who notes it, and holds no
part of any request.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from bot.conversation.ports import Clock

ANYONE = ""
"""The app_id where a refused request named none that could be believed."""
SETUP_TIME = timedelta(minutes=10)
"""For saving one address in a platform's console. What answers strangers for longer is forgotten open."""

Door: TypeAlias = tuple[str, str]
"""Channel and app_id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """What came to one door. Times are UTC."""

    proven_at: datetime | None = None
    is_connected: bool = False
    """It holds a connection now. A platform that only posts never does."""
    refused_at: datetime | None = None
    """The last that came without proof, since the last proof."""


class Arrivals:
    """Of all doors. Used from one event loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._doors: dict[Door, Arrival] = {}
        self._changed = asyncio.Event()
        self._setup_until: datetime | None = None

    def note_proof(self, channel: str, app_id: str) -> None:
        """The platform asked, and proved itself."""
        known = self.at(channel, app_id)
        self._put((channel, app_id), replace(known, proven_at=self._clock.now(), refused_at=None))

    def note_connection(self, channel: str, app_id: str) -> None:
        now = self._clock.now()
        self._put((channel, app_id), Arrival(proven_at=now, is_connected=True))

    def note_end(self, channel: str, app_id: str) -> None:
        """The connection is gone."""
        self._put((channel, app_id), replace(self.at(channel, app_id), is_connected=False))

    def note_refusal(self, channel: str, app_id: str = ANYONE) -> None:
        known = self.at(channel, app_id)
        self._put((channel, app_id), replace(known, refused_at=self._clock.now()))

    def at(self, channel: str, app_id: str) -> Arrival:
        """An empty one where nothing came since the start."""
        return self._doors.get((channel, app_id), Arrival())

    def connected(self, channel: str) -> tuple[str, ...]:
        """The app_ids of those that are connected now."""
        return tuple(
            door[1] for door, each in self._doors.items() if door[0] == channel and each.is_connected
        )

    async def changes(self) -> AsyncIterator[None]:
        """At once, then at each change from now on."""
        while True:
            changed = self._changed
            yield
            await changed.wait()

    @property
    def setup_until(self) -> datetime | None:
        """Until when the validation of a callback address is answered; None: it is not."""
        until = self._setup_until
        return until if until is not None and self._clock.now() < until else None

    def open_setup(self) -> None:
        """Answer the platform's validation of the callback address, for ten minutes."""
        self._setup_until = self._clock.now() + SETUP_TIME
        self._announce()

    def close_setup(self) -> None:
        self._setup_until = None
        self._announce()

    def _put(self, door: Door, arrival: Arrival) -> None:
        self._doors[door] = arrival
        self._announce()

    def _announce(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
