"""What a Redis-compatible server keeps on disk is written anew, so that a deleted key is in none of its files.

Invariant: asked for only where the server keeps files at all; ours keeps none (compose.yaml), an operator's own may.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from bot.conversation.errors import StoreUnavailable
from bot.storage.redis.connection import answered

TRIES = 20
PAUSE_SECONDS = 0.1
"""Between tries: a rewriting that began before the deletion holds the key still."""


async def renew_files(redis: Redis) -> None:
    """Begun when it returns; the server finishes it by itself. Raises StoreUnavailable."""
    server = cast(Any, redis)
    state: dict[str, Any] = await answered(server.info("persistence"))
    if state.get("aof_enabled"):
        await _begin(server.bgrewriteaof)
    if await _saves(server):
        await _begin(lambda: server.bgsave(schedule=True))


async def _saves(server: Any) -> bool:
    settings: dict[str, str] = await answered(server.config_get("save"))
    return bool(settings.get("save"))


async def _begin(command: Callable[[], Awaitable[object]]) -> None:
    for _ in range(TRIES):
        try:
            await answered(command())
        except StoreUnavailable as error:
            if not isinstance(error.__cause__, ResponseError) or "in progress" not in str(error.__cause__):
                raise
            await asyncio.sleep(PAUSE_SECONDS)
        else:
            return
    raise StoreUnavailable("Redis: its files are being rewritten all the time")
