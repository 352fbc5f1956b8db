"""The people, groups, channels and private sessions, and all that was seen there, in order.

Invariant: a sight is appended once and never changed; what is not in `seen` nobody saw.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .account import Scene


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """One message of the bot that people saw."""

    at: float
    """Unix seconds."""
    scene: Scene
    place: str
    """The openid, group_openid, channel_id, or in a guild's direct messages the user's id."""
    message_id: str
    kind: str
    """text, markdown, ark, embed, media."""
    text: str
    msg_id: str = ""
    """The message it answers; "" when it answers an event, or nothing."""
    event_id: str = ""
    msg_seq: int = 1
    media: str = ""
    """The URL of the medium, or `file:NAME`; "" without one."""
    quoted: str = ""
    """The message_id of its message_reference."""
    body: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """As it was posted."""

    @property
    def is_push(self) -> bool:
        """主动消息."""
        return not (self.msg_id or self.event_id)


@dataclass(slots=True, kw_only=True)
class Place:
    scene: Scene
    id: str
    is_left: bool = False
    """The person removed the bot, or the bot was removed from the group."""
    is_muted: bool = False
    is_push_refused: bool = False
    """主动消息 switched off by the person or the group's admin."""
    typings: list[float] = field(default_factory=list[float])
    """When 「对方正在输入」 came up."""
    sights: list[Sight] = field(default_factory=list[Sight])
    recalled: list[str] = field(default_factory=list[str])
    """Message ids the bot took back. They stay among the sights: they were seen."""


class Places:
    """Where somebody has spoken, or the bot was added, it is known from then on."""

    def __init__(self) -> None:
        self._places: dict[tuple[Scene, str], Place] = {}
        self._order: list[Sight] = []
        self._changed = asyncio.Event()
        self.on_sight: Callable[[Sight], None] = lambda sight: None
        """Told of each."""

    def open(self, scene: Scene, place_id: str) -> Place:
        """Known, or known from now on."""
        return self._places.setdefault((scene, place_id), Place(scene=scene, id=place_id))

    def find(self, scene: Scene, place_id: str) -> Place | None:
        return self._places.get((scene, place_id))

    def __iter__(self) -> Iterator[Place]:
        return iter(self._places.values())

    @property
    def sights(self) -> tuple[Sight, ...]:
        """Everything that anybody saw, in order."""
        return tuple(self._order)

    def seen(self, place_id: str, *, is_private: bool) -> tuple[Sight, ...]:
        return tuple(
            sight for sight in self._order if sight.place == place_id and sight.scene.is_private is is_private
        )

    def show(self, sight: Sight) -> None:
        self.open(sight.scene, sight.place).sights.append(sight)
        self._order.append(sight)
        self.on_sight(sight)
        self.touch()

    def forget(self, most: int) -> None:
        """Keep only the newest so many sights, in all and of each place."""
        del self._order[: max(len(self._order) - most, 0)]
        for place in self:
            for kept in (place.sights, place.typings, place.recalled):
                del kept[: max(len(kept) - most, 0)]

    def touch(self) -> None:
        """Something happened that somebody may wait for."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait_until(self, is_so: Callable[[], bool], timeout_seconds: float) -> None:
        """Looked at again whenever something happens. Raises TimeoutError: not within that time."""
        async with asyncio.timeout(timeout_seconds):
            while not is_so():
                await self._changed.wait()
