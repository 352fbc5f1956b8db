"""Codes that link accounts, and the tries to guess them.

Invariant: a code is entered once, by an account of another person, and spent once; of a code only its keyed hash is
stored. Accounts that are tried out and real ones never meet.
"""

import sqlite3
from datetime import datetime

from sqlalchemy import bindparam, delete, func, select, update

from bot.conversation.message import is_playground
from bot.conversation.scope import AccountId
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql.conflicts import have_phones, note
from bot.storage.sql.database import Database
from bot.storage.sql.joining import by_id, join, record
from bot.storage.sql.noting import write_noted
from bot.storage.sql.schema import link_code, link_try, to_ms
from bot.storage.sql.statements import Statement, insert_into
from identity.model import Account, ConflictKind, LinkOutcome

REASON = "code"

_FORGET_OLD = Statement(delete(link_code).where(link_code.c.issued_at <= bindparam("since")))
_COUNT = Statement(
    select(func.count()).select_from(link_code).where(link_code.c.account_id == bindparam("account"))
)
_IS_OPEN = link_code.c.spent_at.is_(None)
_SPEND = Statement(
    update(link_code)
    .where(link_code.c.account_id == bindparam("account"), _IS_OPEN)
    .values(spent_at=bindparam("now"))
)
_REFUSE = Statement(
    update(link_code)
    .where(
        link_code.c.account_id == bindparam("account"), link_code.c.expires_at > bindparam("now"), _IS_OPEN
    )
    .values(spent_at=bindparam("now"))
)
_INSERT = Statement(
    insert_into(link_code, "code_hash", "account_id", "issued_at", "expires_at").on_conflict_do_nothing()
)
_FORGET_TRIES = Statement(delete(link_try).where(link_try.c.at <= bindparam("since")))
_TRIES = Statement(
    select(func.count()).select_from(link_try).where(link_try.c.account_id == bindparam("account"))
)
_INSERT_TRY = Statement(insert_into(link_try, "account_id", "at"))
_LOCK = Statement(
    update(link_try).where(link_try.c.account_id == bindparam("account")).values(at=bindparam("now"))
)
_FIND = Statement(
    select(link_code.c.account_id).where(
        link_code.c.code_hash == bindparam("code"),
        link_code.c.entered_by.is_(None),
        link_code.c.expires_at > bindparam("now"),
        _IS_OPEN,
    )
)
_ENTER = Statement(
    update(link_code)
    .where(link_code.c.code_hash == bindparam("code"))
    .values(entered_by=bindparam("account"), expires_at=bindparam("until"))
)
_ENTERED = Statement(
    select(link_code.c.entered_by, link_code.c.shown_at).where(
        link_code.c.account_id == bindparam("account"),
        link_code.c.entered_by.is_not(None),
        link_code.c.expires_at > bindparam("now"),
        _IS_OPEN,
    )
)
_SHOW = Statement(
    update(link_code)
    .where(
        link_code.c.account_id == bindparam("account"),
        link_code.c.entered_by.is_not(None),
        link_code.c.shown_at.is_(None),
        link_code.c.expires_at > bindparam("now"),
        _IS_OPEN,
    )
    .values(shown_at=bindparam("now"))
)


class SqlLinkCodes:
    """`identity.ports.LinkStore` over SQL."""

    def __init__(self, database: Database, ledger: ForgetLedger | None = None) -> None:
        self._database = database
        self._ledger = ledger

    async def issue(
        self,
        account: AccountId,
        code_hash: bytes,
        *,
        now: datetime,
        expires_at: datetime,
        counted_since: datetime,
        most: int,
    ) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            _FORGET_OLD.run(connection, since=to_ms(counted_since))
            count = _COUNT.first(connection, account=account)
            if count is not None and count[0] >= most:
                return False
            _SPEND.run(connection, account=account, now=to_ms(now))
            made = _INSERT.run(
                connection,
                code_hash=code_hash,
                account_id=account,
                issued_at=to_ms(now),
                expires_at=to_ms(expires_at),
            )
            return made.rowcount == 1

        return await self._database.write(work)

    async def enter(
        self,
        account: AccountId,
        code_hash: bytes,
        *,
        now: datetime,
        expires_at: datetime,
        tries_since: datetime,
        most_tries: int,
    ) -> Account | None:
        at = to_ms(now)

        def work(connection: sqlite3.Connection) -> Account | None:
            _FORGET_TRIES.run(connection, since=to_ms(tries_since))
            tries = _tries(connection, account)
            if tries >= most_tries:
                return None
            issuer = _issuer(connection, account, code_hash, at)
            if issuer is None:
                _INSERT_TRY.run(connection, account_id=account, at=at)
                if tries + 1 >= most_tries:
                    _LOCK.run(connection, account=account, now=at)
                    record(
                        connection, at, by_id(connection, account), "link-locked", reason=REASON, detail=""
                    )
                return None
            _ENTER.run(connection, code=code_hash, account=account, until=to_ms(expires_at))
            return issuer

        return await self._database.write(work)

    async def show(self, account: AccountId, now: datetime) -> Account | None:
        def work(connection: sqlite3.Connection) -> Account | None:
            row = _ENTERED.first(connection, account=account, now=to_ms(now))
            if row is None:
                return None
            _SHOW.run(connection, account=account, now=to_ms(now))
            return by_id(connection, row[0])

        return await self._database.write(work)

    async def confirm(self, account: AccountId, now: datetime) -> tuple[LinkOutcome, Account | None]:
        at = to_ms(now)

        def work(connection: sqlite3.Connection) -> tuple[LinkOutcome, Account | None]:
            row = _ENTERED.first(connection, account=account, now=at)
            if row is None:
                return LinkOutcome.NOTHING, None
            entered_by, shown_at = row
            if shown_at is None:
                _SHOW.run(connection, account=account, now=at)
                return LinkOutcome.UNSEEN, by_id(connection, entered_by)
            _SPEND.run(connection, account=account, now=at)
            issuer, entered = by_id(connection, account), by_id(connection, entered_by)
            return _link(connection, at, issuer, entered, self._ledger)

        return await write_noted(self._database, self._ledger, work)

    async def refuse(self, account: AccountId, now: datetime) -> bool:
        return await self._database.write(
            lambda connection: _REFUSE.run(connection, account=account, now=to_ms(now)).rowcount > 0
        )


def _tries(connection: sqlite3.Connection, account: AccountId) -> int:
    row = _TRIES.first(connection, account=account)
    return 0 if row is None else row[0]


def _issuer(connection: sqlite3.Connection, account: AccountId, code_hash: bytes, now: int) -> Account | None:
    """Of a code that this account may enter."""
    row = _FIND.first(connection, code=code_hash, now=now)
    if row is None:
        return None
    issuer, own = by_id(connection, row[0]), by_id(connection, account)
    is_playing = {is_playground(each.key.app_id) for each in (issuer, own)}
    return issuer if issuer.person != own.person and len(is_playing) == 1 else None


def _link(
    connection: sqlite3.Connection,
    now: int,
    issuer: Account,
    entered: Account,
    ledger: ForgetLedger | None,
) -> tuple[LinkOutcome, Account]:
    if issuer.person == entered.person:
        return LinkOutcome.LINKED, entered
    if have_phones(connection, issuer.person, entered.person):
        note(connection, now, entered, issuer.person, ConflictKind.PHONES, REASON)
        return LinkOutcome.CONFLICT, entered
    return LinkOutcome.LINKED, join(connection, now, entered, issuer.person, REASON, ledger)
