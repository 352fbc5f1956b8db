"""Dangerous commands waiting for their sender's 「确认」.

Invariant: an account has at most one, and it is taken at most once.
"""

import sqlite3
from datetime import datetime

from sqlalchemy import bindparam, delete, select

from bot.conversation.ports import Clock
from bot.conversation.scope import AccountId
from bot.ports import Confirmation
from bot.storage.sql.database import Database
from bot.storage.sql.schema import confirmation, to_ms
from bot.storage.sql.statements import Row, Statement, insert_into

_COLUMNS = (
    confirmation.c.action,
    confirmation.c.argument,
    confirmation.c.reason,
    confirmation.c.expires_at,
)
_INSERT = insert_into(confirmation, "account_id", "action", "argument", "reason", "expires_at")
_ASK = Statement(
    _INSERT.on_conflict_do_update(
        index_elements=["account_id"],
        set_={name: _INSERT.excluded[name] for name in ("action", "argument", "reason", "expires_at")},
    )
)
_PENDING = Statement(
    select(*_COLUMNS).where(
        confirmation.c.account_id == bindparam("account"), confirmation.c.expires_at > bindparam("now")
    )
)
_TAKE = Statement(
    delete(confirmation).where(confirmation.c.account_id == bindparam("account")).returning(*_COLUMNS)
)


class SqlConfirmations:
    """`bot.ports.ConfirmationStore` over SQL."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def ask(self, account: AccountId, confirmation: Confirmation, expires_at: datetime) -> None:
        """In place of an earlier one."""

        def work(connection: sqlite3.Connection) -> None:
            _ASK.run(
                connection,
                account_id=account,
                action=confirmation.action,
                argument=confirmation.argument,
                reason=confirmation.reason,
                expires_at=to_ms(expires_at),
            )

        await self._database.write(work)

    async def pending(self, account: AccountId) -> Confirmation | None:
        rows = await self._database.peek(_PENDING, account=account, now=to_ms(self._clock.now()))
        return _confirmation_of(rows[0]) if rows else None

    async def take(self, account: AccountId) -> Confirmation | None:
        now = to_ms(self._clock.now())
        row = await self._database.write(lambda connection: _TAKE.first(connection, account=account))
        return _confirmation_of(row) if row is not None and row[-1] > now else None


def _confirmation_of(row: Row) -> Confirmation:
    action, argument, reason, _ = row
    return Confirmation(action=action, argument=argument, reason=reason)
