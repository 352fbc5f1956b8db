"""Accounts that WeChat gave another openid, when an official account was moved to another owner.

Invariant: an account keeps its row, and so its person and memory; where the new openid wrote already, that
account joins the person of the old one. Audited; doing it again changes nothing.
"""

import sqlite3
from collections.abc import Sequence

from sqlalchemy import bindparam, update

from bot.conversation.message import AccountKey
from bot.conversation.ports import Clock
from bot.storage.sql import account_statements as statements
from bot.storage.sql.conflicts import against_joining, note
from bot.storage.sql.database import Database
from bot.storage.sql.joining import account_of, join, record
from bot.storage.sql.schema import account, to_ms
from bot.storage.sql.statements import Statement
from identity.lists import Moved, OpenidPair
from identity.model import Account

REASON = "changeopenid"

_RENAME = Statement(
    update(account)
    .where(account.c.id == bindparam("account"))
    .values(openid=bindparam("new_openid"), app_id=bindparam("new_app"))
)


class SqlOpenids:
    """Re-keys accounts."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def move(
        self, pairs: Sequence[OpenidPair], channel: str, from_app: str, into_app: str
    ) -> tuple[Moved, ...]:
        """All in one transaction."""
        now = to_ms(self._clock.now())
        keys = [
            (
                AccountKey(channel=channel, app_id=from_app, openid=pair.before),
                AccountKey(channel=channel, app_id=into_app, openid=pair.after),
            )
            for pair in pairs
        ]
        return await self._database.write(
            lambda connection: tuple(_move(connection, now, before, after) for before, after in keys)
        )


def _move(connection: sqlite3.Connection, now: int, before: AccountKey, after: AccountKey) -> Moved:
    old, new = _find(connection, before), _find(connection, after)
    if old is None:
        # Never ours, or renamed before: then the new one is there.
        return Moved.UNKNOWN if new is None else Moved.DONE
    if new is None:
        _RENAME.run(connection, account=old.id, new_openid=after.openid, new_app=after.app_id)
        record(connection, now, old, "rename-account", reason=REASON, detail=f"账号 {old.id}")
        return Moved.RENAMED
    if new.person == old.person:
        return Moved.DONE
    kind = against_joining(connection, new, old.person)
    if kind is not None:
        note(connection, now, new, old.person, kind, REASON)
        return Moved.CONFLICT
    join(connection, now, new, old.person, REASON)
    return Moved.JOINED


def _find(connection: sqlite3.Connection, key: AccountKey) -> Account | None:
    row = statements.FIND.first(connection, channel=key.channel, app_id=key.app_id, openid=key.openid)
    return None if row is None else account_of(row)
