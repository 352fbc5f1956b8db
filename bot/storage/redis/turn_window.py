"""Copies of the short-term windows in Redis: one sorted set of turns per (person, place, epoch), and first in it, with
the score 0 that no turn has, the summaries of what was before, also where there are none: `APPEND` keeps the first member.

Invariant: each change is one call; a window is only ever appended to while it exists, so a window that
vanished is never taken for one that has a single turn. Summaries come and go with the whole window.
"""

import json
from collections.abc import Sequence
from typing import Any, cast

from redis.asyncio import Redis
from redis.commands.core import AsyncScript

from bot.conversation.milliseconds import from_ms, to_ms
from bot.conversation.scope import PersonId, Scope
from bot.conversation.turn import Turn
from bot.memory.summary import RecentTalk, Summary
from bot.storage.redis.connection import answered
from bot.storage.redis.files import renew_files

LIFE_SECONDS = 24 * 3600
"""A conversation that rested for a day starts from SQL. Also the longest that dropped words can linger
if Redis was away at the time of the dropping."""

# KEYS: window, the person's list of windows. ARGV: turn id, turn, limit, life in seconds.
# A window that isn't there has no life to lengthen. Sorted by turn id: late arrivals fall into place, and a repeated id
# replaces itself.
APPEND = """
if redis.call('EXPIRE', KEYS[1], ARGV[4]) == 0 then return 0 end
redis.call('ZREMRANGEBYSCORE', KEYS[1], ARGV[1], ARGV[1])
redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZREMRANGEBYRANK', KEYS[1], 1, -(tonumber(ARGV[3]) + 1))
redis.call('EXPIRE', KEYS[2], ARGV[4])
return 1
"""
# KEYS: window, the person's list of windows. ARGV: life in seconds, then score and member by turns.
REFILL = """
redis.call('DEL', KEYS[1])
for i = 2, #ARGV, 2 do redis.call('ZADD', KEYS[1], ARGV[i], ARGV[i + 1]) end
if #ARGV > 1 then
  redis.call('EXPIRE', KEYS[1], ARGV[1])
  redis.call('SADD', KEYS[2], KEYS[1])
  redis.call('EXPIRE', KEYS[2], ARGV[1])
end
return #ARGV
"""


class RedisTurnWindow:
    """`WindowCache` on any Redis-compatible server."""

    def __init__(self, redis: Redis, *, limit: int, life_seconds: int = LIFE_SECONDS) -> None:
        self._redis = redis
        # By its hash: a script sent whole is hashed by the server each time, a tenth of the call. One that has
        # forgotten it (it was started anew) is given it again.
        self._append: AsyncScript = redis.register_script(APPEND)
        self._refill: AsyncScript = redis.register_script(REFILL)
        self._limit = limit
        self._life_seconds = life_seconds

    async def recent(self, scope: Scope) -> RecentTalk:
        asked = self._redis.zrange(_window_key(scope), 0, -1)  # pyright: ignore[reportUnknownMemberType]
        try:
            return _load_talk([json.loads(member) for member in cast(list[bytes], await answered(asked))])
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            # Not ours, or of another version: as good as no copy.
            return RecentTalk()

    async def append(self, scope: Scope, turn: Turn) -> bool:
        existed = await answered(
            self._append(
                keys=(_window_key(scope), _list_key(scope.person)),
                args=(turn.id, _dump_turn(turn), self._limit, self._life_seconds),
            )
        )
        return bool(existed)

    async def refill(self, scope: Scope, talk: RecentTalk) -> None:
        members: list[int | str] = [0, _dump_summaries(talk)] if talk.turns else []
        for turn in talk.turns[-self._limit :]:
            members += [turn.id, _dump_turn(turn)]
        keys = (_window_key(scope), _list_key(scope.person))
        await answered(self._refill(keys=keys, args=(self._life_seconds, *members)))

    async def drop(self, scope: Scope, *, for_good: bool = False) -> None:
        listed = _list_key(scope.person)
        windows = cast(set[bytes], await answered(self._redis.smembers(listed)))
        await answered(self._redis.delete(_window_key(scope), listed, *windows))
        if for_good:
            await renew_files(self._redis)

    async def ping(self) -> None:
        """Raises StoreUnavailable when the server does not answer."""
        await answered(self._redis.ping())  # pyright: ignore[reportUnknownMemberType]

    async def close(self) -> None:
        await self._redis.aclose()


def _window_key(scope: Scope) -> str:
    return f"jide:talk:{scope.person}:{scope.place}:{scope.epoch}"


def _list_key(person: PersonId) -> str:
    return f"jide:windows:{person}"


def _dump_turn(turn: Turn) -> str:
    """JSON in ASCII: a lone surrogate has no UTF-8 form."""
    return json.dumps(
        {"id": turn.id, "question": turn.question, "answer": turn.answer, "at_ms": to_ms(turn.at)}
    )


def _dump_summaries(talk: RecentTalk) -> str:
    told = [
        {"text": each.text, "from": each.from_turn, "to": each.to_turn, "at_ms": to_ms(each.at)}
        for each in talk.summaries
    ]
    return json.dumps({"summaries": told, "condensed": sorted(talk.condensed)})


def _load_talk(members: Sequence[dict[str, Any]]) -> RecentTalk:
    """`members`: by their scores."""
    if not members:
        return RecentTalk()
    first, *turns = members
    return RecentTalk(
        turns=tuple(
            Turn(
                id=each["id"],
                question=each["question"],
                answer=each["answer"],
                at=from_ms(each["at_ms"]),
            )
            for each in turns
        ),
        summaries=tuple(
            Summary(
                text=each["text"],
                from_turn=each["from"],
                to_turn=each["to"],
                at=from_ms(each["at_ms"]),
            )
            for each in first["summaries"]
        ),
        condensed=frozenset(first["condensed"]),
    )
