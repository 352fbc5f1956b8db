"""Facts that are kept and compete no more: a later one contradicts them, or their time is over.

Invariant: read through the shelves that a scope covers and nothing else; what is forgotten is not there to be read.
"""

import sqlite3

from sqlalchemy import bindparam, exists, not_, select

from bot.conversation.ports import Clock
from bot.conversation.scope import Scope
from bot.memory.fact import Fact
from bot.storage.sql.database import Database
from bot.storage.sql.fact_columns import is_in_view
from bot.storage.sql.fact_reading import read_fact
from bot.storage.sql.looking import covered_by
from bot.storage.sql.schema import account, fact, shelf, to_ms
from bot.storage.sql.shelves import as_list, listed
from bot.storage.sql.statements import Row, Statement

_CLOSED = Statement(
    select(
        fact.c.id,
        fact.c.kind,
        fact.c.text,
        fact.c.importance,
        fact.c.said_at,
        account.c.channel,
        fact.c.said_again_at,
    )
    .join_from(fact, shelf, shelf.c.id == fact.c.shelf_id)
    .join(account, account.c.id == shelf.c.account_id)
    .where(fact.c.shelf_id == bindparam("shelf"), not_(is_in_view()))
    .order_by(fact.c.said_at.desc(), fact.c.id.desc())
    .limit(bindparam("limit"))
)

OUTDATED = 200
"""Closed facts that a summary is held against: it tells of the last weeks."""
_open = fact.alias("open")
_OUTDATED = Statement(
    select(fact.c.id, fact.c.text)
    .where(
        fact.c.shelf_id == bindparam("shelf"),
        # By an index of its own: each message asks. What was only denied is closed by no fact, and not among these.
        fact.c.superseded_by.is_not(None),
        fact.c.valid_to.is_not(None),
        ~exists().where(
            _open.c.shelf_id.in_(listed("shelves")), _open.c.text == fact.c.text, _open.c.valid_to.is_(None)
        ),
    )
    .order_by(fact.c.id.desc())
    .limit(OUTDATED)
)


class SqlClosedFacts:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def closed_facts(self, scope: Scope, limit: int) -> tuple[Fact, ...]:
        """The newest `limit`, newest first; in a thread: nobody waits for it but who asks why. Raises StoreUnavailable."""
        now_ms = to_ms(self._clock.now())

        def look(connection: sqlite3.Connection) -> list[Row]:
            covered = covered_by(connection, scope)
            return [
                row
                for each in covered.ids
                for row in _CLOSED.rows(connection, shelf=each, now=now_ms, limit=limit)
            ]

        rows = sorted(await self._database.view(look), key=lambda row: (row[4], row[0]), reverse=True)
        return tuple(map(read_fact, rows[:limit]))

    async def outdated_texts(self, scope: Scope) -> tuple[str, ...]:
        """See `OutdatedReader`."""

        def look(connection: sqlite3.Connection) -> list[Row]:
            shelves = covered_by(connection, scope).ids
            return [
                row
                for each in shelves
                for row in _OUTDATED.rows(connection, shelf=each, shelves=as_list(shelves))
            ]

        rows = sorted(await self._database.glance(look), reverse=True)
        return tuple(text for _, text in rows[:OUTDATED])
