"""The statements that read facts, and what becomes of their rows.

Invariant: the current view is defined here once: not superseded, not expired.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, and_, bindparam, or_, select

from bot.memory.fact import Fact, FactKind
from bot.memory.ports import VectorSheet
from bot.storage.sql import segments
from bot.storage.sql.schema import account, fact, from_ms, person, shelf
from bot.storage.sql.shelves import Covered, as_list, listed
from bot.storage.sql.statements import Row, Statement, constant


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

CURRENT_FACTS = Statement(
    _FACTS.where(fact.c.shelf_id.in_(listed("shelves")), is_in_view()).order_by(fact.c.said_at, fact.c.id)
)
WITHOUT_VECTOR = Statement(
    _FACTS.where(
        account.c.id == bindparam("account"),
        account.c.cleared_epoch <= bindparam("epoch"),
        shelf.c.place == bindparam("place"),
        fact.c.model != bindparam("model"),
        is_in_view(),
    )
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
        fact.c.shelf_id.in_(listed("shelves")),
        or_(fact.c.valid_to.is_not(None), fact.c.expires_at.is_not(None)),
    )
)


def read_fact(row: Row) -> Fact:
    """From a row of CURRENT_FACTS or WITHOUT_VECTOR."""
    return Fact(
        id=row[0],
        kind=FactKind(row[1]),
        text=row[2],
        importance=row[3],
        said_at=from_ms(row[4]),
        channel=row[5],
    )


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
    ending = ENDING_FACTS.rows(connection, shelves=as_list(covered.ids))
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


def earliest(ends_ms: Sequence[int]) -> datetime | None:
    return from_ms(min(ends_ms)) if ends_ms else None
