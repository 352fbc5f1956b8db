"""「让我查一下」: said to who says that the bot forgot, while it looks wider, where the channel can send a line apart.

Invariant: at most one line a message, never after the answer, and nothing of it is stored; without the setting
nothing is said.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import TypeAlias

from bot.conversation.message import Message
from bot.conversation.wording import Wording

AFTER_SECONDS = 0.8
"""An answer that comes sooner needs no announcing."""

SayMeanwhile: TypeAlias = Callable[[Message, str], Awaitable[None]]
"""Sends a line ahead of the answer; does nothing where the channel can't."""

_UNANNOUNCED = nullcontext()


class CheckingLine:
    def __init__(
        self,
        say: SayMeanwhile,
        wording: Wording,
        *,
        is_on: bool,
        wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`wait` takes seconds."""
        self._say = say
        self._wording = wording
        self._is_on = is_on
        self._wait = wait

    def during(self, message: Message, *, is_reproach: bool) -> AbstractAsyncContextManager[None]:
        """Around the work on an answer."""
        return self._announced(message) if self._is_on and is_reproach else _UNANNOUNCED

    @asynccontextmanager
    async def _announced(self, message: Message) -> AsyncGenerator[None]:
        saying = asyncio.create_task(self._say_after(message))
        try:
            yield
        finally:
            saying.cancel()
            # Its line is out before the answer, or never.
            await asyncio.wait([saying])

    async def _say_after(self, message: Message) -> None:
        await self._wait(AFTER_SECONDS)
        await self._say(message, self._wording.say("checking"))
