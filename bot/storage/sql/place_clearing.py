"""Clear one group: what everybody said to the bot there, and what the group keeps together.

Invariant: no statement here deletes or blanks a row by anything but its place, so what was said in private or in
another group stays as it is, to the byte, also of the group's own members. See `forgetting` for where words live.
"""

import sqlite3

from sqlalchemy import bindparam, delete, func, or_, select, tuple_, update

from bot.conversation.message import AccountKey, load_message
from bot.conversation.scope import AccountId
from bot.memory.fact import ForgetReceipt
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql import account_statements
from bot.storage.sql.blanking import BLANKED, HAS_WORDS
from bot.storage.sql.deliveries import PROMISE
from bot.storage.sql.forgetting import empty_shelves
from bot.storage.sql.noting import note_place
from bot.storage.sql.schema import delivery, inbox, job, seal, shelf, turn
from bot.storage.sql.scopes import bar_older_work_in
from bot.storage.sql.statements import Statement, constant
from identity.directory import key_of_group

_IS_THERE = inbox.c.place == bindparam("place")
_SHELVES = Statement(
    select(shelf.c.id, shelf.c.size + shelf.c.coming_size).where(shelf.c.place == bindparam("place"))
)
_OPEN = Statement(
    select(inbox.c.payload).where(
        _IS_THERE, inbox.c.state == constant("accepted"), inbox.c.payload.is_not(None)
    )
)
_DELETE_JOBS = Statement(
    delete(job).where(
        job.c.turn_id.in_(select(turn.c.id).join(shelf).where(shelf.c.place == bindparam("place")))
    )
)
_BLANK_DELIVERIES = Statement(
    BLANKED.where(delivery.c.inbox_id.in_(select(inbox.c.id).where(_IS_THERE)), HAS_WORDS)
)
_BLANK_SEALS = Statement(
    update(seal)
    .where(
        tuple_(seal.c.channel, seal.c.app_id, seal.c.key).in_(
            select(inbox.c.channel, inbox.c.app_id, inbox.c.key).where(_IS_THERE)
        ),
        func.length(seal.c.body) > 0,
        seal.c.body != PROMISE,
    )
    .values(body=b"")
)
_BLANK_PAYLOADS = Statement(
    update(inbox)
    .where(_IS_THERE, or_(inbox.c.payload.is_not(None), inbox.c.error != ""))
    .values(payload=None, error="")
)


def clear_place(
    connection: sqlite3.Connection, place: str, ledger: ForgetLedger | None = None
) -> ForgetReceipt:
    """See `PlaceClearer.clear_place`. A message that waits to be answered is answered, but becomes no turn:
    it was said before. After a crash it is not taken up again."""
    if not place:
        raise ValueError("the private places of all people are no place to clear")
    if ledger is not None:
        note_place(connection, ledger, place)
    bar_older_work_in(connection, place, also=_at_work(connection, place))
    jobs = _DELETE_JOBS.run(connection, place=place).rowcount
    receipt = empty_shelves(connection, _SHELVES.rows(connection, place=place))
    deliveries = _BLANK_DELIVERIES.run(connection, place=place).rowcount
    _BLANK_SEALS.run(connection, place=place)
    _BLANK_PAYLOADS.run(connection, place=place)
    return ForgetReceipt(
        facts=receipt.facts,
        turns=receipt.turns,
        jobs=jobs,
        deliveries=deliveries,
        vectors=receipt.vectors,
        summaries=receipt.summaries,
        entities=receipt.entities,
    )


def _at_work(connection: sqlite3.Connection, place: str) -> list[AccountId]:
    """The accounts that messages under way may store something for: their senders', and the group's own."""
    keys: set[AccountKey] = set()
    for (payload,) in _OPEN.rows(connection, place=place):
        try:
            message = load_message(payload)
        except (KeyError, TypeError, ValueError):
            continue  # nobody can work on it
        keys |= {message.sender, key_of_group(message.conversation)}
    found = [
        account_statements.FIND.first(connection, channel=key.channel, app_id=key.app_id, openid=key.openid)
        for key in keys
    ]
    return [row[0] for row in found if row is not None]
