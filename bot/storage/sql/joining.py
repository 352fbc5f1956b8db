"""How accounts change persons: join, part, have it undone, become newcomers.

Invariant: every change of `account.person_id` after first contact is in `merge`, so that it can be taken back; a
phone belongs to the person of the account that proved it; both persons' epochs rise, so that no cache of an
earlier view is read again and no answer made with it is kept, while `cleared_epoch` stays: jobs survive. Every parting
goes by `take_apart`. Who opened their private memory opened what it was then: a join closes it. The forget ledger
knows of every parting, and of every join of accounts that had parted before, so that an older copy of the database
shows nobody what they parted from.
"""

import sqlite3
from collections.abc import Sequence
from functools import lru_cache

from bot.conversation.errors import RejectedInput
from bot.conversation.message import AccountKey
from bot.conversation.scope import AccountId, PersonId
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.ledger_lines import ActKind
from bot.storage.sql import account_statements as accounts
from bot.storage.sql import joining_statements as statements
from bot.storage.sql.audit import record_within
from bot.storage.sql.noting import note_act
from bot.storage.sql.parting import take_apart
from bot.storage.sql.shelves import as_list
from bot.storage.sql.statements import Row
from bot.storage.sql.superseding import settle
from identity.model import Account

_LATELY = 2_048
"""Rows of accounts that were made into one: who writes now wrote a moment ago."""


@lru_cache(_LATELY)
def account_of(row: Row) -> Account:
    """From a row of the statements that read accounts."""
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


def by_id(connection: sqlite3.Connection, account: AccountId) -> Account:
    row = accounts.BY_ID.first(connection, account=account)
    if row is None:
        raise LookupError(f"no account {account}: accounts are never deleted")
    return account_of(row)


def new_person(connection: sqlite3.Connection, now: int, epoch: int = 0) -> PersonId:
    return PersonId(accounts.INSERT_PERSON.run(connection, epoch=epoch, created_at=now).lastrowid or 0)


def join(
    connection: sqlite3.Connection,
    now: int,
    account: Account,
    owner: PersonId,
    reason: str,
    ledger: ForgetLedger | None = None,
) -> Account:
    """All accounts of the account's person, and their phones, go over to `owner`."""
    left = account.person
    moving = [AccountId(row[0]) for row in accounts.OF_PERSON.rows(connection, person=left)]
    for each in moving:
        _move(connection, now, each, left, owner, reason)
    statements.FOLLOW_FIRST.run(connection, left=left, owner=owner)
    statements.FOLLOW_SECOND.run(connection, left=left, owner=owner)
    statements.DROP_MOOT.run(connection)
    _settle(connection, left, owner, has_grown=owner)
    _note_together(connection, owner, ledger)
    joined = by_id(connection, account.id)
    record(connection, now, joined, "join", reason=reason, detail=f"自身份 {left}，账号 {len(moving)} 个")
    return joined


def part(
    connection: sqlite3.Connection, now: int, account: AccountId, ledger: ForgetLedger | None = None
) -> Account:
    """The account into a person of its own, with the phones it proved itself. One that is alone stays."""
    known = by_id(connection, account)
    if len(accounts.OF_PERSON.rows(connection, person=known.person)) == 1:
        return known
    note_act(connection, ledger, ActKind.PARTED, [account])
    split(connection, now, known.person, [account])
    parted = by_id(connection, account)
    detail = f"自身份 {known.person}，账号 {account}"
    record(connection, now, parted, "part", reason=statements.UNLINK, detail=detail)
    return parted


def split(connection: sqlite3.Connection, now: int, left: PersonId, moving: Sequence[AccountId]) -> None:
    """Some accounts of a person, not all, into one person of their own."""
    own = new_person(connection, now, by_id(connection, moving[0]).epoch)
    take_apart(connection, moving, _others(connection, left, moving))
    for each in moving:
        _move(connection, now, each, left, own, statements.UNLINK)
        statements.FOLLOW_ACCOUNT.run(connection, account=each, owner=own)
    _settle(connection, left, own, has_grown=None)


