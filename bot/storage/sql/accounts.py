"""Accounts and persons: first contact, joining, proven phones, and who may command.

Invariant: persons join only over a same non-empty unionid or a same proven phone, never when both have
proven phones of their own; all accounts of one go over to the other, in one audited transaction, and
memory stays with the account it came from. Who opened their private memory opened what it was then: a join
closes it.
"""

import sqlite3
from collections.abc import Sequence

from bot.conversation.errors import RejectedInput
from bot.conversation.message import PLAYGROUND, AccountKey
from bot.conversation.ports import Clock
from bot.conversation.scope import AccountId, PersonId
from bot.storage.sql import account_statements as statements
from bot.storage.sql.audit import record_within
from bot.storage.sql.database import Database
from bot.storage.sql.schema import to_ms
from bot.storage.sql.statements import Row
from identity.model import Account


class SqlAccounts:
    """`identity.ports.AccountStore` over SQL."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def find_account(self, key: AccountKey) -> Account | None:
        rows = await self._database.peek(statements.FIND, **_names(key))
        return _account_of(rows[0]) if rows else None

    async def create_account(self, key: AccountKey, unionid: str) -> Account:
        now = self._now()

        def work(connection: sqlite3.Connection) -> Account:
            known = statements.FIND.first(connection, **_names(key))
            if known is not None:
                return _account_of(known)
            owner = _owner_of_unionid(connection, unionid)
            made = statements.INSERT.run(
                connection,
                **_names(key),
                unionid=unionid,
                person_id=_new_person(connection, now) if owner is None else owner,
                cleared_epoch=0,
                greeted=0,
                created_at=now,
            )
            account = _by_id(connection, AccountId(made.lastrowid or 0))
            if owner is not None:
                _record(connection, now, account, "join", reason="unionid", detail=f"新账号 {account.id}")
            return account

        return await self._database.write(work)

    async def learn_unionid(self, account: AccountId, unionid: str) -> Account:
        now = self._now()

        def work(connection: sqlite3.Connection) -> Account:
            known = _by_id(connection, account)
            if not unionid or known.unionid:
                return known
            owner = _owner_of_unionid(connection, unionid)
            statements.SET_UNIONID.run(connection, account=account, new_unionid=unionid)
            if owner is None or owner == known.person:
                return _by_id(connection, account)
            if _has_phone(connection, owner) and _has_phone(connection, known.person):
                _record(
                    connection,
                    now,
                    known,
                    "join-refused",
                    reason="unionid",
                    detail=f"身份 {owner} 另有手机号",
                )
                return _by_id(connection, account)
            return _join(connection, now, known, owner, "unionid")

        return await self._database.write(work)

    async def mark_greeted(self, account: AccountId) -> None:
        await self._database.write(
            lambda connection: statements.SET_GREETED.run(connection, account=account).rowcount
        )

    async def set_open(self, account: AccountId, *, is_open: bool) -> None:
        await self._database.write(
            lambda connection: (
                statements.SET_OPEN.run(connection, account=account, open_now=int(is_open)).rowcount
            )
        )

    async def link_phone(
        self, account: AccountId, phone_hash: bytes, key_version: int, verified_by: str
    ) -> Account:
        now = self._now()

        def work(connection: sqlite3.Connection) -> Account:
            known = _by_id(connection, account)
            row = statements.OWNER_OF_PHONE.first(connection, phone_hash=phone_hash, key_version=key_version)
            if row is None:
                statements.INSERT_PHONE.run(
                    connection,
                    phone_hash=phone_hash,
                    key_version=key_version,
                    person_id=known.person,
                    account_id=account,
                    verified_by=verified_by,
                    at=now,
                )
                _record(connection, now, known, "link-phone", reason=verified_by, detail=f"账号 {account}")
                return known
            owner = PersonId(row[0])
            if owner == known.person:
                return known
            if _has_phone(connection, known.person):
                raise RejectedInput("您已验证过另一个手机号，不能再关联这个号码所属的身份。")
            return _join(connection, now, known, owner, f"phone:{verified_by}")

        return await self._database.write(work)

    async def accounts_of(self, person: PersonId) -> tuple[Account, ...]:
        rows = await self._database.peek(statements.OF_PERSON, person=person)
        return tuple(_account_of(row) for row in rows)

    async def accounts_in(self, place: str) -> tuple[Account, ...]:
        rows = await self._database.peek(statements.IN_PLACE, place=place)
        return tuple(_account_of(row) for row in rows)

    async def find_accounts(self, word: str, phone_hash: bytes | None, limit: int) -> tuple[Account, ...]:
        """By id. An empty `word` is in no openid."""
        rows = await self._database.read(
            statements.SEARCH, word=word or None, phone_hash=phone_hash, limit=limit
        )
        return tuple(_account_of(row) for row in rows)

    async def superusers(self) -> Sequence[tuple[str, str, str]]:
        rows = await self._database.peek(statements.SUPERUSERS)
        return [(channel, app_id, openid) for channel, app_id, openid in rows]

    async def claim_superuser(self, key: AccountKey, code_hash: bytes) -> bool:
        """False too for a try-out account: it spends nothing and becomes nothing."""
        now = self._now()
        if key.app_id == PLAYGROUND:
            return False

        def work(connection: sqlite3.Connection) -> bool:
            if not statements.SPEND_CODE.run(connection, code=code_hash, now=now).rowcount:
                return False
            statements.INSERT_SUPERUSER.run(connection, **_names(key), at=now)
            record_within(
                connection,
                at=now,
                actor=key,
                action="claim-superuser",
                subject=None,
                reason="claim code",
                detail="",
            )
            return True

        return await self._database.write(work)

    async def issue_claim_code(self, code_hash: bytes) -> bool:
        now = self._now()

        def work(connection: sqlite3.Connection) -> bool:
            if statements.ANY_CODE.first(connection) is not None:
                return False
            statements.INSERT_CODE.run(connection, code_hash=code_hash, issued_at=now)
            return True

        return await self._database.write(work)

    def _now(self) -> int:
        return to_ms(self._clock.now())


def _names(key: AccountKey) -> dict[str, object]:
    return {"channel": key.channel, "app_id": key.app_id, "openid": key.openid}


def _account_of(row: Row) -> Account:
    account_id, channel, app_id, openid, unionid, person, epoch, greeted, is_open = row
    return Account(
        id=account_id,
        key=AccountKey(channel=channel, app_id=app_id, openid=openid),
        unionid=unionid,
        person=person,
        epoch=epoch,
        is_greeted=bool(greeted),
        is_open=bool(is_open),
    )


def _by_id(connection: sqlite3.Connection, account: AccountId) -> Account:
    row = statements.BY_ID.first(connection, account=account)
    if row is None:
        raise LookupError(f"no account {account}: accounts are never deleted")
    return _account_of(row)


def _new_person(connection: sqlite3.Connection, now: int) -> PersonId:
    return PersonId(statements.INSERT_PERSON.run(connection, epoch=0, created_at=now).lastrowid or 0)


def _owner_of_unionid(connection: sqlite3.Connection, unionid: str) -> PersonId | None:
    row = statements.OWNER_OF_UNIONID.first(connection, sought=unionid) if unionid else None
    return None if row is None else row[0]


def _has_phone(connection: sqlite3.Connection, person: PersonId) -> bool:
    return statements.HAS_PHONE.first(connection, person=person) is not None


def _join(
    connection: sqlite3.Connection, now: int, account: Account, owner: PersonId, reason: str
) -> Account:
    """All accounts and phones of the account's person go over to `owner`. The new epoch lies above both,
    so that no cache of either view is used again; `cleared_epoch` stays, so work under way is kept."""
    left = account.person
    moved = statements.MOVE_ACCOUNTS.run(connection, left=left, owner=owner).rowcount
    statements.CLOSE.run(connection, person=owner)
    statements.MOVE_PHONES.run(connection, left=left, owner=owner)
    statements.RAISE_ABOVE.run(connection, left=left, owner=owner)
    statements.DROP_UNREFERENCED.run(connection, left=left)
    joined = _by_id(connection, account.id)
    _record(connection, now, joined, "join", reason=reason, detail=f"自身份 {left}，账号 {moved} 个")
    return joined


def _record(
    connection: sqlite3.Connection, now: int, account: Account, action: str, *, reason: str, detail: str
) -> None:
    record_within(
        connection,
        at=now,
        actor=account.key,
        action=action,
        subject=account.person,
        reason=reason,
        detail=detail,
    )
