"""Accounts and persons: first contact, joining, proven phones, and who may command.

Invariant: persons join by themselves only over a same non-empty unionid of one channel or a same proven phone, never
against what `conflicts` finds: then an admin decides. All accounts of one go over to the other, in one
audited transaction that can be undone (`joining`), and memory stays with the account it came from.
"""

import sqlite3
from collections.abc import Sequence

from bot.conversation.errors import RejectedInput
from bot.conversation.message import AccountKey, is_playground
from bot.conversation.ports import Clock
from bot.conversation.scope import AccountId, PersonId
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql import account_statements as statements
from bot.storage.sql import conflicts, joining, phones
from bot.storage.sql.audit import record_within
from bot.storage.sql.conflicts import against_joining, note
from bot.storage.sql.database import Database
from bot.storage.sql.joining import account_of, by_id, join, new_person, record
from bot.storage.sql.joining_statements import CONFLICTS, MERGES
from bot.storage.sql.noting import write_noted
from bot.storage.sql.schema import from_ms, to_ms
from bot.storage.sql.statements import Row
from identity.lists import Linked
from identity.model import Account, Conflict, Decision, Merge
from identity.phone import PhoneHash


class SqlAccounts:
    """`identity.ports.AccountStore` over SQL."""

    def __init__(self, database: Database, clock: Clock, ledger: ForgetLedger | None = None) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger

    async def find_account(self, key: AccountKey) -> Account | None:
        rows = await self._database.peek(statements.FIND, **_names(key))
        return account_of(rows[0]) if rows else None

    async def create_account(self, key: AccountKey, unionid: str) -> Account:
        now = self._now()

        def work(connection: sqlite3.Connection) -> Account:
            known = statements.FIND.first(connection, **_names(key))
            if known is not None:
                return account_of(known)
            owner = _owner_of_unionid(connection, key.channel, unionid)
            made = statements.INSERT.run(
                connection,
                **_names(key),
                unionid=unionid,
                person_id=new_person(connection, now) if owner is None else owner,
                cleared_epoch=0,
                greeted=0,
                created_at=now,
            )
            account = by_id(connection, AccountId(made.lastrowid or 0))
            if owner is not None:
                record(connection, now, account, "join", reason="unionid", detail=f"新账号 {account.id}")
            return account

        return await self._database.write(work)

    async def learn_unionid(self, account: AccountId, unionid: str) -> Account:
        now = self._now()

        def work(connection: sqlite3.Connection) -> Account:
            known = by_id(connection, account)
            if not unionid or known.unionid:
                return known
            owner = _owner_of_unionid(connection, known.key.channel, unionid)
            statements.SET_UNIONID.run(connection, account=account, new_unionid=unionid)
            if owner is None or owner == known.person:
                return by_id(connection, account)
            kind = against_joining(connection, known, owner)
            if kind is not None:
                note(connection, now, known, owner, kind, "unionid")
                return by_id(connection, account)
            return join(connection, now, known, owner, "unionid", self._ledger)

        return await write_noted(self._database, self._ledger, work)

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
        """A conflict is noted before it is refused."""
        now = self._now()

        def work(connection: sqlite3.Connection) -> Account | None:
            known = by_id(connection, account)
            outcome, linked = phones.link(
                connection, now, known, PhoneHash(key_version, phone_hash), verified_by, self._ledger
            )
            return None if outcome is Linked.CONFLICT else linked

        linked = await write_noted(self._database, self._ledger, work)
        if linked is None:
            raise RejectedInput("这个手机号属于另一个身份，和您的对不上，已请管理员确认。")
        return linked

    async def part(self, account: AccountId) -> Account:
        now, ledger = self._now(), self._ledger
        return await write_noted(
            self._database, ledger, lambda connection: joining.part(connection, now, account, ledger)
        )

    async def merges(self, person: PersonId) -> tuple[Merge, ...]:
        rows = await self._database.read(MERGES, person=person)
        return tuple(_merge_of(row) for row in rows)

    async def undo_merge(self, merge: int, actor: AccountKey | None = None) -> Account | None:
        now, ledger = self._now(), self._ledger
        return await write_noted(
            self._database, ledger, lambda connection: joining.undo(connection, now, merge, actor, ledger)
        )

    async def conflicts(self) -> tuple[Conflict, ...]:
        return conflicts.waiting(await self._database.read(CONFLICTS))

    async def decide(
        self, conflict: int, decision: Decision, actor: AccountKey | None = None
    ) -> Conflict | None:
        now, ledger = self._now(), self._ledger
        return await write_noted(
            self._database,
            ledger,
            lambda connection: conflicts.decide(connection, now, conflict, decision, actor, ledger),
        )

    async def accounts_of(self, person: PersonId) -> tuple[Account, ...]:
        rows = await self._database.peek(statements.OF_PERSON, person=person)
        return tuple(account_of(row) for row in rows)

    async def find_by_unionid(self, channel: str, unionid: str) -> Account | None:
        rows = await self._database.peek(statements.OF_UNIONID, sought=unionid, channel=channel)
        return account_of(rows[0]) if rows else None

    async def has_phone(self, person: PersonId) -> bool:
        return bool(await self._database.peek(statements.HAS_PHONE, person=person))

    async def accounts_in(self, place: str) -> tuple[Account, ...]:
        rows = await self._database.peek(statements.IN_PLACE, place=place)
        return tuple(account_of(row) for row in rows)

    async def find_accounts(self, word: str, phone_hash: bytes | None, limit: int) -> tuple[Account, ...]:
        """By id. An empty `word` is in no openid."""
        rows = await self._database.read(
            statements.SEARCH, word=word or None, phone_hash=phone_hash, limit=limit
        )
        return tuple(account_of(row) for row in rows)

    async def superusers(self) -> Sequence[tuple[str, str, str]]:
        rows = await self._database.peek(statements.SUPERUSERS)
        return [(channel, app_id, openid) for channel, app_id, openid in rows]

    async def claim_superuser(self, key: AccountKey, code_hash: bytes) -> bool:
        """False too for a try-out account: it spends nothing and becomes nothing."""
        now = self._now()
        if is_playground(key.app_id):
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


def _merge_of(row: Row) -> Merge:
    number, account, before, after, reason, at, undone_at = row
    return Merge(
        id=number,
        account=account,
        before=before,
        after=after,
        reason=reason,
        at=from_ms(at),
        is_undone=undone_at is not None,
    )


def _owner_of_unionid(connection: sqlite3.Connection, channel: str, unionid: str) -> PersonId | None:
    if not unionid:
        return None
    row = statements.OWNER_OF_UNIONID.first(connection, sought=unionid, channel=channel)
    return None if row is None else row[0]
