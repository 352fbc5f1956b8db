"""Which vectors of a shelf answer, and those of another model that are made beside them.

Invariant: a side of a shelf holds vectors of one model and dimension. They answer until every fact in view, of all the
shelves that one search covers, has its vector on the other side; then these take their place, and the old ones are
deleted, in one transaction. `fact.model` is set exactly for the facts with a slot on the side that answers.
"""

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import ColumnElement, and_, bindparam, or_, select, update

from bot.conversation.ports import Matrix
from bot.conversation.scope import Scope
from bot.renewal import Kind
from bot.storage.sql import segments
from bot.storage.sql.fact_columns import is_in_view
from bot.storage.sql.schema import account, fact, person, shelf
from bot.storage.sql.shelves import ADDED, REWRITTEN, CoveredShelf, as_list, listed
from bot.storage.sql.statements import Row, Statement, constant

EMPTIED = {
    "size": 0,
    "model": "",
    "dimension": 0,
    "coming_size": 0,
    "coming_model": "",
    "coming_dimension": 0,
    "version": shelf.c.version + REWRITTEN,
}
"""Of a shelf whose segments were all dropped."""

_STATE = (
    shelf.c.id,
    shelf.c.size,
    shelf.c.model,
    shelf.c.dimension,
    shelf.c.side,
    shelf.c.coming_size,
    shelf.c.coming_model,
    shelf.c.coming_dimension,
)
_SHELF = Statement(select(*_STATE).where(shelf.c.id == bindparam("shelf")))
_mine = account.alias("mine")
_SEARCHED_TOGETHER = Statement(
    select(*_STATE, account.c.id, account.c.person_id, person.c.epoch)
    .select_from(_mine)
    .join(account, account.c.person_id == _mine.c.person_id)
    .join(person, person.c.id == account.c.person_id)
    .join(shelf, shelf.c.account_id == account.c.id)
    .where(_mine.c.id == bindparam("account"), shelf.c.place == bindparam("place"))
    .order_by(shelf.c.id)
)
_FILL = Statement(
    update(shelf)
    .where(shelf.c.id == bindparam("shelf"))
    .values(
        size=bindparam("filled"),
        model=bindparam("made_by"),
        dimension=bindparam("numbers"),
        version=shelf.c.version + ADDED,
    )
)
_FILL_COMING = Statement(
    # No version: nothing that is read has changed.
    update(shelf)
    .where(shelf.c.id == bindparam("shelf"))
    .values(
        coming_size=bindparam("filled"),
        coming_model=bindparam("made_by"),
        coming_dimension=bindparam("numbers"),
    )
)
_DROP_COMING = Statement(
    update(shelf)
    .where(shelf.c.id == bindparam("shelf"))
    .values(coming_size=0, coming_model="", coming_dimension=0)
)
_CHANGE_OVER = Statement(
    update(shelf)
    .where(shelf.c.id == bindparam("shelf"))
    .values(
        side=1 - shelf.c.side,
        size=shelf.c.coming_size,
        model=shelf.c.coming_model,
        dimension=shelf.c.coming_dimension,
        coming_size=0,
        coming_model="",
        coming_dimension=0,
        version=shelf.c.version + REWRITTEN,
    )
)
_SHRINK = Statement(
    update(shelf)
    .where(shelf.c.id == bindparam("shelf"))
    .values(size=bindparam("left"), coming_size=bindparam("coming"), version=shelf.c.version + REWRITTEN)
)
EMPTY_SHELF = Statement(update(shelf).where(shelf.c.id == bindparam("shelf")).values(EMPTIED))
UNMARK = Statement(
    update(fact).where(fact.c.shelf_id == bindparam("shelf"), fact.c.model != constant("")).values(model="")
)
_MARK = Statement(
    update(fact)
    .where(fact.c.id.in_(listed("ids")), fact.c.shelf_id == bindparam("shelf"))
    .values(model=bindparam("made_by"))
)
_LACKING = Statement(
    select(fact.c.id)
    .where(fact.c.shelf_id == bindparam("shelf"), is_in_view(), fact.c.id.not_in(listed("held")))
    .limit(1)
)


def _of_model(dimension: ColumnElement[bool]) -> ColumnElement[bool]:
    return and_(shelf.c.model == bindparam("made_by"), dimension)


# Ranges of the index on models: `<>` would walk through every shelf.
OF_OTHER_KINDS = or_(
    shelf.c.model > bindparam("made_by"),
    and_(shelf.c.model > constant(""), shelf.c.model < bindparam("made_by")),
    _of_model(shelf.c.dimension > bindparam("numbers")),
    _of_model(shelf.c.dimension < bindparam("numbers")),
)
"""Shelves whose vectors are to be made anew. Parameters: `made_by` and `numbers`, the present kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Where vectors of one kind go on a shelf."""

    shelf: int
    side: int
    size: int
    """How many are there."""
    is_coming: bool
    """Others answer until these are whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A shelf's two generations."""

    id: int
    size: int
    kind: Kind
    side: int
    coming_size: int
    coming_kind: Kind


def _read(row: Row) -> State:
    return State(
        id=row[0],
        size=row[1],
        kind=(row[2], row[3]),
        side=row[4],
        coming_size=row[5],
        coming_kind=(row[6], row[7]),
    )


