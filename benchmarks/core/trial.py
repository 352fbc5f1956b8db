"""What every measure needs: a place to store, people with memories, rounds in turn, goals.

Invariant: vectors are synthetic and come from a fixed seed, so every run has the same input.
"""

import asyncio
import sqlite3
import statistics
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bot.container.channels import SystemClock
from bot.conversation.message import AccountKey
from bot.conversation.ports import Matrix
from bot.memory.fact import FactKind, NewFact
from bot.storage.sql.accounts import SqlAccounts
from bot.storage.sql.database import Database
from bot.storage.sql.facts import SqlFacts
from identity.model import Account

DIMENSION = 512
MODEL = "synthetic"
SEED = 20260301
START = datetime(2026, 1, 1, tzinfo=UTC)
BATCH = 500
"""Facts in one transaction while a store is filled."""

Progress = Callable[[str], None]
"""Told what is being done, for the bar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A goal's words, and whether it holds."""

    words: str
    holds: bool


def at_most(value: float, limit: float) -> Goal:
    return Goal(words=f"≤ {limit:g}", holds=value <= limit)


def at_least(value: float, limit: float) -> Goal:
    return Goal(words=f"≥ {limit:g}", holds=value >= limit)


@asynccontextmanager
async def open_database(folder: Path) -> AsyncGenerator[Database]:
    database = Database(folder / "jide.db")
    await database.open()
    try:
        yield database
    finally:
        await database.close()


def percentile(values: Sequence[float], percent: float) -> float:
    return float(np.percentile(np.asarray(values), percent))


def median_ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """The median of each round's own ratio: what else the machine did hits both sides of a round."""
    return statistics.median(one / other for one, other in zip(above, below, strict=True))


def sig(value: float) -> float:
    """Three significant digits: more would be noise."""
    return float(f"{value:.3g}")


def random_units(random: np.random.Generator, count: int) -> Matrix:
    """`(count, DIMENSION)` float32, each row L2-normalised."""
    rows = random.standard_normal((count, DIMENSION), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def zipf_sizes(total: int, people: int) -> NDArray[np.int64]:
    """`(people,)`: memories of each, the n-th person having one n-th of the first's; about `total` in all."""
    weights = 1.0 / np.arange(1, people + 1)
    return np.maximum(1, np.round(weights * total / weights.sum())).astype(np.int64)


class Population:
    """People in a store, through the store's own doors."""

    def __init__(self, database: Database) -> None:
        clock = SystemClock()
        self.facts = SqlFacts(database, clock)
        self._accounts = SqlAccounts(database, clock)
        self._random = np.random.default_rng(SEED)
        self._count = 0

    async def arrive(self, name: str) -> Account:
        key = AccountKey(channel="wechat", app_id="wx0", openid=name)
        return await self._accounts.create_account(key, "")

    async def remember(self, account: Account, count: int) -> tuple[list[int], Matrix]:
        """Give a person `count` memories: their ids and vectors, in order."""
        matrix = random_units(self._random, count)
        ids: list[int] = []
        for start in range(0, count, BATCH):
            part = matrix[start : start + BATCH]
            facts = [self.new_fact() for _ in part]
            ids += await self.facts.keep(account.scope(""), facts, part, MODEL, source_turn=None)
        return ids, matrix

    def new_fact(self) -> NewFact:
        self._count += 1
        return NewFact(
            kind=FactKind.EVENT,
            text=f"第 {self._count} 件事",
            importance=0.5,
            said_at=START + timedelta(seconds=self._count),
        )


async def settle(database: Database) -> None:
    """Fold the log into the file, so that filling a store doesn't burden what is measured after it."""

    def fold(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    await database.write(lambda _: None)
    await asyncio.to_thread(_on_own_connection, database.path, fold)


def _on_own_connection(path: Path, work: Callable[[sqlite3.Connection], None]) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        work(connection)
    finally:
        connection.close()
