"""Finding the nearest memories of one person: their own index beside one big one for everybody.

Invariant: what is timed beside the peer is the search alone, on both sides, with vectors in memory; the
reading of the version, which a big index has no equal of, is a row of its own.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from benchmarks.core.trial import (
    DIMENSION,
    MODEL,
    SEED,
    Population,
    Progress,
    SystemClock,
    at_least,
    at_most,
    median_ratio,
    open_database,
    percentile,
    random_units,
    sig,
)
from benchmarks.report import Figure
from bot.conversation.ports import Matrix, Vector
from bot.conversation.scope import Scope
from bot.storage.vectors.flat import FaissFlat
from bot.storage.vectors.person_index import PersonIndex

GOAL = 100.0
MEMORIES = 1_000
ALL_MEMORIES = 100_000
NEIGHBOURS = 4
"""Others in the same store, with as many memories: what could leak."""
K = 5
POST_FILTER_K = 200
"""What is asked of a big index so that some of the person's own are left after filtering."""
ROUNDS = 9
OURS_A_ROUND = 200
PEERS_A_ROUND = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class _Person:
    scope: Scope
    ids: NDArray[np.int64]
    matrix: Matrix

    def exact(self, query: Vector) -> set[int]:
        """The K nearest, by numpy alone."""
        return set(self.ids[np.argsort(-(self.matrix @ query), kind="stable")[:K]].tolist())


@dataclass(slots=True)
class _Timed:
    """Seconds a search, of each round."""

    alone: list[float]
    whole: list[float]
    big: list[float]


async def measure(folder: Path, progress: Progress) -> list[Figure]:
    progress("存入记忆")
    async with open_database(folder) as database:
        population = Population(database)
        people = [await _settle_in(population, f"o{number}") for number in range(1 + NEIGHBOURS)]
        person = people[0]
        progress("建立大索引")
        big, big_ids = _big_index(people)
        queries = random_units(np.random.default_rng(SEED + 1), 100)
        index = PersonIndex(population.facts, SystemClock(), model_id=lambda: MODEL)
        alone = FaissFlat(person.matrix)
        timed = _Timed([], [], [])
        for number in range(ROUNDS):
            progress(f"第 {number + 1}/{ROUNDS} 轮")
            timed.alone.append(_seconds(lambda query: alone.search(query, K), queries, OURS_A_ROUND))
            begun = time.perf_counter()
            for turn in range(OURS_A_ROUND):
                await index.search(person.scope, queries[turn % len(queries)], K)
            timed.whole.append((time.perf_counter() - begun) / OURS_A_ROUND)
            timed.big.append(_seconds(lambda query: _post_filter(big, query), queries, PEERS_A_ROUND))
        progress("核对结果")
        found = [(await index.search(person.scope, query, K)).ids.tolist() for query in queries]
    peer = [big_ids[_post_filter(big, query)] for query in queries]
    return [*_speed(timed), *_truth(person, queries, found, peer)]


async def _settle_in(population: Population, name: str) -> _Person:
    account = await population.arrive(name)
    ids, matrix = await population.remember(account, MEMORIES)
    return _Person(scope=account.scope(""), ids=np.array(ids), matrix=matrix)


def _big_index(people: Sequence[_Person]) -> tuple[faiss.IndexFlatIP, NDArray[np.int64]]:
    """Everybody's memories in one index: these people's and, up to ALL_MEMORIES, strangers'."""
    known = np.concatenate([each.matrix for each in people])
    strangers = random_units(np.random.default_rng(SEED + 2), ALL_MEMORIES - len(known))
    index = faiss.IndexFlatIP(DIMENSION)
    index.add(np.concatenate([known, strangers]))  # pyright: ignore[reportCallIssue]
    ids = np.concatenate([*(each.ids for each in people), np.full(len(strangers), -1)])
    return index, ids


def _post_filter(index: faiss.IndexFlatIP, query: Vector) -> NDArray[np.int64]:
    """The rows of the nearest, as yet of everybody. One thread, as ours."""
    faiss.omp_set_num_threads(1)
    return index.search(query[np.newaxis, :], POST_FILTER_K)[1][0]  # pyright: ignore[reportCallIssue]


def _seconds(search, queries: Matrix, count: int) -> float:
    begun = time.perf_counter()
    for turn in range(count):
        search(queries[turn % len(queries)])
    return (time.perf_counter() - begun) / count


def _speed(timed: _Timed) -> list[Figure]:
    big = f"一个 IndexFlatIP，{ALL_MEMORIES} 条、{DIMENSION} 维、不过滤，取 {POST_FILTER_K} 条"
    alone = median_ratio(timed.big, timed.alone)
    goal = at_least(alone, GOAL)
    name = "大索引"
    big_ms = sig(percentile(timed.big, 50) * 1000)
    return [
        Figure(
            measure="一人的查找，比大索引快",
            value=sig(alone),
            unit="倍",
            goal=goal.words,
            holds=goal.holds,
            includes=f"一人 {MEMORIES} 条；双方都只算查找，向量已在内存，单线程；对照：{big}",
        ),
        Figure(
            measure="查找本身",
            value=sig(percentile(timed.alone, 50) * 1000),
            unit="毫秒",
            peer={name: big_ms},
            includes="FaissFlat.search",
        ),
        Figure(
            measure="查找连同核对版本",
            value=sig(percentile(timed.whole, 50) * 1000),
            unit="毫秒",
            peer={name: big_ms},
            includes="PersonIndex.search：每次先读一次版本，忘掉的才不会再出现；大索引没有这一步",
        ),
        Figure(
            measure="连同核对版本，比大索引快",
            value=sig(median_ratio(timed.big, timed.whole)),
            unit="倍",
            includes="同上",
        ),
    ]


def _truth(
    person: _Person, queries: Matrix, found: Sequence[Sequence[int]], peer: Sequence[NDArray[np.int64]]
) -> list[Figure]:
    own = set(person.ids.tolist())
    exact = [person.exact(query) for query in queries]
    overlap = _overlap(exact, [set(each) for each in found])
    peer_overlap = _overlap(exact, [set([row for row in each.tolist() if row in own][:K]) for each in peer])
    leaks = sum(fact not in own for each in found for fact in each)
    peer_leaks = sum(fact not in own for each in peer for fact in each[:K].tolist())
    overlap_goal, leak_goal = at_least(overlap, 1.0), at_most(leaks, 0)
    return [
        Figure(
            measure=f"前 {K} 条与穷举一致",
            value=sig(overlap),
            unit="比例",
            goal=overlap_goal.words,
            holds=overlap_goal.holds,
            peer={"大索引，事后过滤": sig(peer_overlap)},
            includes=f"{len(queries)} 个查询，穷举用 numpy；对照取 {POST_FILTER_K} 条再留下这个人的",
        ),
        Figure(
            measure="别人的记忆",
            value=leaks,
            unit="条",
            goal=leak_goal.words,
            holds=leak_goal.holds,
            peer={"大索引，未过滤": peer_leaks},
            includes=f"{len(queries)} 个查询的前 {K} 条；库里另有 {NEIGHBOURS} 人各 {MEMORIES} 条",
        ),
    ]


def _overlap(exact: Sequence[set[int]], found: Sequence[set[int]]) -> float:
    shared = sum(len(one & other) for one, other in zip(exact, found, strict=True))
    return shared / sum(map(len, exact))
