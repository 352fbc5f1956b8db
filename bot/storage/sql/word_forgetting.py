"""Forgetting single memories: by ids, by turns, by words. Sync functions, each one transaction of the writer.

Invariant: as in `forgetting`, which tells where words live. What is told apart by its words is compared as `Sought` does,
so that no other width or case of them stays.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import bindparam, delete, select, update

from bot.conversation.message import dump_message, load_message
from bot.conversation.scope import Scope
from bot.memory.fact import ForgetReceipt
from bot.memory.sought import Sought, codes_in
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql import derived
from bot.storage.sql.forgetting import (
    DELETE_CONFIRMATIONS,
    HAS_WORDS,
    accounts_of,
    drop_kept_for_retries,
    forget_answered,
)
from bot.storage.sql.generations import forget_vectors
from bot.storage.sql.noting import note_facts
from bot.storage.sql.schema import delivery, fact, inbox, turn
from bot.storage.sql.shelves import COVERED_SHELVES, as_list, asked, listed, read_covered
from bot.storage.sql.statements import Statement
from bot.storage.sql.superseding import bridge
from bot.storage.sql.under_way import UnderWay

SAID_INSTEAD = "/忘记"
"""What the message that asked says from then on: should a crash bring it again, its sender is asked what to forget."""

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
_DELETE_FACTS = Statement(delete(fact).where(fact.c.id.in_(listed("ids"))))
_SAID = Statement(
    select(turn.c.id, turn.c.inbox_id, turn.c.question, turn.c.answer).where(
        turn.c.shelf_id.in_(listed("shelves"))
    )
)
_WAITING = Statement(
    select(delivery.c.inbox_id, delivery.c.pages, delivery.c.question, delivery.c.decided_by, inbox.c.place)
    .join_from(delivery, inbox, inbox.c.id == delivery.c.inbox_id)
    .where(delivery.c.account_id.in_(listed("accounts")), HAS_WORDS)
)
_OPEN = Statement(
    select(inbox.c.id, inbox.c.key, inbox.c.payload, inbox.c.tries, inbox.c.place).where(
        inbox.c.account_id.in_(listed("accounts")), inbox.c.state == "accepted", inbox.c.payload.is_not(None)
    )
)
_ABANDON = Statement(
    update(inbox).where(inbox.c.id.in_(listed("ids"))).values(state="dead", payload=None, error="")
)
_REWORD = Statement(
    update(inbox).where(inbox.c.id == bindparam("inbox")).values(payload=bindparam("instead"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToForget:
    """What `FactStore.forget_facts` was asked."""

    facts: Sequence[int]
    words: Sequence[str] = ()
    turns: Sequence[int] = ()
    asked_in: str = ""


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
    asking: ToForget,
    ledger: ForgetLedger | None = None,
    under_way: UnderWay | None = None,
) -> ForgetReceipt:
    """See `FactStore.forget_facts`. Besides the turns the facts came from, those go that quote them."""
    covered = read_covered(COVERED_SHELVES.rows(connection, **asked(scope)))
    shelves = as_list(covered.ids)
    chosen = _chosen(connection, shelves, asking)
    texts = {each.text for each in chosen}
    told, sought = _sought(chosen, asking)
    accounts = accounts_of(connection, scope.person)
    if under_way is not None and sought and covered.ids:
        under_way.note(connection, scope.person, sought)
    _leave_no_words_of(connection, accounts, scope, asking.asked_in, sought)
    turns = _turns(connection, shelves, chosen, asking.turns, sought)
    quoting = _replies(connection, accounts, scope.place, told, sought, with_lists=bool(chosen or turns))
    answered = {*turns.values(), *quoting}
    if not chosen and not answered and not derived.have_words(connection, shelves, sought, texts):
        return ForgetReceipt()
    if ledger is not None:
        note_facts(connection, ledger, [each.id for each in chosen], turns.values(), answered)
    vectors = _forget_vectors(connection, scope, chosen)
    bridge(connection, shelves, [each.id for each in chosen])
    facts = _DELETE_FACTS.run(connection, ids=as_list(each.id for each in chosen)).rowcount
    made = derived.forget_words(connection, shelves, sought, texts | set(asking.words))
    receipt = forget_answered(connection, accounts, turns, answered)
    drop_kept_for_retries(connection, accounts)
    DELETE_CONFIRMATIONS.run(connection, accounts=accounts)
    return replace(
        receipt,
        facts=facts,
        vectors=vectors,
        summaries=made.summaries,
        entities=receipt.entities + made.entities,
    )


def would_forget(connection: sqlite3.Connection, scope: Scope, asking: ToForget) -> tuple[int, int, bool]:
    """How many facts and turns `forget_facts` would delete, and whether anything made of them; nothing is changed."""
    shelves = as_list(read_covered(COVERED_SHELVES.rows(connection, **asked(scope))).ids)
    chosen = _chosen(connection, shelves, asking)
    _, sought = _sought(chosen, asking)
    turns = _turns(connection, shelves, chosen, asking.turns, sought)
    has_made = derived.have_words(connection, shelves, sought, {each.text for each in chosen})
    return len(chosen), len(turns), has_made


def _chosen(connection: sqlite3.Connection, shelves: str, asking: ToForget) -> list[_Chosen]:
    rows = _CHOSEN.rows(connection, ids=as_list(asking.facts), shelves=shelves)
    return [_Chosen(id=row[0], shelf=row[1], text=row[2], source_turn=row[3]) for row in rows]


def _sought(chosen: Sequence[_Chosen], asking: ToForget) -> tuple[Sought, Sought]:
    """What the facts tell, and with it what is meant by words."""
    texts = {each.text for each in chosen}
    told = Sought.of(texts) | codes_in(texts)
    return told, told | Sought.of(asking.words)


def _forget_vectors(connection: sqlite3.Connection, scope: Scope, chosen: Sequence[_Chosen]) -> int:
    vectors = 0
    for each in read_covered(COVERED_SHELVES.rows(connection, **asked(scope))).shelves:
        gone = [forgotten.id for forgotten in chosen if forgotten.shelf == each.id]
        if gone:
            vectors += forget_vectors(connection, each, gone)
    return vectors


def _turns(
    connection: sqlite3.Connection,
    shelves: str,
    chosen: Sequence[_Chosen],
    meant: Sequence[int],
    sought: Sought,
) -> dict[int, int]:
    """Turn id → inbox id: those that are meant, that the facts came from, or that hold the words."""
    ids: set[int | None] = {*meant, *(each.source_turn for each in chosen)}
    if not ids and not sought:
        return {}
    rows: list[tuple[int, int, str, str]] = _SAID.rows(connection, shelves=shelves)
    return {row[0]: row[1] for row in rows if row[0] in ids or sought.is_in(f"{row[2]} {row[3]}")}


def _replies(
    connection: sqlite3.Connection,
    accounts: str,
    place: str,
    told: Sought,
    sought: Sought,
    *,
    with_lists: bool,
) -> list[int]:
    """Inbox ids of the replies that quote what goes. A memory that goes is sought in all that wait for their person,
    wherever they were asked for, words of a place in those of the place alone. `with_lists`: what a command answered
    too, which may hold a memory cut off, or a turn of any place."""
    return [
        inbox_id
        for inbox_id, pages, question, decided_by, of_place in _WAITING.rows(connection, accounts=accounts)
        if (with_lists and decided_by == "command")
        or (sought if of_place == place else told).is_in(f"{question} {''.join(json.loads(pages))}")
    ]


def _leave_no_words_of(
    connection: sqlite3.Connection, accounts: str, scope: Scope, key: str, sought: Sought
) -> None:
    """The message that asks names what it wants gone; one that failed before is not tried again with these words."""
    given_up: list[int] = []
    for inbox_id, own_key, payload, tries, place in _OPEN.rows(connection, accounts=accounts):
        if key and own_key == key:
            message = replace(load_message(payload), text=SAID_INSTEAD, quoted="")
            _REWORD.run(connection, inbox=inbox_id, instead=dump_message(message))
        elif tries and place == scope.place and sought.is_in(_text_of(payload)):
            given_up.append(inbox_id)
    if given_up:
        _ABANDON.run(connection, ids=as_list(given_up))


def _text_of(payload: str) -> str:
    try:
        message = load_message(payload)
    except (KeyError, TypeError, ValueError):
        return ""
    return f"{message.text} {message.quoted}"
