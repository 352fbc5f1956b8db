"""The short-term window as SQL has it: the last turns of a scope, and the summaries of what was before.

Invariant: this is the truth that a cached window copies; nothing is held here.
"""

import sqlite3

from sqlalchemy import bindparam, select

from bot.conversation.scope import Scope
from bot.conversation.turn import Turn
from bot.memory.summary import RecentTalk, Summary
from bot.storage.sql.database import Database
from bot.storage.sql.looking import covered_by
from bot.storage.sql.schema import summary, turn
from bot.storage.sql.statements import Row, Statement
from bot.storage.sql.summaries import summary_of
from bot.storage.sql.turn_reading import turn_of

# One shelf at a time: over several, SQLite would sort the whole history to find its end.
_LAST = Statement(
    select(turn.c.id, turn.c.question, turn.c.answer, turn.c.at, summary.c.to_turn)
    .select_from(turn.outerjoin(summary, summary.c.shelf_id == turn.c.shelf_id))
    .where(turn.c.shelf_id == bindparam("shelf"))
    .order_by(turn.c.id.desc())
    .limit(bindparam("limit"))
)


class SqlTurnWindow:
    """`TurnWindow` over the table of turns."""

    def __init__(
        self, database: Database, *, limit: int, most_fresh: int = 0, has_summaries: bool = True
    ) -> None:
        """`limit`: turns in a window; `most_fresh`: of those that a summary does not tell of, where there is one, also
        more. `has_summaries`: False passes over those there are."""
        self._database = database
        self._limit = limit
        self._most = max(limit, most_fresh)
        self._has_summaries = has_summaries

    async def recent(self, scope: Scope) -> RecentTalk:
        def look(connection: sqlite3.Connection) -> tuple[list[Row], list[Summary]]:
            rows: list[Row] = []
            summaries: list[Summary] = []
            for each in covered_by(connection, scope).ids:
                last = _LAST.rows(connection, shelf=each, limit=self._limit)
                # Who has no summary, as most people, is asked for none.
                if self._has_summaries and last and last[0][4]:
                    summaries += [found] if (found := summary_of(connection, each)) else []
                    if last[-1][0] > last[-1][4] and self._most > self._limit:
                        last = _LAST.rows(connection, shelf=each, limit=self._most)
                rows += last
            return rows, summaries

        rows, summaries = await self._database.glance(look)
        last = sorted(rows, key=lambda row: row[0])[-(self._most if summaries else self._limit) :]
        return RecentTalk(
            turns=tuple(turn_of(*row[:4]) for row in last),
            summaries=tuple(sorted(summaries, key=lambda each: each.to_turn)),
            condensed=frozenset(row[0] for row in last if summaries and row[4] and row[0] <= row[4]),
        )

    async def append(self, scope: Scope, turn: Turn) -> None:
        """Nothing to do: a committed turn is in the table."""

    async def drop(self, scope: Scope, *, for_good: bool = False) -> None:
        """Nothing to do: whoever deleted the turns has dropped the window."""
