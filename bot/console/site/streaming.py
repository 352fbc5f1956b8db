"""Server-sent events (WHATWG HTML §9.2).

Invariant: a stream ends with its reader, with their session, with what it tells, and with the server; what it tells
is then closed.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import TypeAlias

from starlette.responses import Response, StreamingResponse

from bot.console.site.shields import SHIELDS

HEARTBEAT_SECONDS = 15.0
"""A comment: a reader that has gone is found out, and so is a session that has ended."""

Events: TypeAlias = AsyncIterator[tuple[str, str]]


class Stream:
    """All streams of a site."""

    def __init__(self) -> None:
        self._closing = asyncio.Event()

    def close(self) -> None:
        self._closing.set()

    def response(self, events: Events, may_see: Callable[[], bool]) -> Response:
        """`may_see`: asked before each event and each heartbeat whether the reader still may."""
        headers = SHIELDS | {"X-Accel-Buffering": "no"}
        return StreamingResponse(
            self._lines(events, may_see), media_type="text/event-stream", headers=headers
        )

    async def _lines(self, events: Events, may_see: Callable[[], bool]) -> AsyncIterator[str]:
        closing = asyncio.ensure_future(self._closing.wait())
        following = asyncio.ensure_future(_next(events))
        try:
            while True:
                waits = {following, closing}
                done, _ = await asyncio.wait(
                    waits, timeout=HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                if closing in done or not may_see():
                    return
                if following not in done:
                    yield ": \n\n"
                    continue
                if (event := following.result()) is None:
                    return
                yield as_event(*event)
                following = asyncio.ensure_future(_next(events))
        finally:
            for task in (closing, following):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
            close = getattr(events, "aclose", None)
            if close is not None:
                await close()


async def _next(events: Events) -> tuple[str, str] | None:
    return await anext(events, None)


def as_event(name: str, content: str) -> str:
    """A carriage return would end a line too."""
    lines = content.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "".join((f"event: {name}\n", *(f"data: {line}\n" for line in lines), "\n"))
