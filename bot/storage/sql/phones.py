"""Phone links under a changing pepper, and many of them at once.

Invariant: a number that was seen has its link under the newest pepper only, and the link of another person under
an older one joins it or waits as a conflict: none is lost. Functions run inside the caller's transaction.
"""

import sqlite3
from collections.abc import Sequence

from sqlalchemy import bindparam, delete, select, update

from bot.conversation.message import AccountKey
from bot.conversation.ports import Clock
from bot.conversation.scope import AccountId, PersonId
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql import account_statements as statements
from bot.storage.sql.conflicts import against_joining, note
from bot.storage.sql.database import Database
from bot.storage.sql.joining import account_of, by_id, join, new_person, record
from bot.storage.sql.rehearsing import write_or_rehearse
from bot.storage.sql.schema import phone_link, to_ms
from bot.storage.sql.statements import Statement
from identity.lists import Linked, PhoneRow
from identity.model import Account
from identity.phone import PhoneHash

RENEWED = "phone:renewed"
"""The reason of a join that two links of one number came to."""

_IS_IT = (
    phone_link.c.phone_hash == bindparam("old_hash"),
    phone_link.c.key_version == bindparam("old_version"),
)
_LINK = Statement(select(phone_link.c.person_id, phone_link.c.account_id).where(*_IS_IT))
_RENEW = Statement(
    update(phone_link)
    .where(*_IS_IT)
    .values(phone_hash=bindparam("new_hash"), key_version=bindparam("version"))
)
_DROP = Statement(delete(phone_link).where(*_IS_IT))


class SqlPhones:
    """`identity.ports.PhoneStore` over SQL, and the import of lists."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def renew(self, hashes: Sequence[PhoneHash]) -> None:
        now = to_ms(self._clock.now())
        await self._database.write(lambda connection: renew(connection, now, hashes))

    async def import_rows(
        self, rows: Sequence[PhoneRow], verified_by: str, *, is_rehearsal: bool = False
    ) -> tuple[Linked, ...]:
        """All in one transaction. `is_rehearsal`: what would come of it, with nothing changed."""
        now = to_ms(self._clock.now())

        return await write_or_rehearse(
            self._database,
            lambda connection: tuple(_import(connection, now, row, verified_by) for row in rows),
            is_rehearsal=is_rehearsal,
        )


def renew(connection: sqlite3.Connection, now: int, hashes: Sequence[PhoneHash]) -> None:
    """See `identity.ports.PhoneStore.renew`."""
    newest, *older = hashes
    for each in older:
        old = {"old_hash": each.digest, "old_version": each.version}
        row = _LINK.first(connection, **old)
        if row is None:
            continue
        owner = _owner(connection, newest)
        if owner is None:
            _RENEW.run(connection, **old, new_hash=newest.digest, version=newest.version)
            continue
        _DROP.run(connection, **old)
        if owner != row[0]:
            _join_or_note(connection, now, by_id(connection, AccountId(row[1])), owner, RENEWED)


def link(
    connection: sqlite3.Connection,
    now: int,
    known: Account,
    phone: PhoneHash,
    verified_by: str,
    ledger: ForgetLedger | None = None,
) -> tuple[Linked, Account]:
    """Note a proven phone. A conflict is noted, and the account stays as it is."""
    owner = _owner(connection, phone)
    if owner is None:
        statements.INSERT_PHONE.run(
            connection,
            phone_hash=phone.digest,
            key_version=phone.version,
            person_id=known.person,
            account_id=known.id,
            verified_by=verified_by,
            at=now,
        )
        record(connection, now, known, "link-phone", reason=verified_by, detail=f"账号 {known.id}")
        return Linked.NEW, known
    if owner == known.person:
        return Linked.KNOWN, known
    return _join_or_note(connection, now, known, owner, f"phone:{verified_by}", ledger)


def account_with(connection: sqlite3.Connection, now: int, key: AccountKey) -> Account:
    """The account with this key, made where there is none: its first message finds it."""
    names: dict[str, object] = {"channel": key.channel, "app_id": key.app_id, "openid": key.openid}
    known = statements.FIND.first(connection, **names)
    if known is not None:
        return account_of(known)
    made = statements.INSERT.run(
        connection,
        **names,
        unionid="",
        person_id=new_person(connection, now),
        cleared_epoch=0,
        greeted=0,
        created_at=now,
    )
    return by_id(connection, AccountId(made.lastrowid or 0))


def _import(connection: sqlite3.Connection, now: int, row: PhoneRow, verified_by: str) -> Linked:
    known = account_with(connection, now, row.key)
    renew(connection, now, row.hashes)
    return link(connection, now, by_id(connection, known.id), row.hashes[0], verified_by)[0]


def _owner(connection: sqlite3.Connection, phone: PhoneHash) -> PersonId | None:
    row = statements.OWNER_OF_PHONE.first(connection, phone_hash=phone.digest, key_version=phone.version)
    return None if row is None else PersonId(row[0])


def _join_or_note(
    connection: sqlite3.Connection,
    now: int,
    account: Account,
    owner: PersonId,
    reason: str,
    ledger: ForgetLedger | None = None,
) -> tuple[Linked, Account]:
    kind = against_joining(connection, account, owner)
    if kind is not None:
        note(connection, now, account, owner, kind, reason)
        return Linked.CONFLICT, account
    return Linked.JOINED, join(connection, now, account, owner, reason, ledger)
