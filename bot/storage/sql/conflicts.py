"""Persons that seem to be one but must not join by themselves: noted, and decided by an admin.

Invariant: two persons have at most one open conflict of a kind, and none again once it was decided to keep them apart.
"""

import sqlite3
from collections.abc import Iterable

from bot.conversation.message import AccountKey
from bot.conversation.scope import AccountId, PersonId
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.ledger_lines import ActKind
from bot.storage.sql import account_statements as accounts
from bot.storage.sql import joining_statements as statements
from bot.storage.sql.audit import record_within
from bot.storage.sql.joining import by_id, join, record
from bot.storage.sql.noting import note_act
from bot.storage.sql.schema import from_ms
from bot.storage.sql.statements import Row
from identity.model import Account, Conflict, ConflictKind, Decision


def against_joining(connection: sqlite3.Connection, account: Account, owner: PersonId) -> ConflictKind | None:
    """Why the account's person may not join `owner` by itself, although a unionid or a phone says so."""
    if have_phones(connection, account.person, owner):
        return ConflictKind.PHONES
    if statements.OTHER_UNIONID.first(connection, first=account.person, second=owner) is not None:
        return ConflictKind.UNIONIDS
    return None


def have_phones(connection: sqlite3.Connection, one: PersonId, other: PersonId) -> bool:
    """Both have one of their own."""
    return all(accounts.HAS_PHONE.first(connection, person=each) is not None for each in (one, other))


def note(
    connection: sqlite3.Connection,
    now: int,
    account: Account,
    owner: PersonId,
    kind: ConflictKind,
    reason: str,
) -> None:
    """Idempotent: what waits, or was decided, is not noted again."""
    known = statements.KNOWN_CONFLICT.first(
        connection, kind=kind.value, one=account.person, other=owner, keep=Decision.KEEP.value
    )
    if known is not None:
        return
    made = statements.INSERT_CONFLICT.run(
        connection,
        kind=kind.value,
        first_person=account.person,
        second_person=owner,
        account_id=account.id,
        detail=reason,
        at=now,
    )
    detail = f"冲突 {made.lastrowid}：身份 {owner}，{kind.value}"
    record(connection, now, account, "join-refused", reason=reason, detail=detail)


def waiting(rows: list[Row]) -> tuple[Conflict, ...]:
    """From the rows of CONFLICTS."""
    return tuple(_conflict(row) for row in rows)


def decide(
    connection: sqlite3.Connection,
    now: int,
    conflict: int,
    decision: Decision,
    actor: AccountKey | None,
    ledger: ForgetLedger | None = None,
) -> Conflict | None:
    """None: there is no such conflict, or it was decided."""
    row = statements.CONFLICT.first(connection, conflict=conflict)
    if row is None:
        return None
    found = _conflict(row)
    statements.DECIDE.run(connection, conflict=conflict, now=now, made=decision.value)
    record_within(
        connection,
        at=now,
        actor=actor,
        action="decide-conflict",
        subject=found.first,
        reason=decision.value,
        detail=f"冲突 {conflict}：身份 {found.second}",
    )
    if decision is Decision.KEEP:
        sides = [_accounts(connection, each) for each in (found.first, found.second)]
        note_act(connection, ledger, ActKind.KEPT, sides[0], others=sides[1])
    elif found.first != found.second:
        join(connection, now, by_id(connection, found.account), found.second, f"conflict:{conflict}", ledger)
    return found


def keep_apart(
    connection: sqlite3.Connection, now: int, one: Iterable[PersonId], other: Iterable[PersonId]
) -> int:
    """Whatever waits between one and the other is decided; for a replay of the ledger. Returns how many."""
    return sum(
        statements.KEEP_APART.run(
            connection, first=first, second=second, now=now, made=Decision.KEEP.value
        ).rowcount
        for first in set(one)
        for second in set(other)
    )


def _accounts(connection: sqlite3.Connection, person: PersonId) -> list[AccountId]:
    return [AccountId(row[0]) for row in accounts.OF_PERSON.rows(connection, person=person)]


def _conflict(row: Row) -> Conflict:
    number, kind, first, second, account, detail, at = row
    return Conflict(
        id=number,
        kind=ConflictKind(kind),
        first=PersonId(first),
        second=PersonId(second),
        account=AccountId(account),
        detail=detail,
        at=from_ms(at),
    )
