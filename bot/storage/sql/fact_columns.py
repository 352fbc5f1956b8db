"""The facts of a shelf as columns: few row by row, many with each column in one value, put together by SQLite.

Invariant: both ways read the current view (`is_in_view`), and give the same.

A row fetched costs 2 to 4 µs, most of it Python's, and the GIL is asked for at each. A column is one step, outside of it.
"""

import sqlite3
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, FromClause, and_, bindparam, case, func, literal_column, or_, select

from bot.memory.fact import FactKind
from bot.memory.fact_rows import KINDS, NEVER, FactRows
from bot.storage.sql.looking import TooMany
from bot.storage.sql.schema import fact
from bot.storage.sql.shelves import CoveredShelf
from bot.storage.sql.statements import Row, Statement, constant

FEW_NEWER = 64
"""Facts of everybody: walked through at once."""


def is_in_view(of: FromClause = fact) -> ColumnElement[bool]:
    """Parameter: `now`, in milliseconds. `of`: the fact table under a name of its own."""
    return and_(of.c.valid_to.is_(None), or_(of.c.expires_at.is_(None), of.c.expires_at > bindparam("now")))


_COLUMNS = (
    fact.c.id,
    fact.c.kind,
    fact.c.text,
    fact.c.importance,
    fact.c.said_at,
    fact.c.said_again_at,
    fact.c.expires_at,
    fact.c.told_times,
)
_BEYOND = Statement(
    # `+ 0` keeps SQLite at the shelf's index, whose entries hold the id: it would else walk through everybody's
    # newer facts. `LIMIT` stops the reading.
    select(*_COLUMNS)
    .where(fact.c.shelf_id == bindparam("shelf"), fact.c.id + constant(0) > bindparam("beyond"), is_in_view())
    .limit(bindparam("limit"))
)
_NEWEST = Statement(
    # Where everybody's newer facts are fewer than the shelf's own, they are walked through.
    select(*_COLUMNS)
    .where(fact.c.id > bindparam("beyond"), fact.c.shelf_id + constant(0) == bindparam("shelf"), is_in_view())
    .limit(bindparam("limit"))
)
_LAST = Statement(select(func.max(fact.c.id)))
_KIND_CODE = case(*((fact.c.kind == constant(kind), constant(code)) for code, kind in enumerate(KINDS)))
_own = fact.alias("own")
_UNREAD = "?"
_PARTED: ColumnElement[str] = literal_column("char(0)")
_TOGETHER = Statement(
    # `quote` writes a number so that it is read as the same again.
    select(
        func.count(),
        func.group_concat(fact.c.text, _PARTED),
        func.group_concat(fact.c.id),
        func.group_concat(_KIND_CODE),
        func.group_concat(func.quote(fact.c.importance)),
        func.group_concat(fact.c.said_at),
        func.min(fact.c.expires_at),
        # Of the few that were said again.
        func.group_concat(case((fact.c.said_again_at.is_not(None), fact.c.id))),
        func.group_concat(fact.c.said_again_at),
        func.group_concat(func.coalesce(fact.c.told_times, constant(_UNREAD)), _PARTED),
    ).where(
        # The index has them by text: by id they lie together, and nearly always in the order of their times.
        fact.c.id.in_(
            select(_own.c.id).where(
                _own.c.shelf_id == bindparam("shelf"), _own.c.id + constant(0) > bindparam("beyond")
            )
        ),
        is_in_view(),
    )
)

Columns = tuple[FactRows, list[int]]
"""Facts in no order, and when they expire in milliseconds, those of them that do; of many only the first time."""


def few(
    connection: sqlite3.Connection, shelf: CoveredShelf, beyond: int, now_ms: int, *, most: int
) -> Columns:
    """Those with an id above `beyond`. Raises TooMany when they are more than `most`."""
    asked = {"shelf": shelf.id, "beyond": beyond, "now": now_ms, "limit": most + 1}
    if beyond:
        newer: int = (_LAST.rows(connection)[0][0] or 0) - beyond
        rows = (_NEWEST if newer <= max(shelf.size, FEW_NEWER) else _BEYOND).rows(connection, **asked)
    elif shelf.size > most:
        raise TooMany
    else:
        rows = _BEYOND.rows(connection, **asked)
    if len(rows) > most:
        raise TooMany
    return _of_rows(rows, shelf.channel)


def many(connection: sqlite3.Connection, shelf: CoveredShelf, beyond: int, now_ms: int) -> Columns:
    """The same, however many."""
    asked = {"shelf": shelf.id, "beyond": beyond, "now": now_ms}
    count, texts, ids, kinds, importance, said_at, ends, again, again_at, told = _TOGETHER.rows(
        connection, **asked
    )[0]
    if not count:
        return FactRows.of(()), []
    parted: list[str] = texts.split("\0")
    size = len(parted)
    if size != count:  # One of them holds the sign that was to part them.
        return _of_rows(_BEYOND.rows(connection, **asked, limit=-1), shelf.channel)
    rows = FactRows(
        ids=_numbers(ids),
        kinds=_numbers(kinds).astype(np.int8),
        texts=parted,
        importance=np.fromstring(importance, np.float64, sep=","),
        said_at=_numbers(said_at) * 1000,
        said_again_at=np.full(size, NEVER, np.int64),
        channels=[shelf.channel] * size,
        told_times=[None if each == _UNREAD else each for each in told.split("\0")],
    )
    if again is not None:
        by_id = np.argsort(rows.ids)
        rows.said_again_at[by_id[np.searchsorted(rows.ids, _numbers(again), sorter=by_id)]] = (
            _numbers(again_at) * 1000
        )
    return rows, [] if ends is None else [ends]


def _of_rows(rows: Sequence[Row], channel: str) -> Columns:
    again_at: list[int] = [NEVER if row[5] is None else row[5] * 1000 for row in rows]
    facts = FactRows(
        ids=np.array([row[0] for row in rows], np.int64),
        kinds=np.array([KINDS.index(FactKind(row[1])) for row in rows], np.int8),
        texts=[row[2] for row in rows],
        importance=np.array([row[3] for row in rows], np.float64),
        said_at=np.array([row[4] for row in rows], np.int64) * 1000,
        said_again_at=np.array(again_at, dtype=np.int64),
        channels=[channel] * len(rows),
        told_times=[row[7] for row in rows],
    )
    return facts, [row[6] for row in rows if row[6] is not None]


def _numbers(listed: str) -> NDArray[np.int64]:
    return np.fromstring(listed, np.int64, sep=",")
