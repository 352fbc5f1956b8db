"""Forgetting: sync functions, each one transaction of the writer.

Invariant: no statement here names a row by anything but the accounts of one person, so another person's
rows stay as they are, to the byte. With `secure_delete` and the checkpoint that follows, what is deleted
or blanked here is gone from the file.

Words live in more places than the fact: in the turn it came from, in later turns that quote it, in the
pages of replies (a list of one's memories holds them all), in the bytes kept for a platform's retries,
in accepted messages kept for a restart. What is kept for retries alone is dropped whole at any forgetting.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from sqlalchemy import bindparam, delete, func, or_, select, update

from bot.conversation.scope import PersonId, Scope
from bot.memory.fact import ForgetReceipt
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql import segments
from bot.storage.sql.blanking import BLANKED, HAS_WORDS, drop_kept_for_retries, drop_replies
from bot.storage.sql.noting import note_clearing, note_facts
from bot.storage.sql.phone_codes import DROP_CODES
from bot.storage.sql.schema import account, confirmation, delivery, fact, inbox, job, shelf, turn
from bot.storage.sql.scopes import bar_older_work
from bot.storage.sql.shelves import COVERED_SHELVES, REWRITTEN, as_list, asked, listed, read_covered
from bot.storage.sql.statements import Row, Statement
from bot.storage.sql.superseding import bridge

SHORTEST_QUOTE = 2
"""Characters. A one-character fact (「M」) is part of nearly every turn: its own turn goes, no other."""

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
_SHELVES_OF = Statement(select(shelf.c.id, shelf.c.size).where(shelf.c.account_id.in_(listed("accounts"))))
_named = fact.alias("named")
_CHOSEN = Statement(
    # What was meant is a text: where a linked account said the same, it goes there too.
    select(fact.c.id, fact.c.shelf_id, fact.c.text, fact.c.source_turn).where(
        fact.c.shelf_id.in_(listed("shelves")),
        fact.c.text.in_(
            select(_named.c.text).where(
                _named.c.id.in_(listed("ids")), _named.c.shelf_id.in_(listed("shelves"))
            )
        ),
    )
)
_EMPTY = Statement(
    update(shelf)
    .where(shelf.c.id.in_(listed("shelves")))
    .values(size=0, model="", dimension=0, version=shelf.c.version + REWRITTEN)
)
_SHRINK = Statement(
    update(shelf)
    .where(shelf.c.id == bindparam("shelf"))
    .values(size=bindparam("size"), version=shelf.c.version + REWRITTEN)
)
_DELETE_FACTS = Statement(delete(fact).where(fact.c.id.in_(listed("ids"))))
_DELETE_ALL_FACTS = Statement(delete(fact).where(fact.c.shelf_id.in_(listed("shelves"))))
_QUOTING_TURNS = Statement(
    select(turn.c.id).where(
        turn.c.shelf_id.in_(listed("shelves")),
        or_(
            func.instr(turn.c.question, bindparam("text")) > 0,
            func.instr(turn.c.answer, bindparam("text")) > 0,
        ),
    )
)
_TURNS = Statement(
    select(turn.c.id, turn.c.inbox_id).where(
        turn.c.id.in_(listed("ids")), turn.c.shelf_id.in_(listed("shelves"))
    )
)
_TURNS_OF_MESSAGES = Statement(select(turn.c.id, turn.c.inbox_id).where(turn.c.inbox_id.in_(listed("ids"))))
_SENDERS = Statement(
    select(inbox.c.account_id).where(inbox.c.id.in_(listed("ids")), inbox.c.account_id.is_not(None))
)
_DELETE_TURNS = Statement(delete(turn).where(turn.c.id.in_(listed("ids"))))
_DELETE_ALL_TURNS = Statement(delete(turn).where(turn.c.shelf_id.in_(listed("shelves"))))
_DELETE_JOBS = Statement(delete(job).where(job.c.turn_id.in_(listed("ids"))))
_DELETE_ALL_JOBS = Statement(delete(job).where(job.c.account_id.in_(listed("accounts"))))
_DELETE_CONFIRMATIONS = Statement(
    delete(confirmation).where(confirmation.c.account_id.in_(listed("accounts")))
)
_BLANK_DELIVERIES = Statement(
    BLANKED.where(
        delivery.c.inbox_id.in_(listed("ids")), delivery.c.account_id.in_(listed("accounts")), HAS_WORDS
    )
)
_WAITING = Statement(
    select(delivery.c.inbox_id, delivery.c.pages, delivery.c.question).where(
        delivery.c.account_id.in_(listed("accounts")), HAS_WORDS
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """A fact to forget."""

    id: int
    shelf: int
    text: str
    source_turn: int | None


def forget_facts(
    connection: sqlite3.Connection,
    scope: Scope,
    fact_ids: Sequence[int],
    ledger: ForgetLedger | None = None,
    words: Sequence[str] = (),
) -> ForgetReceipt:
    """See `FactStore.forget_facts`. Besides the turns the facts came from, those go that quote them."""
    covered = read_covered(COVERED_SHELVES.rows(connection, **asked(scope)))
    shelves = as_list(covered.ids)
    rows = _CHOSEN.rows(connection, ids=as_list(fact_ids), shelves=shelves)
    chosen = [_Chosen(id=row[0], shelf=row[1], text=row[2], source_turn=row[3]) for row in rows]
    told = _quotable(each.text for each in chosen)
    sought = told | _quotable(words)
    if not chosen and not (covered.ids and sought):
        return ForgetReceipt()
    accounts = accounts_of(connection, scope.person)
    turns = _turns_with_words(connection, shelves, chosen, sought)
    # A reply waits for its person wherever it was asked for; words of a place are sought in its turns alone.
    answered = {*turns.values(), *_deliveries_with_words(connection, accounts, told)}
    if not chosen and not answered:
        return ForgetReceipt()
    if ledger is not None:
        note_facts(connection, ledger, [each.id for each in chosen], turns.values(), answered)
    vectors = 0
    for each in covered.shelves:
        gone = [forgotten.id for forgotten in chosen if forgotten.shelf == each.id]
        if gone:
            size = segments.rewrite_without(connection, each.id, each.size, each.dimension, gone)
            _SHRINK.run(connection, shelf=each.id, size=size)
            vectors += each.size - size
    bridge(connection, shelves, [each.id for each in chosen])
    facts = _DELETE_FACTS.run(connection, ids=as_list(each.id for each in chosen)).rowcount
    receipt = _forget_answered(connection, accounts, turns, answered)
    drop_kept_for_retries(connection, accounts)
    return replace(receipt, facts=facts, vectors=vectors)


def forget_messages(
    connection: sqlite3.Connection, messages: Sequence[int], replies: Sequence[int]
) -> ForgetReceipt:
    """Delete the turns that these messages (inbox ids) became, and blank replies (too); for a replay of the ledger."""
    answered = {*messages, *replies}
    accounts = as_list({row[0] for row in _SENDERS.rows(connection, ids=as_list(answered))})
    turns = dict(_TURNS_OF_MESSAGES.rows(connection, ids=as_list(messages)))
    receipt = _forget_answered(connection, accounts, turns, answered)
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
    _DELETE_CONFIRMATIONS.run(connection, accounts=accounts)
    DROP_CODES.run(connection, accounts=accounts)
    _CLOSE.run(connection, accounts=accounts)
    _ABANDON_FAILED.run(connection, accounts=accounts)
    return ForgetReceipt(jobs=jobs, deliveries=deliveries)


def empty_shelves(connection: sqlite3.Connection, rows: Sequence[Row]) -> ForgetReceipt:
    """`rows`: (shelf id, its size). Their turns' jobs are gone already."""
    shelves = as_list(row[0] for row in rows)
    for row in rows:
        segments.drop(connection, row[0])
    facts = _DELETE_ALL_FACTS.run(connection, shelves=shelves).rowcount
    turns = _DELETE_ALL_TURNS.run(connection, shelves=shelves).rowcount
    _EMPTY.run(connection, shelves=shelves)
    return ForgetReceipt(facts=facts, turns=turns, vectors=sum(row[1] for row in rows))


