"""Recall under load: 200 chats a second, each with the whole ranker and one durable upsert, over 100 k and 1 M memories.

A chat reads what the message points at (entities, time), recalls by vectors, words, answer forms and time window, fuses,
fits the result into the budget, and keeps one new memory. Beside it, in the same run and at the same rate: a bare loop
over one FAISS index a person, which searches and adds in memory, and does nothing else.

Invariant: chats begin by the clock, whether or not those before are done, so that waiting is measured and not avoided.
The vectors are made beforehand and stand for no text; memories and questions are those of the blind lists.
"""

import itertools
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.core.trial import (
    MODEL,
    Goal,
    Population,
    at_most,
    open_database,
    percentile,
    settle,
    sig,
    zipf_sizes,
)
from benchmarks.memory.load_town import RATE, BareTown, Load, Town, Words, read_words, told_as, vectors_of
from benchmarks.report import Figure
from bot.container.garbage import spare_what_stays
from bot.memory.recall import CACHED_BYTES
from bot.storage.vectors.person_index import LIMIT_BYTES
from identity.model import Account

TOWN_MEMORIES = 100_000
TOWN_PEOPLE = 2_000
"""Of whom the first has 12,000 memories and the last 6."""
LARGE_TOWNS = 10
WARM_SECONDS = 10
SECONDS = 20
EVENLY, BY_MEMORIES = "均匀", "偏重"
"""Who chats: everybody alike, or each as often as they have memories."""
BARE = "裸的每人一个 FAISS"
TELLING_DAYS = 300
BATCH = 500


async def measure(lists: Path, folder: Path, say: Callable[[str], None]) -> list[Figure]:
    """One town: 100 k memories. Raises FileNotFoundError."""
    return await _measure(lists, folder, say, towns=1)


async def measure_large(lists: Path, folder: Path, say: Callable[[str], None]) -> list[Figure]:
    """Ten such towns: 1 M memories, about 4 GB on disk. Raises FileNotFoundError."""
    return await _measure(lists, folder, say, towns=LARGE_TOWNS)


async def _measure(lists: Path, folder: Path, say: Callable[[str], None], *, towns: int) -> list[Figure]:
    words = read_words(lists)
    sizes = np.tile(zipf_sizes(TOWN_MEMORIES, TOWN_PEOPLE), towns)
    neighbours = os.getloadavg()[0]
    async with open_database(folder) as database:
        people = await _fill(Population(database), sizes, words, say)
        await settle(database)
        spare_what_stays()  # as the bot does when it has started
        figures: list[Figure] = []
        numbers = itertools.count(int(sizes.sum()))
        for name, weights in ((EVENLY, np.ones(len(sizes))), (BY_MEMORIES, sizes)):
            town = Town(database, people, weights / weights.sum(), words, numbers)
            await town.chat(WARM_SECONDS, f"{name}，预热", say)
            begun = time.process_time()
            load = await town.chat(SECONDS, name, say)
            load.cpu_seconds = time.process_time() - begun
            bare = BareTown(sizes, town.shares)
            await bare.chat(load, SECONDS, say)
            figures += _figures(load, name, int(sizes.sum()), neighbours, is_large=towns > 1)
    return figures


async def _fill(
    population: Population, sizes: NDArray[np.int64], words: Words, say: Callable[[str], None]
) -> list[Account]:
    people: list[Account] = []
    stored, total = 0, int(sizes.sum())
    began = datetime.now(UTC) - timedelta(days=TELLING_DAYS)
    for person, size in enumerate(sizes.tolist()):
        if person % 100 == 0:
            say(f"存入记忆 {stored}/{total}")
        account = await population.arrive(f"o{person}")
        people.append(account)
        step = timedelta(days=TELLING_DAYS) / size
        matrix = vectors_of(person, size)
        facts = [told_as(words.memory(stored + row), began + row * step) for row in range(size)]
        for start in range(0, size, BATCH):
            some, part = facts[start : start + BATCH], matrix[start : start + BATCH]
            await population.facts.keep(account.scope(""), some, part, MODEL, source_turn=None)
        stored += size
    return people


def _figures(load: Load, who: str, memories: int, neighbours: float, *, is_large: bool) -> list[Figure]:
    is_uniform = who == EVENLY
    done = len(load.searches)
    what = (
        f"{memories} 条记忆，每秒 {RATE} 轮、{SECONDS} 秒，{'每人同样常来' if is_uniform else '记忆多的人来得多'}；"
        f"真实：指代与时间、向量、词、答案的样子、时间窗、融合、预算，SQLite（FULL），PersonIndex（{LIMIT_BYTES >> 20} MiB），"
        f"词的索引 {CACHED_BYTES >> 20} MiB；没有向量模型、对话模型和从前的对话；{done} 轮里想起 {load.recalled} 条，"
        f"{load.left} 轮没有完成；开始前机器负载 {neighbours:.2f}；对照：{BARE}，全在内存，只查找和添加，不持久"
    )
    slow, upsert, lag = (percentile(each, 99) for each in (load.searches, load.upserts, load.lags))
    mean = float(np.mean(load.searches))
    # A million weighted by memories is 2 GB of hot vectors before a cache of a sixteenth: shown, not promised.
    is_promised = is_uniform or not is_large
    bare_slow, bare_upsert = percentile(load.bare_searches, 99), percentile(load.bare_upserts, 99)
    rows: list[tuple[str, float, Goal | None, float | None]] = [
        ("回忆平均", mean, None if is_large else at_most(mean, 2), float(np.mean(load.bare_searches))),
        ("回忆 p50", percentile(load.searches, 50), None, percentile(load.bare_searches, 50)),
        ("回忆 p99", slow, at_most(slow, 10) if is_promised else None, bare_slow),
        ("写入 p50", percentile(load.upserts, 50), None, percentile(load.bare_upserts, 50)),
        ("写入 p99", upsert, at_most(upsert, 40 if is_large else 15) if is_promised else None, bare_upsert),
        ("每轮的处理器时间", load.cpu_seconds * 1000 / (RATE * SECONDS), None, None),
        ("循环迟到 p99", lag, at_most(lag, 5) if is_promised else None, None),
    ]
    return [
        Figure(
            measure=f"{round(memories / 10_000)} 万条{who}：{name}",
            value=sig(value),
            unit="毫秒",
            goal=goal.words if goal else "",
            holds=goal.holds and not load.left if goal else None,
            peer={BARE: sig(bare)} if bare is not None else None,
            includes=what,
        )
        for name, value, goal, bare in rows
    ]
