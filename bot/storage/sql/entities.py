"""What conversations have named, in SQL: kept with the facts of a turn, read by the scope, forgotten with the turn.

Invariant: read through the shelves that a scope covers and nothing else; of a shelf the newest `KEPT` stay.
"""

import sqlite3
from collections.abc import Iterable, Sequence

from sqlalchemy import bindparam, delete, func, or_, select

from bot.conversation.scope import Scope
from bot.memory.entities import SAME_WITHIN, EntityType, SeenEntity
from bot.storage.sql.database import Database
from bot.storage.sql.schema import entity, from_ms, shelf, to_ms
from bot.storage.sql.shelves import as_list, asked, covered, listed
from bot.storage.sql.statements import Statement, insert_into

KEPT = 300
"""Of a shelf: a month of talk about orders. What is older is still in the facts and turns."""
SHORTEST_NAMED = 2
"""Characters. A shorter value is part of nearly every fact."""
_SAME_MS = int(SAME_WITHIN.total_seconds() * 1000)

_SEEN = Statement(
    covered(entity.c.type, entity.c.value, entity.c.normalised, entity.c.seen_at, entity.c.context)
    .join(entity, entity.c.shelf_id == shelf.c.id)
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
_DELETE_NAMED = Statement(
    delete(entity).where(
        entity.c.shelf_id.in_(listed("shelves")),
        or_(
            func.instr(entity.c.context, bindparam("text")) > 0,
            (func.length(entity.c.value) >= SHORTEST_NAMED)
            & (func.instr(bindparam("text"), entity.c.value) > 0),
        ),
    )
)


class SqlEntities:
    """`EntityStore`. What it reads, `SqlFacts.keep` wrote."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def seen(self, scope: Scope, limit: int) -> tuple[SeenEntity, ...]:
        """A few rows by index. Raises StoreUnavailable."""
        rows = await self._database.peek(_SEEN, **asked(scope), limit=limit)
        return tuple(
            SeenEntity(
                type=EntityType(row[0]),
                value=row[1],
                normalised=row[2],
                seen_at=from_ms(row[3]),
                context=row[4],
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


def forget_shelves(connection: sqlite3.Connection, shelves: str) -> None:
    """`shelves`: a JSON list of ids."""
    _DELETE_ALL.run(connection, shelves=shelves)


def forget_turns(connection: sqlite3.Connection, turns: Iterable[int]) -> None:
    """What was seen in these turns, by their ids."""
    _DELETE_OF_TURNS.run(connection, turns=as_list(turns))


def forget_words(connection: sqlite3.Connection, shelves: str, texts: Iterable[str]) -> None:
    """What stood among these words, and what they name."""
    for text in texts:
        _DELETE_NAMED.run(connection, shelves=shelves, text=text)