def state_of(connection: sqlite3.Connection, shelf_id: int) -> State:
    row = _SHELF.first(connection, shelf=shelf_id)
    assert row is not None
    return _read(row)


def room_for(connection: sqlite3.Connection, shelf_id: int, model_id: str, dimension: int) -> Room:
    """Where vectors of this kind go. What was being made of a third kind is dropped: it is wanted no more."""
    known = state_of(connection, shelf_id)
    kind = (model_id, dimension)
    if known.coming_kind[0] and known.coming_kind != kind:
        drop_coming(connection, known.id, known.side)
        known = state_of(connection, shelf_id)
    if known.kind == kind or (not known.size and not known.coming_kind[0]):
        return Room(shelf=known.id, side=known.side, size=known.size, is_coming=False)
    return Room(shelf=known.id, side=1 - known.side, size=known.coming_size, is_coming=True)


def fill(
    connection: sqlite3.Connection,
    room: Room,
    fact_ids: Sequence[int],
    said_at: Sequence[int],
    vectors: Matrix,
    model_id: str,
) -> None:
    """Add the vectors of facts of the shelf behind those that are there."""
    rows = segments.PackedRows(
        fact_ids=np.array(fact_ids, dtype=np.int64), said_at=np.array(said_at, dtype=np.int64), matrix=vectors
    )
    filled = segments.append(connection, room.shelf, room.size, rows, room.side)
    statement = _FILL_COMING if room.is_coming else _FILL
    statement.run(connection, shelf=room.shelf, filled=filled, made_by=model_id, numbers=vectors.shape[1])


def mark(connection: sqlite3.Connection, shelf_id: int, fact_ids: Sequence[int], model_id: str) -> None:
    _MARK.run(connection, ids=as_list(fact_ids), shelf=shelf_id, made_by=model_id)


def coming_ids(connection: sqlite3.Connection, shelf_id: int, kind: Kind) -> list[int]:
    """The facts that have their vector of this kind beside the others."""
    known = state_of(connection, shelf_id)
    is_begun = known.coming_kind == kind
    return segments.fact_ids(connection, known.id, known.coming_size, 1 - known.side) if is_begun else []


def is_stale(connection: sqlite3.Connection, shelf_id: int, model_id: str) -> bool:
    """Whether another model's vectors answer on the shelf."""
    known = state_of(connection, shelf_id)
    return known.coming_kind[0] == model_id or known.kind[0] not in ("", model_id)


def stale_shelves(connection: sqlite3.Connection, scope: Scope, kind: Kind) -> list[tuple[State, Scope]]:
    """Of all that a search of the scope covers, the shelves of vectors of other kinds, each as its own account's."""
    rows = _SEARCHED_TOGETHER.rows(connection, account=scope.account, place=scope.place)
    return [
        (known, Scope(person=row[9], account=row[8], epoch=row[10], place=scope.place))
        for known, row in zip(map(_read, rows), rows, strict=True)
        if known.kind not in (("", 0), kind)
    ]


def drop_coming(connection: sqlite3.Connection, shelf_id: int, side: int) -> None:
    """`side`: the one that answers."""
    segments.drop_side(connection, shelf_id, 1 - side)
    _DROP_COMING.run(connection, shelf=shelf_id)


def forget_vectors(connection: sqlite3.Connection, covered: CoveredShelf, gone: Sequence[int]) -> int:
    """Take the vectors of facts out of both sides. Returns how many there were."""
    each = covered
    size = segments.rewrite_without(connection, each.id, each.size, each.dimension, gone, each.side)
    coming = segments.rewrite_without(
        connection, each.id, each.coming_size, each.coming_dimension, gone, 1 - each.side
    )
    _SHRINK.run(connection, shelf=each.id, left=size, coming=coming)
    return each.size - size + each.coming_size - coming


def empty(connection: sqlite3.Connection, shelf_id: int) -> None:
    """Drop every vector of a shelf; its facts are embedded again."""
    segments.drop(connection, shelf_id)
    UNMARK.run(connection, shelf=shelf_id)
    EMPTY_SHELF.run(connection, shelf=shelf_id)


def change_over(
    connection: sqlite3.Connection, scope: Scope, kind: Kind, now_ms: int, but_for: Collection[int]
) -> bool:
    """Put the vectors of this kind in the place of the others, on all the shelves that a search of the scope covers;
    unless a fact in view still lacks its own, but for those that can have none. Whether there was anything to do."""
    stale = [known for known, _ in stale_shelves(connection, scope, kind)]
    held: dict[int, list[int]] = {}
    for each in stale:
        ids = held[each.id] = coming_ids(connection, each.id, kind)
        if _LACKING.first(connection, shelf=each.id, held=as_list([*ids, *but_for]), now=now_ms):
            return False
    for each in stale:
        if not held[each.id]:
            empty(connection, each.id)
            continue
        segments.drop_side(connection, each.id, each.side)
        UNMARK.run(connection, shelf=each.id)
        _CHANGE_OVER.run(connection, shelf=each.id)
        mark(connection, each.id, held[each.id], kind[0])
    return bool(stale)
