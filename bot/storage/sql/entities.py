"""What conversations have named, in SQL: kept with the facts of a turn, read by the scope, forgotten with the turn.

Invariant: read through the shelves that a scope covers and nothing else; of a shelf the newest `KEPT` stay.
"""

import sqlite3
from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import bindparam, delete, exists, func, select

from bot.conversation.scope import Scope
from bot.memory.entities import SAME_WITHIN, EntityType, SeenEntity
from bot.memory.normalise import normalise
from bot.memory.sought import Sought
from bot.storage.sql.database import Database
from bot.storage.sql.looking import covered_by
from bot.storage.sql.schema import entity, fact, from_ms, to_ms
from bot.storage.sql.shelves import as_list, listed
from bot.storage.sql.statements import Row, Statement, constant, insert_into

KEPT = 300
"""Of a shelf: a month of talk about orders. What is older is still in the facts and turns."""
SHORTEST_NAMED = 2
"""Characters. A shorter value is part of nearly every fact."""
_SAME_MS = int(SAME_WITHIN.total_seconds() * 1000)

_IS_OVER = exists().where(
    fact.c.shelf_id == entity.c.shelf_id,
    fact.c.superseded_by.is_not(None),
    fact.c.valid_to.is_not(None),
    fact.c.source_turn == entity.c.source_turn,
    func.instr(fact.c.text, entity.c.value) > constant(0),
)
"""It stands in a fact of its turn that a later one closed."""

# One shelf at a time: over several, SQLite would sort all that was ever named in them.
_SEEN = Statement(
    select(
        entity.c.seen_at,
        entity.c.id,
        entity.c.type,
        entity.c.value,
        entity.c.normalised,
        entity.c.context,
        _IS_OVER.label("is_over"),
    )
    .where(entity.c.shelf_id == bindparam("shelf"))
    .order_by(entity.c.seen_at.desc(), entity.c.id.desc())
    .limit(bindparam("limit"))
)
_SAID_AGAIN = Statement(
    select(entity.c.id)
    .where(
        entity.c.shelf_id == bindparam("shelf"),
        entity.c.seen_at >= bindparam("since"),
        entity.c.seen_at <= bindparam("until"),
        entity.c.type == bindparam("type"),
        entity.c.normalised == bindparam("normalised"),
    )
    .limit(1)
)
_INSERT = Statement(
    insert_into(entity, "shelf_id", "type", "value", "normalised", "context", "seen_at", "source_turn")
)
_DROP_OLDEST = Statement(
    delete(entity).where(
        entity.c.id.in_(
            select(entity.c.id)
            .where(entity.c.shelf_id == bindparam("shelf"))
            .order_by(entity.c.seen_at.desc(), entity.c.id.desc())
            .limit(-1)
            .offset(KEPT)
        )
    )
)
_DELETE_ALL = Statement(delete(entity).where(entity.c.shelf_id.in_(listed("shelves"))))
_DELETE_OF_TURNS = Statement(delete(entity).where(entity.c.source_turn.in_(listed("turns"))))
_NAMED = Statement(
    select(entity.c.id, entity.c.value, entity.c.normalised, entity.c.context).where(
        entity.c.shelf_id.in_(listed("shelves"))
    )
)
_DELETE = Statement(delete(entity).where(entity.c.id.in_(listed("ids"))))


class SqlEntities:
    """`EntityStore`. What it reads, `SqlFacts.keep` wrote."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def seen(self, scope: Scope, limit: int) -> tuple[SeenEntity, ...]:
        """A few rows by index. Raises StoreUnavailable."""

        def look(connection: sqlite3.Connection) -> list[Row]:
            shelves = covered_by(connection, scope).ids
            return [row for each in shelves for row in _SEEN.rows(connection, shelf=each, limit=limit)]

        rows = sorted(await self._database.glance(look), reverse=True)[:limit]
        return tuple(
            SeenEntity(
                type=EntityType(row[2]),
                value=row[3],
                normalised=row[4],
                seen_at=from_ms(row[0]),
                context=row[5],
                is_over=bool(row[6]),
            )
            for row in reversed(rows)
        )


def keep_entities(
    connection: sqlite3.Connection,
    shelf_id: int,
    entities: Sequence[SeenEntity],
    source_turn: int | None,
) -> None:
    """In the caller's transaction; what was said within `SAME_WITHIN` before is not kept again."""
    for each in entities:
        at = to_ms(each.seen_at)
        same = {"shelf": shelf_id, "type": each.type.value, "normalised": each.normalised}
        if _SAID_AGAIN.first(connection, **same, since=at - _SAME_MS, until=at) is None:
            _INSERT.run(
                connection,
                shelf_id=shelf_id,
                type=each.type.value,
                value=each.value,
                normalised=each.normalised,
                context=each.context,
                seen_at=at,
                source_turn=source_turn,
            )
    if entities:
        _DROP_OLDEST.run(connection, shelf=shelf_id)


def forget_shelves(connection: sqlite3.Connection, shelves: str) -> int:
    """`shelves`: a JSON list of ids, here and below. Returns how many there were, as those below."""
    return _DELETE_ALL.run(connection, shelves=shelves).rowcount


def forget_turns(connection: sqlite3.Connection, turns: Iterable[int]) -> int:
    """What was seen in these turns, by their ids."""
    return _DELETE_OF_TURNS.run(connection, turns=as_list(turns)).rowcount


def with_words(
    connection: sqlite3.Connection, shelves: str, sought: Sought, texts: Collection[str]
) -> list[int]:
    """Ids of what stood among these words, and of what one of the texts names."""
    folded = [normalise(text) for text in texts]
    return [
        each
        for each, value, normalised, context in _NAMED.rows(connection, shelves=shelves)
        if sought.is_in(f"{context} {value} {normalised}")
        or (len(value) >= SHORTEST_NAMED and any(normalise(value) in text for text in folded))
    ]


def forget_words(connection: sqlite3.Connection, shelves: str, sought: Sought, texts: Collection[str]) -> int:
    """What `with_words` finds."""
    named = as_list(with_words(connection, shelves, sought, texts))
    return _DELETE.run(connection, ids=named).rowcount
