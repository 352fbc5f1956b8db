"""Tell the operator what only they can mend: at once, and once until it is settled.

Invariant: telling costs the story nothing. It neither waits nor fails; whatever takes the alert away from here
does so in `OperatorAlerts.run`, within a deadline, and nothing private leaves.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Protocol

import anyio
from loguru import logger

from bot.redaction import redact

DEADLINE_SECONDS = 20.0
"""For one try of one messenger: two round trips to a slow service."""
PAUSES_SECONDS = (2.0, 30.0)
"""Before the second and the third try: a hiccup, then a restart at the other end."""
_WAITING = 100
"""Alerts on their way. More at once is one trouble with many keys, and the log has them all."""
_REMEMBERED = 10_000
"""Keys told and not settled; beyond, the oldest is told anew when it comes again."""


class Alerts(Protocol):
    """What the story and the channels ask."""

    async def tell(self, key: str, text: str) -> None:
        """Tell the operator, unless `key` was told and not settled. `text`: one Chinese sentence with what to do."""
        ...

    def settle(self, key: str) -> None:
        """What `key` stands for is over: it is told again when it comes again."""
        ...


class Messenger(Protocol):
    """One way to reach the operator."""

    async def send(self, text: str) -> bool:
        """Whether it was taken. May be cancelled at the deadline."""
        ...


class OperatorAlerts:
    """`Alerts` by the log and by every messenger. Without one, the log alone."""

    def __init__(
        self,
        messengers: Sequence[Messenger] = (),
        *,
        hidden: Iterable[str] = (),
        pause: Callable[[float], Awaitable[object]] = anyio.sleep,
    ) -> None:
        """`hidden`: the settings' secrets."""
        self._messengers = tuple(messengers)
        self._hidden = tuple(hidden)
        self._pause = pause
        self._told: dict[str, None] = {}
        self._waiting: asyncio.Queue[tuple[str, str]] = asyncio.Queue(_WAITING)

    async def tell(self, key: str, text: str) -> None:
        if key in self._told:
            return
        self._told[key] = None
        if len(self._told) > _REMEMBERED:
            del self._told[next(iter(self._told))]
        text = redact(text, self._hidden)
        logger.warning("告诉管理员：{}", text)
        if not self._messengers:
            return
        try:
            self._waiting.put_nowait((key, text))
        except asyncio.QueueFull:
            logger.warning("要发的告警太多，这一条只写在日志里")

    def settle(self, key: str) -> None:
        self._told.pop(key, None)

    async def run(self) -> None:
        """Carry what is told to the messengers, until cancelled. Its parent keeps it running."""
        async with anyio.create_task_group() as tasks:
            while True:
                key, text = await self._waiting.get()
                tasks.start_soon(self._carry, key, text)

    async def _carry(self, key: str, text: str) -> None:
        taken: list[bool] = []

        async def by(messenger: Messenger) -> None:
            taken.append(await self._by(messenger, text))

        async with anyio.create_task_group() as tasks:
            for messenger in self._messengers:
                tasks.start_soon(by, messenger)
        if not any(taken):
            # Nobody has seen it: it is told anew when it comes again.
            self.settle(key)
        if not all(taken):
            logger.warning("告警没有全部送到：{} 个地址里 {} 个收下了", len(taken), sum(taken))

    async def _by(self, messenger: Messenger, text: str) -> bool:
        for pause_seconds in (0.0, *PAUSES_SECONDS):
            if pause_seconds:
                await self._pause(pause_seconds)
            with anyio.move_on_after(DEADLINE_SECONDS):
                if await messenger.send(text):
                    return True
        return False
