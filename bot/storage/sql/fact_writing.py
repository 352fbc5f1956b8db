"""Keeping facts and vectors: sync functions, each one transaction of the writer.

Invariant: whatever changes a shelf's facts or the vectors that answer raises its version in the same transaction; where
vectors go, and which answer, `generations` decides.
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
from bot.memory.summary import NewSummary
from bot.memory.told_times import times_told, written
from bot.storage.sql.entities import keep_entities
from bot.storage.sql.fact_columns import is_in_view
from bot.storage.sql.generations import coming_ids, fill, mark, room_for
from bot.storage.sql.lately import Kept
from bot.storage.sql.retelling import close_contradicted, keep_words, tell_again
from bot.storage.sql.schema import fact, job, shelf, to_ms, turn
from bot.storage.sql.scopes import current_shelf, find_shelf, is_current
from bot.storage.sql.shelves import ADDED, as_list, listed
from bot.storage.sql.statements import Statement, insert_into
from bot.storage.sql.summaries import keep_summary
from bot.storage.sql.superseding import say_too

SHORTEST_NORM = 1e-6
"""Below it a vector points nowhere."""

_TAKE_JOB = Statement(delete(job).where(job.c.id == bindparam("job")))
_KNOWN = Statement(
    select(fact.c.id)
    .where(fact.c.shelf_id == bindparam("shelf"), fact.c.text == bindparam("text"), is_in_view())
    .limit(1)
)
_INSERT = Statement(
    insert_into(
        fact,
        *("shelf_id", "kind", "text", "importance", "said_at", "expires_at", "source_turn", "model"),
        "told_times",
    )
)
_TURN = Statement(select(turn.c.id).where(turn.c.id == bindparam("turn")))
_GIVEN = Statement(
    select(fact.c.id, fact.c.said_at, fact.c.model).where(
        fact.c.id.in_(listed("ids")), fact.c.shelf_id == bindparam("shelf")
    )
)
_VERSION = Statement(select(shelf.c.version).where(shelf.c.id == bindparam("shelf")))
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
    summary: NewSummary | None = None


def usable(vectors: Matrix | None, count: int) -> Matrix | None:
    """`vectors` as `(count, d)` float32 with d > 0, or None (with a warning) when they are not that."""
    if vectors is None:
        return None
    rows = np.asarray(vectors, dtype=np.float32)
    if rows.ndim == 2 and rows.shape[0] == count and rows.shape[1] > 0:
        squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        if bool(np.isfinite(squares).all()) and bool((squares > SHORTEST_NORM**2).all()):
            return rows
    logger.warning("形状 {} 的向量不能用于 {} 条记忆", rows.shape, count)
    return None


def keep(connection: sqlite3.Connection, keeping: Keeping) -> Kept | None:
    """What it stored, see `FactStore.keep`; None: no fact."""
    scope = keeping.scope
    if keeping.job is not None and _TAKE_JOB.run(connection, job=keeping.job).rowcount == 0:
        return None
    if not (keeping.facts or keeping.entities or keeping.summary) or _was_forgotten(connection, keeping):
        return None
    current = current_shelf(connection, scope)
    if current is None:
        return None
    shelf_id, before = current
    if keeping.entities:
        keep_entities(connection, shelf_id, keeping.entities, keeping.source_turn)
    if keeping.summary:
        keep_summary(connection, shelf_id, keeping.summary)
    if not keeping.facts:
        return None
    chosen, held = _told(connection, shelf_id, keeping)
    told = tuple(_times_told(keeping.facts[row]) for row in chosen)
    stored = _store(connection, shelf_id, keeping, chosen, told) if chosen else _Stored()
    by_row = held | dict(zip(chosen, stored.ids, strict=True))
    close_contradicted(connection, scope, by_row, keeping.facts)
    if not chosen:
        return None
    return Kept(
        shelf=shelf_id,
        before=before,
        after=_version(connection, shelf_id),
        ids=stored.ids,
        facts=tuple(keeping.facts[row] for row in chosen),
        told_times=told,
        slot=stored.slot,
        matrix=stored.matrix,
    )


def _times_told(new: NewFact) -> str:
    return written(times_told(new.text, new.said_at))


def _version(connection: sqlite3.Connection, shelf_id: int) -> int:
    row = _VERSION.first(connection, shelf=shelf_id)
    assert row is not None
    return row[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    ids: tuple[int, ...] = ()
    slot: int = 0
    matrix: Matrix | None = None
    """Of those whose vectors answer at once; the first lies in `slot`."""


def _store(
    connection: sqlite3.Connection,
    shelf_id: int,
    keeping: Keeping,
    chosen: Sequence[int],
    told: Sequence[str],
) -> _Stored:
    """The facts of these rows, with their vectors and the times they tell."""
    if keeping.vectors is None:
        ids = _insert(connection, shelf_id, keeping, chosen, told, model="")
        _TOUCH.run(connection, shelf=shelf_id)
        _say_too(connection, shelf_id, keeping, chosen, ids)
        return _Stored(ids=ids)
    vectors = keeping.vectors[list(chosen)]
    room = room_for(connection, shelf_id, keeping.model_id, vectors.shape[1])
    ids = _insert(
        connection, shelf_id, keeping, chosen, told, model="" if room.is_coming else keeping.model_id
    )
    said_at = [to_ms(keeping.facts[row].said_at) for row in chosen]
    fill(connection, room, ids, said_at, vectors, keeping.model_id)
    if room.is_coming:
        _TOUCH.run(connection, shelf=shelf_id)
    _say_too(connection, shelf_id, keeping, chosen, ids)
    return _Stored(ids=ids) if room.is_coming else _Stored(ids=ids, slot=room.size, matrix=vectors)


def _was_forgotten(connection: sqlite3.Connection, keeping: Keeping) -> bool:
    """The turn that this was taken from. With a job it is there: both go together."""
    source = keeping.source_turn
    return source is not None and keeping.job is None and _TURN.first(connection, turn=source) is None


def add_vectors(
    connection: sqlite3.Connection, scope: Scope, fact_ids: Sequence[int], vectors: Matrix, model_id: str
) -> None:
    """See `FactStore.add_vectors`."""
    shelf_id = find_shelf(connection, scope.account, scope.place)
    if shelf_id is None or not is_current(connection, scope):
        return
    room = room_for(connection, shelf_id, model_id, vectors.shape[1])
    has_one = set(coming_ids(connection, shelf_id, (model_id, vectors.shape[1])))
    given: list[tuple[int, int, str]] = _GIVEN.rows(connection, ids=as_list(fact_ids), shelf=shelf_id)
    said_at = {
        each: at for each, at, model in given if (each not in has_one if room.is_coming else model == "")
    }
    rows = {each: row for row, each in enumerate(fact_ids) if each in said_at}
    if rows:
        times, chosen = [said_at[each] for each in rows], vectors[list(rows.values())]
        fill(connection, room, list(rows), times, chosen, model_id)
        if not room.is_coming:
            mark(connection, shelf_id, list(rows), model_id)


def _told(
    connection: sqlite3.Connection, shelf_id: int, keeping: Keeping
) -> tuple[list[int], dict[int, int]]:
    """The rows of the facts that are new, each text once, and the ids of those that the account's own shelf holds, by
    row. What another account of the person holds counts for nothing: should the two part, each keeps what it said
    itself."""
    rows: dict[str, int] = {}
    held: dict[int, int] = {}
    for row, new in enumerate(keeping.facts):
        known = _KNOWN.first(connection, shelf=shelf_id, now=keeping.now_ms, text=new.text)
        same = known[0] if known is not None else new.repeats
        if same is not None and tell_again(connection, shelf_id, new, of=same, now=keeping.now_ms):
            held[row] = same
            if known is None:
                keep_words(connection, keeping.scope, shelf_id, new, of=same, turn=keeping.source_turn)
        else:
            rows.setdefault(new.text, row)
    return list(rows.values()), held


def _insert(
    connection: sqlite3.Connection,
    shelf_id: int,
    keeping: Keeping,
    chosen: Sequence[int],
    told: Sequence[str],
    *,
    model: str,
) -> tuple[int, ...]:
    """The ids. `model` at once, not by an update: an index hangs on it."""
    ids: list[int] = []
    for new, times in zip((keeping.facts[row] for row in chosen), told, strict=True):
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
            told_times=times,
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
