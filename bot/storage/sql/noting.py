"""What a forgetting writes into the ledger, in its own transaction and before anything is deleted.

Invariant: what is noted covers what is deleted, in names that mean the same in any copy of the database:
ids do not, since a copy restored later gives the next ids out again.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from sqlalchemy import select

from bot.conversation.scope import AccountId
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.ledger_lines import Act, ActKind
from bot.storage.sql.database import Database
from bot.storage.sql.schema import account, fact, inbox, shelf
from bot.storage.sql.shelves import as_list, listed
from bot.storage.sql.stamps import FORGOTTEN, read_stamp, write_stamp
from bot.storage.sql.statements import Statement

T = TypeVar("T")

_ACCOUNTS = Statement(
    select(account.c.channel, account.c.app_id, account.c.openid).where(account.c.id.in_(listed("ids")))
)
_MESSAGES = Statement(
    select(inbox.c.channel, inbox.c.app_id, inbox.c.key).where(inbox.c.id.in_(listed("ids")))
)
_FACTS = Statement(
    select(account.c.channel, account.c.app_id, account.c.openid, shelf.c.place, fact.c.text)
    .select_from(fact.join(shelf).join(account))
    .where(fact.c.id.in_(listed("ids")))
)
_SHELVED = Statement(
    select(shelf.c.place, fact.c.text)
    .select_from(fact.join(shelf))
    .where(fact.c.shelf_id.in_(listed("shelves")))
)


async def write_noted(
    database: Database, ledger: ForgetLedger | None, work: Callable[[sqlite3.Connection], T]
) -> T:
    """Run `work` as one transaction, and say in the ledger that what it noted there was committed.

    Raises StoreUnavailable.
    """

    def noted(connection: sqlite3.Connection) -> tuple[T, int, int]:
        before = read_stamp(connection, FORGOTTEN) or 0
        return work(connection), before, read_stamp(connection, FORGOTTEN) or 0

    result, before, number = await database.write(noted)
    if ledger is not None and number != before:
        await database.write(lambda _: ledger.confirm(number))
    return result


def note_act(
    connection: sqlite3.Connection,
    ledger: ForgetLedger | None,
    kind: ActKind,
    who: Iterable[AccountId],
    *,
    others: Iterable[AccountId] = (),
    at: int | None = None,
) -> None:
    """`at`: milliseconds, where the act is of a moment. Raises StoreUnavailable."""
    if ledger is None:
        return
    act = Act(
        kind=kind, who=_names(connection, ledger, who), others=_names(connection, ledger, others), at=at
    )
    number = ledger.begin(read_stamp(connection, FORGOTTEN) or 0, act=act)
    write_stamp(connection, FORGOTTEN, number)


def note_leaving(
    connection: sqlite3.Connection, ledger: ForgetLedger, accounts: str, leaving: Iterable[AccountId]
) -> None:
    """`accounts`: a JSON list of ids, of all that is cleared. Raises StoreUnavailable."""
    names = [ledger.account(*row) for row in _ACCOUNTS.rows(connection, ids=accounts)]
    act = Act(kind=ActKind.LEFT, who=_names(connection, ledger, leaving))
    number = ledger.begin(read_stamp(connection, FORGOTTEN) or 0, accounts=names, act=act)
    write_stamp(connection, FORGOTTEN, number)


def note_clearing(connection: sqlite3.Connection, ledger: ForgetLedger, accounts: str) -> None:
    """`accounts`: a JSON list of ids. Raises StoreUnavailable."""
    names = [ledger.account(*row) for row in _ACCOUNTS.rows(connection, ids=accounts)]
    number = ledger.begin(read_stamp(connection, FORGOTTEN) or 0, accounts=names)
    write_stamp(connection, FORGOTTEN, number)


def note_place(connection: sqlite3.Connection, ledger: ForgetLedger, place: str) -> None:
    """Raises StoreUnavailable."""
    number = ledger.begin(read_stamp(connection, FORGOTTEN) or 0, places=[ledger.place(place)])
    write_stamp(connection, FORGOTTEN, number)


def note_facts(
    connection: sqlite3.Connection,
    ledger: ForgetLedger,
    facts: Iterable[int],
    messages: Iterable[int],
    replies: Iterable[int],
) -> None:
    """`messages`, `replies`: inbox ids of turns, and of replies whose words go. They are noted beside the
    facts: in an older copy the fact may not have been taken from its turn yet. Raises StoreUnavailable."""
    facts_named = [
        ledger.fact((channel, app_id, openid), place, text)
        for channel, app_id, openid, place, text in _FACTS.rows(connection, ids=as_list(facts))
    ]
    number = ledger.begin(
        read_stamp(connection, FORGOTTEN) or 0,
        facts=facts_named,
        messages=_messages(connection, ledger, messages),
        replies=_messages(connection, ledger, replies),
    )
    write_stamp(connection, FORGOTTEN, number)


def note_parked(
    connection: sqlite3.Connection,
    ledger: ForgetLedger,
    origin: AccountId,
    parked: str,
    *,
    shelves: str,
    messages: Sequence[int] | None,
    until: int | None,
) -> None:
    """What an account left behind goes. `parked`, `shelves`: JSON lists of ids, as an older copy may have it.

    `until`: milliseconds, where what it parked since stays.
    `messages`: inbox ids of all it had written by then, so that what it said since stays. None: it said nothing
    since, and may be cleared whole. Raises StoreUnavailable.
    """
    act = Act(kind=ActKind.DISCARDED, who=_names(connection, ledger, [origin]), at=until)
    names = [ledger.account(*row) for row in _ACCOUNTS.rows(connection, ids=parked)]
    ((channel, app_id, openid),) = _ACCOUNTS.rows(connection, ids=as_list([origin]))
    facts: list[str] = []
    if messages is None:
        names.append(ledger.account(channel, app_id, openid))
    else:
        rows = _SHELVED.rows(connection, shelves=shelves)
        facts = [ledger.fact((channel, app_id, openid), place, text) for place, text in rows]
    written = _messages(connection, ledger, messages or ())
    number = ledger.begin(
        read_stamp(connection, FORGOTTEN) or 0,
        accounts=names,
        facts=facts,
        messages=written,
        replies=written,
        act=act,
    )
    write_stamp(connection, FORGOTTEN, number)


def _names(
    connection: sqlite3.Connection, ledger: ForgetLedger, accounts: Iterable[AccountId]
) -> frozenset[str]:
    return frozenset(ledger.account(*row) for row in _ACCOUNTS.rows(connection, ids=as_list(accounts)))


def _messages(connection: sqlite3.Connection, ledger: ForgetLedger, inbox_ids: Iterable[int]) -> list[str]:
    return [ledger.message(*row) for row in _MESSAGES.rows(connection, ids=as_list(inbox_ids))]
