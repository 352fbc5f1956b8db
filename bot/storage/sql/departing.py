"""Leaving for good: memory and identity of a person, in one transaction.

Invariant: between the memory and the links nothing can be stored, so no work that was under way on any of the
accounts is kept, and nobody is left half gone.
"""

import sqlite3

from bot.conversation.ports import Clock
from bot.conversation.scope import AccountId, PersonId
from bot.memory.fact import ForgetReceipt
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql import account_statements
from bot.storage.sql.database import Database
from bot.storage.sql.forgetting import accounts_of, clear_accounts
from bot.storage.sql.joining import make_newcomers
from bot.storage.sql.noting import note_leaving, write_noted
from bot.storage.sql.schema import to_ms
from bot.storage.sql.scopes import bar_older_work


class SqlDeparting:
    """`bot.erasing.Departures` over SQL."""

    def __init__(self, database: Database, clock: Clock, ledger: ForgetLedger | None = None) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger

    async def depart(self, person: PersonId) -> ForgetReceipt:
        now = to_ms(self._clock.now())
        receipt = await write_noted(
            self._database, self._ledger, lambda connection: _depart(connection, now, person, self._ledger)
        )
        await self._database.quiesce_and_checkpoint()
        return receipt


def _depart(
    connection: sqlite3.Connection, now: int, person: PersonId, ledger: ForgetLedger | None
) -> ForgetReceipt:
    if bar_older_work(connection, person) is None:
        return ForgetReceipt()
    cleared = accounts_of(connection, person)
    leaving = [AccountId(row[0]) for row in account_statements.OF_PERSON.rows(connection, person=person)]
    if ledger is not None:
        note_leaving(connection, ledger, cleared, leaving)
    receipt = clear_accounts(connection, cleared)
    make_newcomers(connection, now, leaving)
    return receipt
