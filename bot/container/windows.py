"""Short-term memory, put together from the settings.

Invariant: nothing is opened here.
"""

from bot.memory.ports import OutdatedReader
from bot.memory.short_term import ShortTermMemory
from bot.settings import Settings
from bot.storage.redis.connection import open_redis
from bot.storage.redis.turn_window import RedisTurnWindow
from bot.storage.sql.database import Database
from bot.storage.sql.turn_window import SqlTurnWindow


def make_window_cache(settings: Settings) -> RedisTurnWindow | None:
    """None where no Redis is named."""
    memory, url = settings.memory, settings.redis.url
    # What no summary tells of yet has to be in it.
    most = max(memory.short_term_turns, memory.summary_after_turns)
    return RedisTurnWindow(open_redis(url), limit=most) if url else None


def make_window(
    settings: Settings, database: Database, cache: RedisTurnWindow | None, outdated: OutdatedReader
) -> ShortTermMemory:
    memory = settings.memory
    turns = SqlTurnWindow(
        database,
        limit=memory.short_term_turns,
        most_fresh=memory.summary_after_turns,
        has_summaries=memory.summary_after_turns > 0,
    )
    budget, most = memory.short_term_budget_tokens, memory.short_term_turns
    return ShortTermMemory(turns, cache, budget_tokens=budget, most_turns=most, outdated=outdated)
