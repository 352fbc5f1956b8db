"""Turns by the time they were said at: what a question about a time is answered from beside the facts.

Invariant: read through the shelves that a scope covers and nothing else; nothing is held here.
"""

import sqlite3
from datetime import datetime

from sqlalchemy import bindparam, func, select

from bot.conversation.scope import Scope
from bot.conversation.turn import Turn
from bot.storage.sql.database import Database
from bot.storage.sql.looking import TooMany, covered_by
from bot.storage.sql.schema import from_ms, shelf, to_ms, turn
from bot.storage.sql.statements import Row, Statement
from bot.storage.sql.turn_reading import turn_of

FEW_TURNS = 200
"""Of a scope's are looked through at once, 0.3 ms."""

_COUNT = Statement(
    select(func.count()).select_from(
        select(turn.c.id).where(turn.c.shelf_id == bindparam("shelf")).limit(FEW_TURNS + 1).subquery()
    )
)
_TIMES = Statement(
    select(turn.c.at)
    .where(turn.c.shelf_id == bindparam("shelf"))
    .order_by(turn.c.id.desc())
    .limit(bindparam("limit"))
)
_BETWEEN = Statement(
    select(turn.c.id, turn.c.question, turn.c.answer, turn.c.at)
    .where(
        turn.c.shelf_id == bindparam("shelf"),
        turn.c.at >= bindparam("start"),
        turn.c.at < bindparam("end"),
    )
    .order_by(turn.c.id.desc())
    .limit(bindparam("limit"))
)

_BEFORE = Statement(
    select(turn.c.id, turn.c.question, turn.c.answer, turn.c.at)
    .join_from(turn, shelf, shelf.c.id == turn.c.shelf_id)
    .where(
        shelf.c.account_id == bindparam("account"),
        shelf.c.place == bindparam("place"),
        turn.c.id < bindparam("turn"),
    )
    .order_by(turn.c.id.desc())
    .limit(1)
)


class SqlTurnLog:
    """`TurnLog` and `TurnBefore` over the table of turns. A long life of talk is read to find one day of it: that is done
    in a thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def times(self, scope: Scope, limit: int) -> tuple[datetime, ...]:
        def look(connection: sqlite3.Connection, *, is_bounded: bool) -> list[int]:
            shelves = _shelves(connection, scope, is_bounded=is_bounded)
            return [row[0] for each in shelves for row in _TIMES.rows(connection, shelf=each, limit=limit)]

        found = await self._database.look(look)
        return tuple(from_ms(at) for at in sorted(found, reverse=True)[:limit])

    async def between(self, scope: Scope, start: datetime, end: datetime, limit: int) -> tuple[Turn, ...]:
        edges = {"start": to_ms(start), "end": to_ms(end)}

        def look(connection: sqlite3.Connection, *, is_bounded: bool) -> list[Row]:
            shelves = _shelves(connection, scope, is_bounded=is_bounded)
            return [
                row for each in shelves for row in _BETWEEN.rows(connection, shelf=each, limit=limit, **edges)
            ]

        rows = sorted(await self._database.look(look), key=lambda row: row[0])[-limit:]
        return tuple(turn_of(*row) for row in rows)

    async def before(self, scope: Scope, turn: int) -> Turn | None:
        """By index: the account's own last turns."""
        rows = await self._database.peek(_BEFORE, account=scope.account, place=scope.place, turn=turn)
        return next((turn_of(*row) for row in rows), None)


def _shelves(connection: sqlite3.Connection, scope: Scope, *, is_bounded: bool) -> tuple[int, ...]:
    """Raises TooMany, if bounded, where they hold more than `FEW_TURNS`."""
    shelves = covered_by(connection, scope).ids
    if is_bounded and sum(_COUNT.rows(connection, shelf=each)[0][0] for each in shelves) > FEW_TURNS:
        raise TooMany
    return shelves
