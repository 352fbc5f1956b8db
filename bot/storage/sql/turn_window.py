"""The short-term window as SQL has it: the last turns of a scope.

Invariant: this is the truth that a cached window copies; nothing is held here.
"""

import sqlite3

from sqlalchemy import bindparam, select

from bot.conversation.scope import Scope
from bot.conversation.turn import Turn
from bot.storage.sql.database import Database
from bot.storage.sql.looking import covered_by
from bot.storage.sql.schema import from_ms, turn
from bot.storage.sql.statements import Row, Statement

# One shelf at a time: over several, SQLite would sort the whole history to find its end.
_LAST = Statement(
    select(turn.c.id, turn.c.question, turn.c.answer, turn.c.at)
    .where(turn.c.shelf_id == bindparam("shelf"))
    .order_by(turn.c.id.desc())
    .limit(bindparam("limit"))
)


class SqlTurnWindow:
    """`TurnWindow` over the table of turns."""

    def __init__(self, database: Database, *, limit: int) -> None:
        """`limit`: turns in a window."""
        self._database = database
        self._limit = limit

    async def recent(self, scope: Scope) -> tuple[Turn, ...]:
        def look(connection: sqlite3.Connection) -> list[Row]:
            covered = covered_by(connection, scope)
            return [
                row for each in covered.ids for row in _LAST.rows(connection, shelf=each, limit=self._limit)
            ]

        rows = await self._database.glance(look)
        last = sorted(rows, key=lambda row: row[0])[-self._limit :]
        return tuple(Turn(id=row[0], question=row[1], answer=row[2], at=from_ms(row[3])) for row in last)

    async def append(self, scope: Scope, turn: Turn) -> None:
        """Nothing to do: a committed turn is in the table."""

    async def drop(self, scope: Scope) -> None:
        """Nothing to do: whoever deleted the turns has dropped the window."""
