"""Where WeChat's access tokens are kept when several processes serve one account.

Invariant: without Redis each process asks WeChat for its own, which gives all of them the same.
"""

from bot.settings import Settings
from bot.storage.redis.access_tokens import ForcedAlone, RedisAccessTokens
from bot.storage.redis.connection import open_redis


def shared_tokens(settings: Settings, alone: ForcedAlone) -> RedisAccessTokens | None:
    """None without Redis. `close` it in the end."""
    return RedisAccessTokens(open_redis(settings.redis.url), alone=alone) if settings.redis.url else None
