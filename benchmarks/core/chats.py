"""Memory under 200 chats a second: each chat one search and one durable upsert, without embedder and model.

Invariant: chats begin by the clock, whether or not the ones before are done, so that waiting is measured
and not avoided; the vectors are made beforehand.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.core.trial import (
    MODEL,
    SEED,
    Goal,
    Population,
    Progress,
    SystemClock,
    at_most,
    open_database,
    percentile,
    random_units,
    settle,
    sig,
    zipf_sizes,
)
from benchmarks.report import Figure
from bot.conversation.ports import Vector
from bot.storage.vectors.person_index import LIMIT_BYTES, PersonIndex
from identity.model import Account

TOWN_MEMORIES = 100_000
TOWN_PEOPLE = 2_000
"""Of whom the first has 12,000 memories and the last 6."""
LARGE_TOWNS = 10
RATE = 200
WARM_SECONDS = 10
SECONDS = 20
LAG_PROBE_SECONDS = 0.005
K = 5
EVENLY, BY_MEMORIES = "均匀", "偏重"
"""Who chats: everybody alike, or each as often as they have memories."""


@dataclass(slots=True)
class _Load:
    """Milliseconds of each chat's parts, and of the loop's lateness."""

    searches: list[float] = field(default_factory=list)
    upserts: list[float] = field(default_factory=list)
    lags: list[float] = field(default_factory=list)


async def measure(folder: Path, progress: Progress) -> list[Figure]:
    """One town: 100 k memories."""
    return await _measure(folder, progress, towns=1)


async def measure_large(folder: Path, progress: Progress) -> list[Figure]:
    """Ten such towns: 1 M memories, 2 GB on disk."""
    return await _measure(folder, progress, towns=LARGE_TOWNS)


async def _measure(folder: Path, progress: Progress, *, towns: int) -> list[Figure]:
    sizes = np.tile(zipf_sizes(TOWN_MEMORIES, TOWN_PEOPLE), towns)
    async with open_database(folder) as database:
        population = Population(database)
        people = await _fill(population, sizes, progress)
        await settle(database)
        figures: list[Figure] = []
        for name, weights in ((EVENLY, np.ones(len(sizes))), (BY_MEMORIES, sizes)):
            index = PersonIndex(population.facts, SystemClock(), model_id=lambda: MODEL)
            town = _Town(population, index, people, weights / weights.sum())
            await town.chat(WARM_SECONDS, f"{name}，预热", progress)
            load = await town.chat(SECONDS, name, progress)
            figures += _figures(load, name, int(sizes.sum()), is_large=towns > 1)
    return figures


async def _fill(population: Population, sizes: NDArray[np.int64], progress: Progress) -> list[Account]:
    people: list[Account] = []
    stored, total = 0, int(sizes.sum())
    for number, size in enumerate(sizes.tolist()):
        if number % 100 == 0:
            progress(f"存入记忆 {stored}/{total}")
        people.append(await population.arrive(f"o{number}"))
        await population.remember(people[-1], size)
        stored += size
    return people


class _Town:
    """People who chat."""

    def __init__(
        self,
        population: Population,
        index: PersonIndex,
        people: Sequence[Account],
        shares: NDArray[np.float64],
    ) -> None:
        self._population = population
        self._index = index
        self._people = people
        self._shares = shares
        self._random = np.random.default_rng(SEED + 3)

    async def chat(self, seconds: int, name: str, progress: Progress) -> _Load:
        """RATE chats a second for so long."""
        count = RATE * seconds
        who = self._random.choice(len(self._people), size=count, p=self._shares).tolist()
        vectors = random_units(self._random, count)
        load = _Load()
        probe = asyncio.create_task(_probe(load))
        async with asyncio.TaskGroup() as chats:
            begun = time.perf_counter()
            for number in range(count):
                if number % RATE == 0:
                    progress(f"{name}，{number // RATE}/{seconds} 秒")
                await asyncio.sleep(max(0.0, begun + number / RATE - time.perf_counter()))
                chats.create_task(self._one(self._people[who[number]], vectors[number], load))
        probe.cancel()
        return load

    async def _one(self, account: Account, vector: Vector, load: _Load) -> None:
        scope, facts = account.scope(""), [self._population.new_fact()]
        begun = time.perf_counter()
        await self._index.search(scope, vector, K)
        found = time.perf_counter()
        kept = await self._population.facts.keep(scope, facts, vector[np.newaxis], MODEL, source_turn=None)
        load.upserts.append((time.perf_counter() - found) * 1000)
        load.searches.append((found - begun) * 1000)
        assert kept


async def _probe(load: _Load) -> None:
    while True:
        begun = time.perf_counter()
        await asyncio.sleep(LAG_PROBE_SECONDS)
        load.lags.append((time.perf_counter() - begun - LAG_PROBE_SECONDS) * 1000)


def _figures(load: _Load, who: str, memories: int, *, is_large: bool) -> list[Figure]:
    is_uniform = who == EVENLY
    what = (
        f"真实：SQLite（FULL）、PersonIndex（{LIMIT_BYTES >> 20} MiB）；没有向量模型和对话模型；"
        f"{memories} 条记忆，每秒 {RATE} 轮、各一次查找和一次持久写入，{SECONDS} 秒；"
        f"{'每人同样常来' if is_uniform else '记忆多的人来得多'}"
    )
    mean = float(np.mean(load.searches))
    slow, upsert, lag = (percentile(each, 99) for each in (load.searches, load.upserts, load.lags))
    # A million weighted by memories is 1 GB of hot vectors before a cache of an eighth: shown, not promised.
    is_promised = is_uniform or not is_large
    rows: list[tuple[str, float, Goal | None]] = [
        ("查找平均", mean, None if is_large else at_most(mean, 2)),
        ("查找 p99", slow, at_most(slow, 10) if is_promised else None),
        ("写入 p99", upsert, at_most(upsert, 40 if is_large else 15) if is_promised else None),
        ("循环迟到 p99", lag, at_most(lag, 5) if is_promised else None),
    ]
    return [
        Figure(
            measure=f"{round(memories / 10_000)} 万条{who}：{name}",
            value=sig(value),
            unit="毫秒",
            goal=goal.words if goal else "",
            holds=goal.holds if goal else None,
            includes=what,
        )
        for name, value, goal in rows
    ]
