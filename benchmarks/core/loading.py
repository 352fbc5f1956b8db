"""Loading a person's vectors from SQLite: packed segments beside one row a vector.

Invariant: both are read by the loop's own connection, in one snapshot each, from one file, into ids, times and one matrix;
the memories of many people came in turn, as they do in life.
"""

import sqlite3
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.core.trial import (
    DIMENSION,
    MODEL,
    Population,
    Progress,
    at_least,
    median_ratio,
    open_database,
    percentile,
    settle,
    sig,
)
from benchmarks.report import Figure
from bot.memory.ports import VectorSheet
from bot.storage.sql import segments
from bot.storage.sql.segments import PackedRows
from identity.model import Account

GOAL = 4.0
MEMORIES = 1_000
PEOPLE = 100
ROUNDS = 5
_ROW_TABLE = (
    "CREATE TABLE peer_vector (id INTEGER PRIMARY KEY, shelf_id INTEGER NOT NULL, said_at INTEGER NOT NULL,"
    " vec BLOB NOT NULL)",
    "CREATE INDEX peer_vector_shelf ON peer_vector (shelf_id)",
)


async def measure(folder: Path, progress: Progress) -> list[Figure]:
    """Milliseconds to load 1,000 vectors, both ways, person by person."""
    async with open_database(folder) as database:
        progress("存入记忆")
        population = Population(database)
        people = [await population.arrive(f"o{number}") for number in range(PEOPLE)]
        for each in people:
            await population.remember(each, MEMORIES)
        progress("另存为一条一行")
        shelves = await database.write(_copy_into_rows)
        await settle(database)
        ours: list[float] = []
        rows: list[float] = []
        for number in range(ROUNDS):
            progress(f"第 {number + 1}/{ROUNDS} 轮")
            ours.append(await _round([partial(_sheet, population, each) for each in people]))
            rows.append(
                await _round(
                    [partial(database.glance, partial(_load_rows, shelf=shelf)) for shelf in shelves]
                )
            )
        for account, shelf in zip(people, shelves, strict=True):
            sheet = await _sheet(population, account)
            peer = await database.glance(partial(_load_rows, shelf=shelf))
            assert (peer.fact_ids == sheet.fact_ids).all() and (peer.matrix == sheet.matrix).all()
    return _figures(ours, rows)


async def _round(loads: Sequence[Callable[[], Awaitable[object]]]) -> float:
    """Milliseconds of one load, the median over everybody. Ours and the peer's don't alternate call by
    call: what one gives back to the system the other would have to fault in."""
    taken: list[float] = []
    for load in loads:
        begun = time.perf_counter()
        await load()
        taken.append((time.perf_counter() - begun) * 1000)
    return percentile(taken, 50)


async def _sheet(population: Population, account: Account) -> VectorSheet:
    return await population.facts.vector_sheet(account.scope(""), MODEL, DIMENSION)


def _figures(ours: Sequence[float], rows: Sequence[float]) -> list[Figure]:
    times = median_ratio(rows, ours)
    goal = at_least(times, GOAL)
    what = (
        f"{MEMORIES} 条、{DIMENSION} 维，从 SQLite 读成编号、时间和矩阵；同一个读连接、各一个快照，都不经过线程；"
        f"{PEOPLE} 个人的记忆交错存入；对照每条向量一行"
    )
    return [
        Figure(
            measure="读入向量，比一条一行快",
            value=sig(times),
            unit="倍",
            goal=goal.words,
            holds=goal.holds,
            includes=f"{what}；我们这边还核对版本和到期",
        ),
        Figure(
            measure="读入一人的向量",
            value=sig(percentile(ours, 50)),
            unit="毫秒",
            peer={"一条一行": sig(percentile(rows, 50))},
            includes="SqlFacts.vector_sheet，中位数",
        ),
    ]


def _load_rows(connection: sqlite3.Connection, *, shelf: int) -> PackedRows:
    rows = connection.execute(
        "SELECT id, said_at, vec FROM peer_vector WHERE shelf_id = ? ORDER BY id", (shelf,)
    ).fetchall()
    return PackedRows(
        fact_ids=np.array([row[0] for row in rows]),
        said_at=np.array([row[1] for row in rows]),
        matrix=np.stack([np.frombuffer(row[2], "<f4") for row in rows]),
    )


def _copy_into_rows(connection: sqlite3.Connection) -> list[int]:
    """The same vectors, a row each, everybody's in turn. Returns the shelves in the order of the people."""
    for statement in _ROW_TABLE:
        connection.execute(statement)
    shelves = [row[0] for row in connection.execute("SELECT id FROM shelf ORDER BY account_id").fetchall()]
    packed = [segments.load(connection, shelf, MEMORIES, DIMENSION) for shelf in shelves]
    for slot in range(MEMORIES):
        for shelf, rows in zip(shelves, packed, strict=True):
            values = (int(rows.fact_ids[slot]), shelf, int(rows.said_at[slot]), rows.matrix[slot].tobytes())
            connection.execute("INSERT INTO peer_vector VALUES (?, ?, ?, ?)", values)
    return shelves