def _forget_answered(
    connection: sqlite3.Connection, accounts: str, turns: Mapping[int, int], answered: Set[int]
) -> ForgetReceipt:
    """`turns`: turn id → inbox id. `answered`: inbox ids whose replies hold the words."""
    turn_ids = as_list(turns)
    jobs = _DELETE_JOBS.run(connection, ids=turn_ids).rowcount
    deleted = _DELETE_TURNS.run(connection, ids=turn_ids).rowcount
    deliveries = _BLANK_DELIVERIES.run(connection, ids=as_list(answered), accounts=accounts).rowcount
    return ForgetReceipt(turns=deleted, jobs=jobs, deliveries=deliveries)


def accounts_of(connection: sqlite3.Connection, person: PersonId) -> str:
    """A JSON list of ids: theirs, and those that stand for what they left behind."""
    return as_list(row[0] for row in _ACCOUNTS.rows(connection, person=person))


def _turns_with_words(
    connection: sqlite3.Connection, shelves: str, chosen: Sequence[_Chosen], texts: Set[str]
) -> dict[int, int]:
    """Turn id → inbox id of the turns that the facts came from, or that hold one of the texts."""
    ids = {each.source_turn for each in chosen if each.source_turn is not None}
    for text in texts:
        ids.update(row[0] for row in _QUOTING_TURNS.rows(connection, shelves=shelves, text=text))
    return dict(_TURNS.rows(connection, ids=as_list(ids), shelves=shelves))


def _deliveries_with_words(connection: sqlite3.Connection, accounts: str, texts: Set[str]) -> list[int]:
    """Inbox ids of the replies that quote a fact: a list of memories answers a command, not a turn."""
    return [
        inbox_id
        for inbox_id, pages, question in _WAITING.rows(connection, accounts=accounts)
        if any(text in question or text in "".join(json.loads(pages)) for text in texts)
    ]


def _quotable(texts: Iterable[str]) -> set[str]:
    return {text for text in texts if len(text) >= SHORTEST_QUOTE}
