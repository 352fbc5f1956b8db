"""The statements that read facts, and what becomes of their rows.

Invariant: the current view is defined here once: not superseded, not expired.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, and_, bindparam, or_, select

from bot.memory.fact import Fact, FactKind, MemoryVersion
from bot.memory.ports import VectorSheet
from bot.storage.sql import segments
from bot.storage.sql.schema import account, fact, from_ms, person, shelf
from bot.storage.sql.shelves import Covered
from bot.storage.sql.statements import Row, Statement, constant


class TooMany(Exception):
    """There is more to read than was allowed: no error, the look is taken again in a thread."""


def is_in_view() -> ColumnElement[bool]:
    """Parameter: `now`, in milliseconds."""
    return and_(
        fact.c.valid_to.is_(None), or_(fact.c.expires_at.is_(None), fact.c.expires_at > bindparam("now"))
    )


_FACTS = (
    select(
        fact.c.id,
        fact.c.kind,
        fact.c.text,
        fact.c.importance,
        fact.c.said_at,
        account.c.channel,
        fact.c.expires_at,
    )
    .join_from(fact, shelf, shelf.c.id == fact.c.shelf_id)
    .join(account, account.c.id == shelf.c.account_id)
)

FACTS_BEYOND = Statement(
    # `+ 0` keeps SQLite at the shelf's index, whose entries hold the id: it would else walk through everybody's
    # newer facts. The order is Python's to make: `LIMIT` then stops the reading too.
    _FACTS.where(
        fact.c.shelf_id == bindparam("shelf"), fact.c.id + constant(0) > bindparam("beyond"), is_in_view()
    ).limit(bindparam("limit"))
)
WITHOUT_VECTOR = Statement(
    _FACTS.where(
        account.c.id == bindparam("account"),
        account.c.cleared_epoch <= bindparam("epoch"),
        shelf.c.place == bindparam("place"),
        shelf.c.cleared_epoch <= bindparam("epoch"),
        fact.c.model != bindparam("model"),
        is_in_view(),
    )
    .order_by(fact.c.id)
    .limit(bindparam("limit"))
)
OWN_SHELF = Statement(
    select(shelf.c.id, shelf.c.model)
    .join_from(shelf, account, account.c.id == shelf.c.account_id)
    .where(
        account.c.id == bindparam("account"),
        account.c.cleared_epoch <= bindparam("epoch"),
        shelf.c.place == bindparam("place"),
        shelf.c.cleared_epoch <= bindparam("epoch"),
    )
)
LACKING_ANY = Statement(
    # By the partial index: a shelf whose vectors are of the wanted model lacks only those of facts without any.
    _FACTS.where(fact.c.shelf_id == bindparam("shelf"), fact.c.model == constant(""), is_in_view())
    .order_by(fact.c.id)
    .limit(bindparam("limit"))
)
SCOPES_WITHOUT_VECTOR = Statement(
    # By the partial index on facts without any: a bot that has caught up pays nothing for asking.
    select(account.c.person_id, account.c.id, person.c.epoch, shelf.c.place)
    .distinct()
    .join_from(fact, shelf, shelf.c.id == fact.c.shelf_id)
    .join(account, account.c.id == shelf.c.account_id)
    .join(person, person.c.id == account.c.person_id)
    .where(fact.c.model == constant(""), is_in_view())
    .limit(bindparam("limit"))
)
ENDING_FACTS = Statement(
    select(fact.c.id, fact.c.valid_to, fact.c.expires_at).where(
        fact.c.shelf_id == bindparam("shelf"),
        or_(fact.c.valid_to.is_not(None), fact.c.expires_at.is_not(None)),
    )
)


def read_fact(row: Row) -> Fact:
    """From a row of FACTS_BEYOND, LACKING_ANY or WITHOUT_VECTOR."""
    return Fact(
        id=row[0],
        kind=FactKind(row[1]),
        text=row[2],
        importance=row[3],
        said_at=from_ms(row[4]),
        channel=row[5],
    )


def facts_beyond(
    connection: sqlite3.Connection, covered: Covered, beyond: int, now_ms: int, *, most: int | None
) -> tuple[tuple[Fact, ...], datetime | None]:
    """The facts with an id above `beyond`, by time, and when the first of them expires.

    Raises TooMany when they are more than `most`.
    """
    rows: list[Row] = []
    for shelf_id in covered.ids:
        limit = -1 if most is None else most + 1 - len(rows)
        rows += FACTS_BEYOND.rows(connection, shelf=shelf_id, beyond=beyond, now=now_ms, limit=limit)
        if most is not None and len(rows) > most:
            raise TooMany
    rows.sort(key=itemgetter(4, 0))
    return tuple(map(read_fact, rows)), earliest([row[-1] for row in rows if row[-1] is not None])


def endings(rows: Iterable[Row], now_ms: int) -> tuple[NDArray[np.int64], list[int]]:
    """From rows of ENDING_FACTS: the facts out of view, and when the others will be."""
    ended: list[Any] = []
    ends: list[int] = []
    for fact_id, valid_to, expires_at in rows:
        if valid_to is not None or expires_at <= now_ms:
            ended.append(fact_id)
        else:
            ends.append(expires_at)
    return np.array(ended, dtype=np.int64), ends


def read_vectors(
    connection: sqlite3.Connection,
    covered: Covered,
    slots: Sequence[int],
    model_id: str,
    dimension: int,
    now_ms: int,
) -> VectorSheet:
    """The vectors of these shelves from `slots` on, without those of other models and of facts out of view."""
    packed = [
        (each, since)
        for each, since in zip(covered.shelves, slots, strict=True)
        if each.size > since and (each.model, each.dimension) == (model_id, dimension)
    ]
    ending = [row for each in covered.ids for row in ENDING_FACTS.rows(connection, shelf=each)]
    ended, ends = endings(ending, now_ms)
    parts = [segments.load(connection, each.id, each.size, dimension, since=since) for each, since in packed]
    rows = segments.merged(parts, dimension, ended)
    read = {each.id: each.size for each, _ in packed}
    return VectorSheet(
        version=covered.version,
        fact_ids=rows.fact_ids,
        matrix=rows.matrix,
        fresh_until=earliest(ends),
        slots=tuple(read.get(each.id, since) for each, since in zip(covered.shelves, slots, strict=True)),
    )


def no_vectors(version: MemoryVersion, dimension: int, slots: Sequence[int]) -> VectorSheet:
    """Nothing beyond `slots`."""
    rows = segments.empty(0, dimension)
    return VectorSheet(version=version, fact_ids=rows.fact_ids, matrix=rows.matrix, slots=tuple(slots))


def earliest(ends_ms: Sequence[int]) -> datetime | None:
    return from_ms(min(ends_ms)) if ends_ms else None
