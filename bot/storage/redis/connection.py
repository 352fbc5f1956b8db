"""The one way to a Redis-compatible server: quick or not at all.

Invariant: a hung server costs `DEADLINE_SECONDS` per call, connecting included, and raises StoreUnavailable.
"""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from bot.conversation.errors import ConfigurationError, StoreUnavailable

SOCKET_SECONDS = 0.3
"""For connecting, and for each answer. With its default retries the client hangs for 6 to 8 s."""
DEADLINE_SECONDS = 0.4
"""For connecting and answering together: the promise is 0.5 s of added latency (SAFETY)."""

Answer = TypeVar("Answer")


def open_redis(url: str) -> Redis:
    """A client that connects at its first call. Close it with `aclose()`.

    Raises ConfigurationError when `url` is no Redis URL.
    """
    try:
        return Redis.from_url(  # pyright: ignore[reportUnknownMemberType]
            url,
            socket_timeout=SOCKET_SECONDS,
            socket_connect_timeout=SOCKET_SECONDS,
            retry=Retry(NoBackoff(), 0),
            # Every Redis-compatible server speaks RESP 2, and it needs no HELLO first.
            protocol=2,
        )
    except ValueError as error:
        raise ConfigurationError(
            "REDIS__URL", "不是有效的 Redis 地址", "写成 redis://:密码@主机:6379/0，或留空不用 Redis"
        ) from error


async def answered(command: Awaitable[Answer]) -> Answer:
    """The answer to `command`, by the deadline.

    Raises StoreUnavailable for anything Redis says or fails to say.
    """
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            return await command
    except (RedisError, OSError, TimeoutError) as error:
        raise StoreUnavailable(f"Redis: {type(error).__name__}") from error