def undo(
    connection: sqlite3.Connection,
    now: int,
    merge: int,
    actor: AccountKey | None,
    ledger: ForgetLedger | None = None,
) -> Account | None:
    """Put the account of a merge back where it was. None: there is no such merge, or it was undone.

    Raises RejectedInput when the account changed persons once more since.
    """
    row = statements.MERGE.first(connection, merge=merge)
    if row is None or row[-1] is not None:
        return None
    account, before, after, _ = row
    known = by_id(connection, account)
    last = statements.LAST_MERGE.first(connection, account=account)
    if known.person != after or last is None or last[0] != merge:
        raise RejectedInput("这个账号之后又关联或解除过，请先撤销后来的那一次")
    note_act(connection, ledger, ActKind.PARTED, [account])
    take_apart(connection, [account], _others(connection, after, [account]))
    statements.REPOINT.run(connection, account=account, owner=before)
    statements.TAKE_PHONES.run(connection, account=account, owner=before)
    statements.MARK_UNDONE.run(connection, merge=merge, now=now)
    statements.FOLLOW_ACCOUNT.run(connection, account=account, owner=before)
    _settle(connection, after, before, has_grown=before)
    _note_together(connection, before, ledger)
    back = by_id(connection, account)
    record_within(
        connection,
        at=now,
        actor=actor,
        action="undo-merge",
        subject=back.person,
        reason=f"merge {merge}",
        detail=f"自身份 {after}，账号 {account}",
    )
    return back


def make_newcomers(connection: sqlite3.Connection, now: int, leaving: Sequence[AccountId]) -> None:
    """Each of these accounts alone, and nothing kept of who they were: no unionid, phone, code, merge or conflict.

    The one place where that is deleted. Their memory is cleared by whoever calls. Of persons of whom others
    stay, those keep what is theirs.
    """
    ids = as_list(leaving)
    known = [by_id(connection, each) for each in leaving]
    statements.DROP_CONFLICTS.run(connection, accounts=ids)
    for statement in statements.LEAVE:
        statement.run(connection, accounts=ids)
    for each in known:
        own = new_person(connection, now, each.epoch + 1)
        statements.REPOINT.run(connection, account=each.id, owner=own)
    for left in {each.person for each in known}:
        if accounts.OF_PERSON.first(connection, person=left) is None:
            statements.DROP_CONFLICTS_OF.run(connection, person=left)
            statements.DROP_UNREFERENCED.run(connection, left=left)
        else:
            statements.RAISE_ABOVE.run(connection, persons=as_list([left]))
            settle(connection, [left])


def record(
    connection: sqlite3.Connection, now: int, account: Account, action: str, *, reason: str, detail: str
) -> None:
    """In the audit log, as done by the account."""
    record_within(
        connection,
        at=now,
        actor=account.key,
        action=action,
        subject=account.person,
        reason=reason,
        detail=detail,
    )


def _others(
    connection: sqlite3.Connection, person: PersonId, leaving: Sequence[AccountId]
) -> list[AccountId]:
    rows = accounts.OF_PERSON.rows(connection, person=person)
    return [AccountId(row[0]) for row in rows if row[0] not in leaving]


def _note_together(connection: sqlite3.Connection, owner: PersonId, ledger: ForgetLedger | None) -> None:
    """Only where a parting is to be taken back: a join that an older copy lacks is lost with all else it lacks."""
    together = [AccountId(row[0]) for row in accounts.OF_PERSON.rows(connection, person=owner)]
    if len(together) > 1 and statements.HAS_PARTED.first(connection, accounts=as_list(together)) is not None:
        note_act(connection, ledger, ActKind.TOGETHER, together)


def _move(
    connection: sqlite3.Connection,
    now: int,
    account: AccountId,
    before: PersonId,
    after: PersonId,
    reason: str,
) -> None:
    statements.INSERT_MERGE.run(
        connection, account_id=account, from_person=before, to_person=after, reason=reason, at=now
    )
    statements.REPOINT.run(connection, account=account, owner=after)
    statements.TAKE_PHONES.run(connection, account=account, owner=after)


def _settle(
    connection: sqlite3.Connection, one: PersonId, other: PersonId, *, has_grown: PersonId | None
) -> None:
    both = as_list((one, other))
    statements.RAISE_ABOVE.run(connection, persons=both)
    if has_grown is not None:
        accounts.CLOSE.run(connection, person=has_grown)
    settle(connection, (one, other))
