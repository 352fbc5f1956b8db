"""The access tokens of official accounts in Redis, so that several processes share one.

Invariant: every key has a TTL and no method raises; with Redis away or hanging a process does as well as
one alone: it asks WeChat itself, which gives all of them the same token.

The token lies there in plain: whoever reads this Redis could read conversations, too.
"""

import json
import math
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar, cast

from redis.asyncio import Redis

from bot.conversation.errors import StoreUnavailable
from bot.storage.redis.connection import answered

LEASE_SECONDS = 10
"""Longer than a call of the API may take with its fetching; a process that died is waited for no longer."""
PAUSE_SECONDS = 5.0
"""After a failure everyone goes without Redis for a while: one hang costs one caller 0.4 s, not each."""
FORCED_PAUSE_SECONDS = 30
FORCED_A_DAY = 20
"""WeChat's limits for forced refreshes of a stable token."""
DAY_SECONDS = 24 * 3600

# KEYS: lease. ARGV: its owner.
RELEASE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""
# KEYS: times of forced refreshes, newest first. ARGV: now, least pause, a day, most of them a day.
# A time ahead of now was written under a clock since set back: it says nothing.
FORCE = """
local recent = 0
for _, at in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local age = tonumber(ARGV[1]) - tonumber(at)
  if age >= 0 and age < tonumber(ARGV[2]) then return 0 end
  if age >= 0 and age < tonumber(ARGV[3]) then recent = recent + 1 end
end
if recent >= tonumber(ARGV[4]) then return 0 end
redis.call('LPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], 0, ARGV[4] - 1)
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
"""

Answer = TypeVar("Answer")


class ForcedAlone(Protocol):
    """The count of forced refreshes of this process, for the time without Redis."""

    async def may_force(self, app_id: str) -> bool:
        """Whether one more is allowed; counts it if so."""
        ...


class RedisAccessTokens:
    """The WeChat adapter's `TokenStore` on any Redis-compatible server."""

    def __init__(
        self,
        redis: Redis,
        *,
        alone: ForcedAlone,
        now: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`now`: Unix seconds."""
        self._redis = redis
        self._alone = alone
        self._now = now
        self._monotonic = monotonic
        self._away_until = -math.inf
        self._owned: dict[str, str] = {}
        """By app_id: the word that this process's lease is held under."""

    async def load(self, app_id: str) -> tuple[str, float] | None:
        """The token and its end in Unix seconds. None when there is none, or nobody to ask."""
        stored = cast("bytes | None", await self._tried(lambda: self._redis.get(_token_key(app_id)), None))
        return _load_token(stored) if stored else None

    async def save(self, app_id: str, value: str, expires_at: float) -> None:
        life_ms = int((expires_at - self._now()) * 1000)
        if life_ms > 0:
            stored = json.dumps({"token": value, "expires_at": expires_at})
            await self._tried(lambda: self._redis.set(_token_key(app_id), stored, px=life_ms), None)

    async def lease(self, app_id: str) -> bool:
        """Whether this process is the one to fetch. Granted while Redis is away."""
        owner = secrets.token_hex(16)
        key = _lease_key(app_id)
        granted = await self._tried(lambda: self._redis.set(key, owner, nx=True, ex=LEASE_SECONDS), True)
        if granted:
            self._owned[app_id] = owner
        return bool(granted)

    async def release(self, app_id: str) -> None:
        owner = self._owned.pop(app_id, None)
        if owner is not None:
            await self._tried(lambda: self._redis.eval(RELEASE, 1, _lease_key(app_id), owner), None)

    async def may_force(self, app_id: str) -> bool:
        """Whether WeChat would take a forced refresh now; counts it, with Redis and for this process."""
        limits = (int(self._now()), FORCED_PAUSE_SECONDS, DAY_SECONDS, FORCED_A_DAY)
        shared = await self._tried(lambda: self._redis.eval(FORCE, 1, _forced_key(app_id), *limits), 1)
        return bool(shared) and await self._alone.may_force(app_id)

    async def close(self) -> None:
        await self._redis.aclose()

    async def _tried(self, command: Callable[[], Awaitable[Answer]], otherwise: Answer) -> Answer:
        """Redis's answer, or `otherwise` when it gives none in time or gave none a moment ago."""
        if self._monotonic() < self._away_until:
            return otherwise
        try:
            return await answered(command())
        except StoreUnavailable:
            self._away_until = self._monotonic() + PAUSE_SECONDS
            return otherwise


def _token_key(app_id: str) -> str:
    return f"jide:wechat:token:{app_id}"


def _lease_key(app_id: str) -> str:
    return f"jide:wechat:token-lease:{app_id}"


def _forced_key(app_id: str) -> str:
    return f"jide:wechat:token-forced:{app_id}"


def _load_token(stored: bytes) -> tuple[str, float] | None:
    try:
        fields = json.loads(stored)
        value, expires_at = fields["token"], fields["expires_at"]
    except (ValueError, KeyError, TypeError):
        # Not ours, or of another version: as good as none.
        return None
    return (
        (value, float(expires_at)) if isinstance(value, str) and isinstance(expires_at, int | float) else None
    )
