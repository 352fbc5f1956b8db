"""What a forgetting writes into the ledger, in its own transaction and before anything is deleted.

Invariant: what is noted covers what is deleted, in names that mean the same in any copy of the database:
ids do not, since a copy restored later gives the next ids out again.
"""

import sqlite3
from collections.abc import Iterable

from sqlalchemy import select

from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql.schema import account, fact, inbox, shelf
from bot.storage.sql.shelves import as_list, listed
from bot.storage.sql.stamps import FORGOTTEN, read_stamp, write_stamp
from bot.storage.sql.statements import Statement

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


def _messages(connection: sqlite3.Connection, ledger: ForgetLedger, inbox_ids: Iterable[int]) -> list[str]:
    return [ledger.message(*row) for row in _MESSAGES.rows(connection, ids=as_list(inbox_ids))]
