"""What the stages share: what cannot be played and why, names and words, and acts that go on by themselves.

Invariant: an act is either refused at once, before anything of it happened, or on its way.
"""

import asyncio
import re
from collections.abc import Coroutine
from typing import Any

from bot.conversation.errors import RejectedInput

MOST = 200
"""Messages that a stage keeps: an afternoon of trying things out."""
MOST_UNDER_WAY = 20
"""At once: who holds Enter down must not fill the bot's own doors."""
MOST_PEOPLE = 20
LONGEST_NAME = 20
_JOINED = re.compile(
    "([\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])\u200d(?=[\u2190-\u2bff\U0001f000-\U0001faff])"
)
"""A joiner makes one emoji of two (UTS #51, §2.3); anywhere else it makes two names that look like one."""


class CannotPlay(RejectedInput):
    """`str(error)` is the name of the reason: the view has the words."""


def checked_words(text: str, longest_bytes: int) -> str:
    """Raises CannotPlay."""
    text = text.strip()
    if not text:
        raise CannotPlay("no_words")
    if len(text.encode("utf-8", "replace")) > longest_bytes:
        raise CannotPlay("too_long")
    return text


def checked_name(name: str) -> str:
    """Raises CannotPlay: it could not be shown."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or not _JOINED.sub(r"\1", name).isprintable():
        raise CannotPlay("no_name")
    return name


class UnderWay:
    """Deliveries that nobody waits for."""

    def __init__(self) -> None:
        self._deliveries: set[asyncio.Task[None]] = set()

    def check_room(self) -> None:
        """Raises CannotPlay."""
        if len(self._deliveries) >= MOST_UNDER_WAY:
            raise CannotPlay("too_many_under_way")

    def start(self, delivery: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(delivery)
        self._deliveries.add(task)
        task.add_done_callback(self._deliveries.discard)

    async def close(self) -> None:
        """Give up what is under way."""
        for delivery in tuple(self._deliveries):
            delivery.cancel()
        await asyncio.gather(*self._deliveries, return_exceptions=True)
