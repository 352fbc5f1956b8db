"""Which vectors of the documents answer, and those of another model that are made beside them.

Invariant: the vectors that answer are all of one model and dimension, and so are those that are coming; they change places
in one transaction, once no passage lacks its own. Sync functions, inside the caller's transaction.
"""

import sqlite3
from collections.abc import Collection, Mapping

import numpy as np
from sqlalchemy import ColumnElement, and_, bindparam, func, or_, select, update

from bot.conversation.ports import Matrix
from bot.knowledge.passage import Passage
from bot.renewal import Kind
from bot.storage.sql.schema import document, passage, stamp
from bot.storage.sql.shelves import as_list, listed
from bot.storage.sql.statements import Statement, constant, insert_into

STAMP = "knowledge"
FLOAT_BYTES = 4

_IS_OF_OTHER_MODEL = or_(
    passage.c.model > bindparam("made_by"),
    and_(passage.c.model > constant(""), passage.c.model < bindparam("made_by")),
)
_OTHER_MODEL = Statement(select(passage.c.model).where(_IS_OF_OTHER_MODEL).limit(1))
_OTHER_DIMENSION = Statement(
    select(passage.c.model)
    .where(passage.c.model == bindparam("made_by"), func.length(passage.c.vector) != bindparam("size"))
    .limit(1)
)
_NEXT_MODEL = Statement(select(func.min(passage.c.model)).where(passage.c.model > bindparam("after")))
_COUNT = Statement(
    select(passage.c.model, passage.c.coming_model, func.count()).group_by(
        passage.c.model, passage.c.coming_model
    )
)


def _is_kind(made_by: ColumnElement[str], vector: ColumnElement[bytes]) -> ColumnElement[bool]:
    return and_(made_by == bindparam("made_by"), func.length(vector) == bindparam("size"))


_LACKS = and_(
    ~func.coalesce(_is_kind(passage.c.model, passage.c.vector), 0),
    ~func.coalesce(_is_kind(passage.c.coming_model, passage.c.coming_vector), 0),
)
_LACKING = Statement(
    select(passage.c.id, document.c.name, passage.c.heading, passage.c.text)
    .join_from(passage, document, document.c.id == passage.c.document_id)
    .where(_LACKS, passage.c.id > bindparam("beyond"))
    .order_by(passage.c.id)
    .limit(bindparam("limit"))
)
_LACKING_ANY = Statement(select(passage.c.id).where(_LACKS, passage.c.id.not_in(listed("but_for"))).limit(1))
_SET = Statement(
    update(passage)
    .where(passage.c.id == bindparam("passage"), passage.c.model == constant(""))
    .values(model=bindparam("made_by"), vector=bindparam("packed"))
)
_SET_COMING = Statement(
    update(passage)
    .where(passage.c.id == bindparam("passage"))
    .values(coming_model=bindparam("made_by"), coming_vector=bindparam("packed"))
)
_CHANGED = update(passage).values(
    model=passage.c.coming_model, vector=passage.c.coming_vector, coming_model="", coming_vector=None
)
_CHANGE_OVER = Statement(_CHANGED)
_ADOPT = Statement(_CHANGED.where(passage.c.coming_model != constant("")))
_HAS_COMING = Statement(select(passage.c.id).where(passage.c.coming_model != constant("")).limit(1))
_SUPERFLUOUS = Statement(
    update(passage)
    .where(
        passage.c.coming_model != constant(""),
        ~_is_kind(passage.c.coming_model, passage.c.coming_vector),
    )
    .values(coming_model="", coming_vector=None)
)
_DROP_ALL = Statement(
    update(passage)
    .where(or_(passage.c.model != constant(""), passage.c.coming_model != constant("")))
    .values(model="", vector=None, coming_model="", coming_vector=None)
)
_RAISE_VERSION = Statement(
    insert_into(stamp, "name", "value").on_conflict_do_update(
        index_elements=[stamp.c.name], set_={"value": stamp.c.value + 1}
    )
)


def raise_version(connection: sqlite3.Connection) -> None:
    """In the transaction of every change of a document or of the vectors that answer."""
    _RAISE_VERSION.run(connection, name=STAMP, value=1)


def are_stale(connection: sqlite3.Connection, kind: Kind) -> bool:
    """Whether vectors of another kind answer."""
    made_by, dimension = kind
    return bool(
        _OTHER_MODEL.first(connection, made_by=made_by)
        or _OTHER_DIMENSION.first(connection, made_by=made_by, size=FLOAT_BYTES * dimension)
    )


def old_models(connection: sqlite3.Connection, kind: Kind) -> set[str]:
    found: set[str] = set()
    after = ""
    while (row := _NEXT_MODEL.first(connection, after=after)) is not None and row[0] is not None:
        after = row[0]
        found.add(after)
    return found - {kind[0]}


def count(connection: sqlite3.Connection, kind: Kind) -> tuple[int, int]:
    """How many passages there are, and how many have a vector of this model."""
    rows = _COUNT.rows(connection)
    done = sum(number for model, coming, number in rows if kind[0] in (model, coming))
    return sum(row[2] for row in rows), done


def packed(vectors: Matrix) -> list[bytes]:
    """One BLOB a passage."""
    return [row.tobytes() for row in np.asarray(vectors, dtype="<f4")]


def lacking(connection: sqlite3.Connection, kind: Kind, beyond: int, limit: int) -> tuple[Passage, ...]:
    """Those with an id above `beyond` that have no vector of this kind, by id."""
    rows = _LACKING.rows(connection, **_asked(kind), beyond=beyond, limit=limit)
    return tuple(Passage(id=row[0], document=row[1], heading=row[2], text=row[3]) for row in rows)


def add(connection: sqlite3.Connection, by_id: Mapping[int, bytes], kind: Kind) -> None:
    """A passage that was replaced meanwhile is left alone."""
    is_coming = are_stale(connection, kind)
    statement = _SET_COMING if is_coming else _SET
    for each, numbers in by_id.items():
        statement.run(connection, passage=each, made_by=kind[0], packed=numbers)
    if not is_coming:
        raise_version(connection)


def change_over(connection: sqlite3.Connection, kind: Kind, but_for: Collection[int]) -> bool:
    """Put the vectors of this kind in the place of the others, unless a passage lacks its own, but for those that can
    have none. Whether there was anything to do."""
    has_coming = _HAS_COMING.first(connection) is not None
    is_stale = are_stale(connection, kind)
    if not has_coming and not is_stale:
        return False
    if is_stale and _LACKING_ANY.first(connection, **_asked(kind), but_for=as_list(but_for)):
        return False
    # The old ones may all have gone with their documents.
    (_CHANGE_OVER if is_stale else _ADOPT).run(connection)
    raise_version(connection)
    return True


def drop_superfluous(connection: sqlite3.Connection, kind: Kind) -> int:
    """What was being made of a kind that is wanted no more. How many there were."""
    return _SUPERFLUOUS.run(connection, **_asked(kind)).rowcount


def drop_all(connection: sqlite3.Connection) -> None:
    _DROP_ALL.run(connection)
    raise_version(connection)


def _asked(kind: Kind) -> dict[str, object]:
    return {"made_by": kind[0], "size": FLOAT_BYTES * kind[1]}
