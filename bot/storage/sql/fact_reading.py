"""The statements that read facts, and what becomes of their rows.

Invariant: the current view is defined here once: not superseded, not expired, and of equal texts on several
shelves the one that was stored first.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import bindparam, exists, or_, select

from bot.conversation.errors import VectorsOfAnotherModel
from bot.memory.fact import Fact, FactKind, MemoryVersion
from bot.memory.fact_rows import FactRows
from bot.memory.ports import VectorSheet
from bot.storage.sql import segments
from bot.storage.sql.fact_columns import few, is_in_view, many
from bot.storage.sql.schema import account, fact, from_ms, person, shelf
from bot.storage.sql.shelves import Covered, as_list, listed
from bot.storage.sql.statements import Row, Statement, constant

_FACTS = (
    select(
        fact.c.id,
        fact.c.kind,
        fact.c.text,
        fact.c.importance,
        fact.c.said_at,
        account.c.channel,
        fact.c.said_again_at,
        fact.c.expires_at,
    )
    .join_from(fact, shelf, shelf.c.id == fact.c.shelf_id)
    .join(account, account.c.id == shelf.c.account_id)
)

_HELD = Statement(_FACTS.where(fact.c.shelf_id.in_(listed("shelves"))).order_by(fact.c.id))
OWN_SHELF = Statement(
    select(shelf.c.id)
    .join_from(shelf, account, account.c.id == shelf.c.account_id)
    .where(
        account.c.id == bindparam("account"),
        account.c.cleared_epoch <= bindparam("epoch"),
        shelf.c.place == bindparam("place"),
        shelf.c.cleared_epoch <= bindparam("epoch"),
    )
)
LACKING_ANY = Statement(
    # By the partial index on facts without any.
    _FACTS.where(fact.c.shelf_id == bindparam("shelf"), fact.c.model == constant(""), is_in_view())
    .order_by(fact.c.id)
    .limit(bindparam("limit"))
)
FACTS_BESIDES = Statement(
    _FACTS.where(fact.c.shelf_id == bindparam("shelf"), fact.c.id.not_in(listed("held")), is_in_view())
    .order_by(fact.c.id)
    .limit(bindparam("limit"))
)
SCOPES_WITHOUT_VECTOR = Statement(
    # By the partial index on facts without any: a bot that has caught up pays nothing for asking. Of shelves with
    # vectors of another model all are made anew: that is not this backlog.
    select(account.c.person_id, account.c.id, person.c.epoch, shelf.c.place)
    .distinct()
    .join_from(fact, shelf, shelf.c.id == fact.c.shelf_id)
    .join(account, account.c.id == shelf.c.account_id)
    .join(person, person.c.id == account.c.person_id)
    .where(
        fact.c.model == constant(""),
        is_in_view(),
        account.c.parked_at.is_(None),
        shelf.c.coming_model == constant(""),
        or_(shelf.c.size == constant(0), shelf.c.model == bindparam("made_by")),
    )
    .limit(bindparam("limit"))
)
ENDING_FACTS = Statement(
    select(fact.c.id, fact.c.valid_to, fact.c.expires_at).where(
        fact.c.shelf_id == bindparam("shelf"),
        or_(fact.c.valid_to.is_not(None), fact.c.expires_at.is_not(None)),
    )
)

_first = fact.alias("first")
_REPEATED = Statement(
    select(fact.c.id).where(
        fact.c.id.in_(listed("ids")),
        exists().where(
            _first.c.shelf_id.in_(listed("shelves")),
            _first.c.text == fact.c.text,
            _first.c.id < fact.c.id,
            is_in_view(_first),
        ),
    )
)


def read_fact(row: Row) -> Fact:
    """From a row of FACTS_BESIDES or LACKING_ANY."""
    return Fact(
        id=row[0],
        kind=FactKind(row[1]),
        text=row[2],
        importance=row[3],
        said_at=from_ms(row[4]),
        channel=row[5],
        said_again_at=None if row[6] is None else from_ms(row[6]),
    )


def facts_beyond(
    connection: sqlite3.Connection, covered: Covered, beyond: int, now_ms: int, *, most: int | None
) -> tuple[FactRows, datetime | None]:
    """The facts with an id above `beyond`, by time, each text once, and when the first of them expires.

    Raises TooMany when they are more than `most`.
    """
    facts = FactRows.of(())
    ends: list[int] = []
    for shelf_ in covered.shelves:
        if most is None:
            more, ending = many(connection, shelf_, beyond, now_ms)
        else:
            more, ending = few(connection, shelf_, beyond, now_ms, most=most - len(facts))
        facts, ends = facts + more if len(facts) else more, ends + ending
    shown = _once(connection, covered, facts, now_ms) if beyond else _first_of_each_text(facts)
    return shown.by_time(), earliest(ends)


def facts_held(connection: sqlite3.Connection, covered: Covered) -> tuple[Fact, ...]:
    """All there are, by id: also those out of view, and each text as often as it was told."""
    return tuple(map(read_fact, _HELD.rows(connection, shelves=as_list(covered.ids))))


def _first_of_each_text(facts: FactRows) -> FactRows:
    if len(set(facts.texts)) == len(facts):
        return facts
    rows_by_text: dict[str, int] = {}
    by_id: list[int] = np.argsort(facts.ids).tolist()
    for row in by_id:
        rows_by_text.setdefault(facts.texts[row], row)
    return facts.at(np.array(list(rows_by_text.values()), np.intp))


def _once(connection: sqlite3.Connection, covered: Covered, facts: FactRows, now_ms: int) -> FactRows:
    """Without those whose text is shown already, by a fact that these may not include."""
    if len(covered.shelves) == 1 or not len(facts):
        return facts
    repeated = _repeated(connection, covered, facts.ids.tolist(), now_ms)
    return facts.at(np.flatnonzero(~np.isin(facts.ids, list(repeated)))) if repeated else facts


def _repeated(
    connection: sqlite3.Connection, covered: Covered, fact_ids: Iterable[int], now_ms: int
) -> set[int]:
    """Those whose text was stored on one of the shelves before, and is in view."""
    asked = {"ids": as_list(fact_ids), "shelves": as_list(covered.ids), "now": now_ms}
    return {row[0] for row in _REPEATED.rows(connection, **asked)}


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
    """The vectors of these shelves from `slots` on, without those of facts out of view.

    Raises VectorsOfAnotherModel when any of them holds vectors of another kind: beside those of this one, facts
    would be ranked by what they have in common with no question.
    """
    held = {(each.model, each.dimension) for each in covered.shelves if each.size}
    if not held <= {(model_id, dimension)}:
        raise VectorsOfAnotherModel(f"{model_id} ({dimension}) asked, {sorted(held)} held")
    packed = [(each, since) for each, since in zip(covered.shelves, slots, strict=True) if each.size > since]
    ending = [row for each in covered.ids for row in ENDING_FACTS.rows(connection, shelf=each)]
    ended, ends = endings(ending, now_ms)
    parts = [
        segments.load(connection, each.id, each.size, dimension, since=since, side=each.side)
        for each, since in packed
    ]
    rows = segments.merged(parts, dimension, ended)
    if len(covered.shelves) > 1 and len(rows.fact_ids):
        repeated = _repeated(connection, covered, rows.fact_ids.tolist(), now_ms)
        rows = rows.at(~np.isin(rows.fact_ids, list(repeated))) if repeated else rows
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
