"""Codes that prove phones, the tries to guess them, and how many were asked for.

Invariant: of numbers and codes only keyed hashes are stored; a code is spent once; who asked and whose phone it was
about are counted in rows that do not name each other.
"""

import hmac
import sqlite3
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, delete, func, select, update

from bot.conversation.message import AccountKey
from bot.conversation.scope import AccountId
from bot.storage.sql.database import Database
from bot.storage.sql.joining import by_id, record
from bot.storage.sql.schema import account, from_ms, phone_ask, phone_code, to_ms
from bot.storage.sql.shelves import listed
from bot.storage.sql.statements import Statement, insert_into
from identity.model import CodeLimits
from identity.phone import PhoneHash

LOCKED = "phone-code-locked"

DROP_CODES = Statement(delete(phone_code).where(phone_code.c.account_id.in_(listed("accounts"))))
"""What is to come back from these accounts, a JSON list. What was counted stays its day: a limit that can be
cleared is none."""

_is_own = phone_code.c.account_id == bindparam("account")
_replacing = insert_into(
    phone_code,
    *("account_id", "phone_hash", "code_hash", "key_version", "issued_at", "expires_at", "tries"),
)
_REPLACE = Statement(
    _replacing.on_conflict_do_update(
        index_elements=["account_id"],
        set_={
            column.name: _replacing.excluded[column.name]
            for column in phone_code.columns
            if not column.primary_key
        },
    )
)
_ASK_OF_ACCOUNT = Statement(insert_into(phone_ask, "account_id", "at"))
_ASK_OF_PHONE = Statement(insert_into(phone_ask, "phone_hash", "at"))
_COUNT_OF_ACCOUNT = Statement(
    select(func.count())
    .select_from(phone_ask)
    .where(phone_ask.c.account_id == bindparam("account"), phone_ask.c.at > bindparam("since"))
)
_COUNT_OF_PHONE = Statement(
    select(func.count())
    .select_from(phone_ask)
    .where(phone_ask.c.phone_hash == bindparam("phone"), phone_ask.c.at > bindparam("since"))
)
_FIND = Statement(
    select(
        phone_code.c.code_hash,
        phone_code.c.phone_hash,
        phone_code.c.key_version,
        phone_code.c.expires_at,
        phone_code.c.tries,
    ).where(_is_own)
)
_COUNT_TRY = Statement(update(phone_code).where(_is_own).values(tries=phone_code.c.tries + 1))
_DROP = Statement(delete(phone_code).where(_is_own))
_last = select(func.max(phone_ask.c.id))
_UNCOUNT_ACCOUNT = Statement(
    delete(phone_ask).where(
        phone_ask.c.id
        == _last.where(
            phone_ask.c.account_id == bindparam("account"), phone_ask.c.at == bindparam("at")
        ).scalar_subquery()
    )
)
_UNCOUNT_PHONE = Statement(
    delete(phone_ask).where(
        phone_ask.c.id
        == _last.where(
            phone_ask.c.phone_hash == bindparam("phone"), phone_ask.c.at == bindparam("at")
        ).scalar_subquery()
    )
)
_OPEN = Statement(
    select(account.c.channel, account.c.app_id, account.c.openid, phone_code.c.expires_at)
    .select_from(phone_code.join(account))
    .where(phone_code.c.expires_at > bindparam("now"))
)
_DROP_OVER = Statement(delete(phone_code).where(phone_code.c.expires_at <= bindparam("now")))
_DROP_COUNTED = Statement(delete(phone_ask).where(phone_ask.c.at <= bindparam("since")))


class SqlPhoneCodes:
    """`identity.ports.PhoneCodeStore` over SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def issue(
        self,
        account: AccountId,
        phone: Sequence[PhoneHash],
        code_hash: bytes,
        *,
        now: datetime,
        expires_at: datetime,
        limits: CodeLimits,
    ) -> bool:
        at = to_ms(now)

        def work(connection: sqlite3.Connection) -> bool:
            _DROP_OVER.run(connection, now=at)
            _DROP_COUNTED.run(connection, since=to_ms(limits.day_since))
            if _is_too_many(connection, account, phone, limits):
                return False
            _ASK_OF_ACCOUNT.run(connection, account_id=account, at=at)
            _ASK_OF_PHONE.run(connection, phone_hash=phone[0].digest, at=at)
            _REPLACE.run(
                connection,
                account_id=account,
                phone_hash=phone[0].digest,
                code_hash=code_hash,
                key_version=phone[0].version,
                issued_at=at,
                expires_at=to_ms(expires_at),
                tries=0,
            )
            return True

        return await self._database.write(work)

    async def take_back(
        self, account: AccountId, code_hash: bytes, *, now: datetime, is_phone_counted: bool
    ) -> None:
        at = to_ms(now)

        def work(connection: sqlite3.Connection) -> None:
            _UNCOUNT_ACCOUNT.run(connection, account=account, at=at)
            row = _FIND.first(connection, account=account)
            if row is None or row[0] != code_hash:
                return
            if not is_phone_counted:
                _UNCOUNT_PHONE.run(connection, phone=row[1], at=at)
            _DROP.run(connection, account=account)

        await self._database.write(work)

    async def spend(
        self, account: AccountId, code_hash: bytes, *, now: datetime, most_tries: int
    ) -> PhoneHash | None:
        at = to_ms(now)

        def work(connection: sqlite3.Connection) -> PhoneHash | None:
            row = _FIND.first(connection, account=account)
            if row is None:
                return None
            expected, digest, version, expires_at, tries = row
            if expires_at <= at or tries >= most_tries:
                return None
            if not hmac.compare_digest(expected, code_hash):
                _COUNT_TRY.run(connection, account=account)
                if tries + 1 >= most_tries:
                    record(connection, at, by_id(connection, account), LOCKED, reason="code", detail="")
                return None
            _DROP.run(connection, account=account)
            return PhoneHash(version, digest)

        return await self._database.write(work)

    async def open_until(self, now: datetime) -> Sequence[tuple[AccountKey, datetime]]:
        return [
            (AccountKey(channel=channel, app_id=app_id, openid=openid), from_ms(expires_at))
            for channel, app_id, openid, expires_at in await self._database.read(_OPEN, now=to_ms(now))
        ]

    async def forget_overdue(self, now: datetime, counted_since: datetime) -> None:
        def work(connection: sqlite3.Connection) -> None:
            _DROP_OVER.run(connection, now=to_ms(now))
            _DROP_COUNTED.run(connection, since=to_ms(counted_since))

        await self._database.write(work)


def _is_too_many(
    connection: sqlite3.Connection, account: AccountId, phone: Sequence[PhoneHash], limits: CodeLimits
) -> bool:
    def of_phone(since: datetime) -> int:
        # A pepper that was replaced within the day must not make the phone another.
        return sum(
            _count(_COUNT_OF_PHONE, connection, phone=each.digest, since=to_ms(since)) for each in phone
        )

    since = to_ms(limits.of_account_since)
    return (
        _count(_COUNT_OF_ACCOUNT, connection, account=account, since=since) >= limits.of_account
        or of_phone(limits.of_phone_since) >= limits.of_phone
        or of_phone(limits.day_since) >= limits.of_phone_a_day
    )


def _count(statement: Statement, connection: sqlite3.Connection, **params: object) -> int:
    row = statement.first(connection, **params)
    return 0 if row is None else row[0]
