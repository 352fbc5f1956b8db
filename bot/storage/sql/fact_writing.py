"""Keeping facts and vectors: sync functions, each one transaction of the writer.

Invariant: whatever changes a shelf's facts or vectors raises its version in the same transaction; a shelf's
vectors are all of one model and dimension; `fact.model` is set exactly for the facts that have a slot.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from loguru import logger
from sqlalchemy import bindparam, delete, select, update

from bot.conversation.ports import Matrix
from bot.conversation.scope import Scope
from bot.memory.entities import SeenEntity
from bot.memory.fact import NewFact
from bot.storage.sql import segments
from bot.storage.sql.entities import keep_entities
from bot.storage.sql.fact_reading import is_in_view
from bot.storage.sql.schema import fact, job, shelf, to_ms
from bot.storage.sql.scopes import find_shelf, is_current, shelf_of
from bot.storage.sql.shelves import ADDED, REWRITTEN, as_list, listed
from bot.storage.sql.statements import Statement, insert_into
from bot.storage.sql.superseding import say_too

SHORTEST_NORM = 1e-6
"""Below it a vector points nowhere."""

_TAKE_JOB = Statement(delete(job).where(job.c.id == bindparam("job")))
_KNOWN = Statement(
    select(fact.c.id)
    .join_from(fact, shelf, shelf.c.id == fact.c.shelf_id)
    .where(
        shelf.c.account_id == bindparam("account"),
        shelf.c.place == bindparam("place"),
        fact.c.text == bindparam("text"),
        is_in_view(),
    )
    .limit(1)
)
_INSERT = Statement(
    insert_into(
        fact, "shelf_id", "kind", "text", "importance", "said_at", "expires_at", "source_turn", "model"
    )
)
_SHELF = Statement(
    select(shelf.c.size, shelf.c.model, shelf.c.dimension).where(shelf.c.id == bindparam("shelf"))
)
_LACKING = Statement(
    select(fact.c.id, fact.c.said_at).where(
        fact.c.id.in_(listed("ids")), fact.c.shelf_id == bindparam("shelf"), fact.c.model == ""
    )
)
_UNMARK = Statement(
    update(fact).where(fact.c.shelf_id == bindparam("shelf"), fact.c.model != "").values(model="")
)
_MARK = Statement(update(fact).where(fact.c.id.in_(listed("ids"))).values(model=bindparam("model")))
_FILL = Statement(
    update(shelf)
    .where(shelf.c.id == bindparam("shelf"))
    .values(
        size=bindparam("size"),
        model=bindparam("model"),
        dimension=bindparam("dimension"),
        version=shelf.c.version + ADDED,
    )
)
_EMPTY = Statement(
    update(shelf)
    .where(shelf.c.id == bindparam("shelf"))
    .values(size=0, model="", dimension=0, version=shelf.c.version + REWRITTEN)
)
_TOUCH = Statement(
    update(shelf).where(shelf.c.id == bindparam("shelf")).values(version=shelf.c.version + ADDED)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """What `FactStore.keep` was asked, with the vectors checked."""

    scope: Scope
    facts: tuple[NewFact, ...]
    vectors: Matrix | None
    model_id: str
    source_turn: int | None
    job: int | None
    now_ms: int
    entities: tuple[SeenEntity, ...] = ()


def usable(vectors: Matrix | None, count: int) -> Matrix | None:
    """`vectors` as `(count, d)` float32 with d > 0, or None (with a warning) when they are not that."""
    if vectors is None:
        return None
    rows = np.asarray(vectors, dtype=np.float32)
    if rows.ndim == 2 and rows.shape[0] == count and rows.shape[1] > 0:
        lengths = np.linalg.norm(rows, axis=1)
        if bool(np.isfinite(lengths).all()) and bool((lengths > SHORTEST_NORM).all()):
            return rows
    logger.warning("形状 {} 的向量不能用于 {} 条记忆", rows.shape, count)
    return None


def keep(connection: sqlite3.Connection, keeping: Keeping) -> tuple[int, ...]:
    """See `FactStore.keep`."""
    scope = keeping.scope
    if keeping.job is not None and _TAKE_JOB.run(connection, job=keeping.job).rowcount == 0:
        return ()
    if not (keeping.facts or keeping.entities) or not is_current(connection, scope):
        return ()
    if keeping.entities:
        own_shelf = shelf_of(connection, scope.account, scope.place)
        keep_entities(connection, own_shelf, keeping.entities, keeping.source_turn)
    chosen = _unknown(connection, keeping)
    if not chosen:
        return ()
    shelf_id = shelf_of(connection, scope.account, scope.place)
    if keeping.vectors is None:
        ids = _insert(connection, shelf_id, keeping, chosen, model="")
        _TOUCH.run(connection, shelf=shelf_id)
        _say_too(connection, shelf_id, keeping, chosen, ids)
        return ids
    vectors = keeping.vectors[chosen]
    size = _make_room(connection, shelf_id, keeping.model_id, vectors.shape[1])
    ids = _insert(connection, shelf_id, keeping, chosen, model=keeping.model_id)
    said_at = [to_ms(keeping.facts[row].said_at) for row in chosen]
    _fill(connection, shelf_id, size, ids, said_at, vectors, keeping.model_id)
    _say_too(connection, shelf_id, keeping, chosen, ids)
    return ids


def add_vectors(
    connection: sqlite3.Connection, scope: Scope, fact_ids: Sequence[int], vectors: Matrix, model_id: str
) -> None:
    """See `FactStore.add_vectors`."""
    shelf_id = find_shelf(connection, scope.account, scope.place)
    if shelf_id is None or not is_current(connection, scope):
        return
    size = _make_room(connection, shelf_id, model_id, vectors.shape[1])
    said_at: dict[int, int] = dict(_LACKING.rows(connection, ids=as_list(fact_ids), shelf=shelf_id))
    rows = {each: row for row, each in enumerate(fact_ids) if each in said_at}
    if rows:
        chosen = list(rows.values())
        _fill(
            connection,
            shelf_id,
            size,
            list(rows),
            [said_at[each] for each in rows],
            vectors[chosen],
            model_id,
        )
        _MARK.run(connection, ids=as_list(rows), model=model_id)


def _unknown(connection: sqlite3.Connection, keeping: Keeping) -> list[int]:
    """The rows of the facts whose text the account's own shelf does not hold yet, each text once. What another
    account of the person holds counts for nothing: should the two part, each keeps what it said itself."""
    own = {"account": keeping.scope.account, "place": keeping.scope.place, "now": keeping.now_ms}
    rows: dict[str, int] = {}
    for row, new in enumerate(keeping.facts):
        if new.text not in rows and _KNOWN.first(connection, **own, text=new.text) is None:
            rows[new.text] = row
    return list(rows.values())


def _insert(
    connection: sqlite3.Connection, shelf_id: int, keeping: Keeping, chosen: Sequence[int], *, model: str
) -> tuple[int, ...]:
    """The ids. `model` at once, not by an update: an index hangs on it."""
    ids: list[int] = []
    for new in (keeping.facts[row] for row in chosen):
        made = _INSERT.run(
            connection,
            shelf_id=shelf_id,
            kind=new.kind.value,
            text=new.text,
            importance=new.importance,
            said_at=to_ms(new.said_at),
            expires_at=None if new.expires_at is None else to_ms(new.expires_at),
            source_turn=keeping.source_turn,
            model=model,
        )
        assert made.lastrowid is not None
        ids.append(made.lastrowid)
    return tuple(ids)


def _say_too(
    connection: sqlite3.Connection,
    shelf_id: int,
    keeping: Keeping,
    chosen: Sequence[int],
    ids: Sequence[int],
) -> None:
    for row, new in zip(chosen, ids, strict=True):
        say_too(connection, keeping.scope, shelf_id, new, keeping.facts[row].text)


def _fill(
    connection: sqlite3.Connection,
    shelf_id: int,
    size: int,
    fact_ids: Sequence[int],
    said_at: Sequence[int],
    vectors: Matrix,
    model_id: str,
) -> None:
    """Add the vectors of facts behind the `size` that are there."""
    rows = segments.PackedRows(
        fact_ids=np.array(fact_ids, dtype=np.int64),
        said_at=np.array(said_at, dtype=np.int64),
        matrix=vectors,
    )
    filled = segments.append(connection, shelf_id, size, rows)
    _FILL.run(connection, shelf=shelf_id, size=filled, model=model_id, dimension=vectors.shape[1])


def _make_room(connection: sqlite3.Connection, shelf_id: int, model_id: str, dimension: int) -> int:
    """The shelf's size, after dropping vectors that cannot be compared with the coming ones."""
    found = _SHELF.first(connection, shelf=shelf_id)
    assert found is not None
    size, model, known_dimension = found
    if size == 0 or (model, known_dimension) == (model_id, dimension):
        return size
    segments.drop(connection, shelf_id)
    _UNMARK.run(connection, shelf=shelf_id)
    _EMPTY.run(connection, shelf=shelf_id)
    return 0
