"""Forgetting: sync functions, each one transaction of the writer.

Invariant: no statement here names a row by anything but the accounts of one person: another's rows stay as they are,
to the byte. With `secure_delete` and the checkpoint that follows, what is deleted or blanked is gone from the file.

Words live in more places than the fact: in the turn it came from, in later turns that quote it, in the entities and
summaries of these, in the pages of replies (a list of one's memories holds them all), in the bytes kept for retries and
in messages kept for a restart. What is kept for retries alone is dropped whole at any forgetting.
"""

import sqlite3
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from sqlalchemy import bindparam, delete, or_, select, update

from bot.conversation.scope import PersonId
from bot.memory.fact import ForgetReceipt
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql import derived, segments
from bot.storage.sql.blanking import BLANKED, HAS_WORDS, drop_kept_for_retries, drop_replies
from bot.storage.sql.generations import EMPTIED
from bot.storage.sql.noting import note_clearing
from bot.storage.sql.phone_codes import DROP_CODES
from bot.storage.sql.schema import account, confirmation, delivery, fact, inbox, job, shelf, turn
from bot.storage.sql.scopes import bar_older_work
from bot.storage.sql.shelves import as_list, listed
from bot.storage.sql.statements import Row, Statement

_mine = account.alias("mine")
# What an account left behind when it unsubscribed goes with it.
_ACCOUNTS = Statement(
    select(account.c.id).where(
        or_(
            account.c.person_id == bindparam("person"),
            account.c.parked_of.in_(select(_mine.c.id).where(_mine.c.person_id == bindparam("person"))),
        )
    )
)
_SHELVES_OF = Statement(
    select(shelf.c.id, shelf.c.size + shelf.c.coming_size).where(shelf.c.account_id.in_(listed("accounts")))
)
_EMPTY = Statement(update(shelf).where(shelf.c.id.in_(listed("shelves"))).values(EMPTIED))
_DELETE_ALL_FACTS = Statement(delete(fact).where(fact.c.shelf_id.in_(listed("shelves"))))
_TURNS_OF_MESSAGES = Statement(select(turn.c.id, turn.c.inbox_id).where(turn.c.inbox_id.in_(listed("ids"))))
_SENDERS = Statement(
    select(inbox.c.account_id).where(inbox.c.id.in_(listed("ids")), inbox.c.account_id.is_not(None))
)
_DELETE_TURNS = Statement(delete(turn).where(turn.c.id.in_(listed("ids"))))
_DELETE_ALL_TURNS = Statement(delete(turn).where(turn.c.shelf_id.in_(listed("shelves"))))
_DELETE_JOBS = Statement(delete(job).where(job.c.turn_id.in_(listed("ids"))))
_DELETE_ALL_JOBS = Statement(delete(job).where(job.c.account_id.in_(listed("accounts"))))
DELETE_CONFIRMATIONS = Statement(
    delete(confirmation).where(confirmation.c.account_id.in_(listed("accounts")))
)
_BLANK_DELIVERIES = Statement(
    BLANKED.where(
        delivery.c.inbox_id.in_(listed("ids")), delivery.c.account_id.in_(listed("accounts")), HAS_WORDS
    )
)
_CLOSE = Statement(
    update(account).where(account.c.id.in_(listed("accounts")), account.c.is_open != 0).values(is_open=0)
)
_ABANDON_FAILED = Statement(
    update(inbox)
    .where(inbox.c.account_id.in_(listed("accounts")), inbox.c.state == "accepted", inbox.c.tries > 0)
    .values(state="dead", payload=None, error="")
)


def forget_messages(
    connection: sqlite3.Connection, messages: Sequence[int], replies: Sequence[int]
) -> ForgetReceipt:
    """Delete the turns that these messages (inbox ids) became, and blank replies (too); for a replay of the ledger."""
    answered = {*messages, *replies}
    accounts = as_list({row[0] for row in _SENDERS.rows(connection, ids=as_list(answered))})
    turns = dict(_TURNS_OF_MESSAGES.rows(connection, ids=as_list(messages)))
    receipt = forget_answered(connection, accounts, turns, answered)
    drop_kept_for_retries(connection, accounts)
    return receipt


def clear_person(
    connection: sqlite3.Connection, person: PersonId, ledger: ForgetLedger | None = None
) -> ForgetReceipt:
    """See `FactStore.clear_person`. The accounts, their links and the keys of their messages stay: a
    platform's retry of an old message must not be a new one.

    A message that was accepted and has failed before is abandoned, so that a restart does not bring its
    words back. One that waits its turn for the first time was written after the request to clear.
    """
    if bar_older_work(connection, person) is None:
        return ForgetReceipt()
    accounts = accounts_of(connection, person)
    if ledger is not None:
        note_clearing(connection, ledger, accounts)
    return clear_accounts(connection, accounts)


def clear_accounts(connection: sqlite3.Connection, accounts: str) -> ForgetReceipt:
    """The deletions of `clear_person`, of these accounts alone (a JSON list of ids): in an older copy
    of the database they may belong to other persons."""
    dropped = drop_work(connection, accounts)
    receipt = empty_shelves(connection, _SHELVES_OF.rows(connection, accounts=accounts))
    return replace(receipt, jobs=dropped.jobs, deliveries=dropped.deliveries)


def drop_work(connection: sqlite3.Connection, accounts: str) -> ForgetReceipt:
    """All that holds words of these accounts (a JSON list of ids) but their shelves."""
    jobs = _DELETE_ALL_JOBS.run(connection, accounts=accounts).rowcount
    deliveries = drop_replies(connection, accounts)
    DELETE_CONFIRMATIONS.run(connection, accounts=accounts)
    DROP_CODES.run(connection, accounts=accounts)
    _CLOSE.run(connection, accounts=accounts)
    _ABANDON_FAILED.run(connection, accounts=accounts)
    return ForgetReceipt(jobs=jobs, deliveries=deliveries)


def empty_shelves(connection: sqlite3.Connection, rows: Sequence[Row]) -> ForgetReceipt:
    """`rows`: (shelf id, its vectors, of both sides). Their turns' jobs are gone already."""
    shelves = as_list(row[0] for row in rows)
    for row in rows:
        segments.drop(connection, row[0])
    facts = _DELETE_ALL_FACTS.run(connection, shelves=shelves).rowcount
    turns = _DELETE_ALL_TURNS.run(connection, shelves=shelves).rowcount
    made = derived.forget_shelves(connection, shelves)
    _EMPTY.run(connection, shelves=shelves)
    return ForgetReceipt(
        facts=facts,
        turns=turns,
        vectors=sum(row[1] for row in rows),
        summaries=made.summaries,
        entities=made.entities,
    )


def forget_answered(
    connection: sqlite3.Connection, accounts: str, turns: Mapping[int, int], answered: Set[int]
) -> ForgetReceipt:
    """`turns`: turn id → inbox id. `answered`: inbox ids whose replies hold the words."""
    turn_ids = as_list(turns)
    jobs = _DELETE_JOBS.run(connection, ids=turn_ids).rowcount
    entities = derived.forget_turns(connection, turns)
    deleted = _DELETE_TURNS.run(connection, ids=turn_ids).rowcount
    deliveries = _BLANK_DELIVERIES.run(connection, ids=as_list(answered), accounts=accounts).rowcount
    return ForgetReceipt(turns=deleted, jobs=jobs, deliveries=deliveries, entities=entities)


def accounts_of(connection: sqlite3.Connection, person: PersonId) -> str:
    """A JSON list of ids: theirs, and those that stand for what they left behind."""
    return as_list(row[0] for row in _ACCOUNTS.rows(connection, person=person))
