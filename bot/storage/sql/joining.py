"""How accounts change persons: join, part, have it undone, leave.

Invariant: every change of `account.person_id` after first contact is in `merge`, so that it can be taken back; a
phone belongs to the person of the account that proved it; both persons' epochs rise, so that no cache of an
earlier view is read again, while `cleared_epoch` stays: work under way survives. Who opened their private memory
opened what it was then: a join closes it.
"""

import sqlite3

from bot.conversation.errors import RejectedInput
from bot.conversation.message import AccountKey
from bot.conversation.scope import AccountId, PersonId
from bot.storage.sql import account_statements as accounts
from bot.storage.sql import joining_statements as statements
from bot.storage.sql.audit import record_within
from bot.storage.sql.shelves import as_list
from bot.storage.sql.statements import Row
from bot.storage.sql.superseding import settle
from identity.model import Account

UNLINK = "unlink"
"""The reason of a parting, as `merge` has it."""


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


def join(connection: sqlite3.Connection, now: int, account: Account, owner: PersonId, reason: str) -> Account:
    """All accounts of the account's person, and their phones, go over to `owner`."""
    left = account.person
    moving = [AccountId(row[0]) for row in accounts.OF_PERSON.rows(connection, person=left)]
    for each in moving:
        _move(connection, now, each, left, owner, reason)
    statements.FOLLOW_FIRST.run(connection, left=left, owner=owner)
    statements.FOLLOW_SECOND.run(connection, left=left, owner=owner)
    statements.DROP_MOOT.run(connection)
    _settle(connection, left, owner, has_grown=owner)
    joined = by_id(connection, account.id)
    record(connection, now, joined, "join", reason=reason, detail=f"自身份 {left}，账号 {len(moving)} 个")
    return joined


def part(connection: sqlite3.Connection, now: int, account: AccountId) -> Account:
    """The account into a person of its own, with the phones it proved itself. One that is alone stays."""
    known = by_id(connection, account)
    if len(accounts.OF_PERSON.rows(connection, person=known.person)) == 1:
        return known
    own = new_person(connection, now, known.epoch)
    _move(connection, now, account, known.person, own, UNLINK)
    statements.FOLLOW_ACCOUNT.run(connection, account=account, owner=own)
    _settle(connection, known.person, own, has_grown=None)
    parted = by_id(connection, account)
    record(connection, now, parted, "part", reason=UNLINK, detail=f"自身份 {known.person}，账号 {account}")
    return parted


def undo(connection: sqlite3.Connection, now: int, merge: int, actor: AccountKey | None) -> Account | None:
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
    statements.REPOINT.run(connection, account=account, owner=before)
    statements.TAKE_PHONES.run(connection, account=account, owner=before)
    statements.MARK_UNDONE.run(connection, merge=merge, now=now)
    statements.FOLLOW_ACCOUNT.run(connection, account=account, owner=before)
    _settle(connection, after, before, has_grown=before)
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


def leave(connection: sqlite3.Connection, now: int, person: PersonId) -> int:
    """Every account of a person a newcomer again, each alone, and no phone kept. Returns how many they are.

    Their memory is cleared before, by whoever calls. Merges and conflicts go too: nothing is to be undone.
    """
    rows = accounts.OF_PERSON.rows(connection, person=person)
    ids = as_list(row[0] for row in rows)
    statements.DROP_CONFLICTS.run(connection, accounts=ids, person=person)
    for statement in statements.LEAVE:
        statement.run(connection, accounts=ids)
    for known in map(account_of, rows):
        own = new_person(connection, now, known.epoch + 1)
        statements.REPOINT.run(connection, account=known.id, owner=own)
    statements.DROP_UNREFERENCED.run(connection, left=person)
    return len(rows)


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
