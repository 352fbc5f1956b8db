"""The ledger of turns: question, answer, delivery, job and the closed inbox entry, all or nothing.

Invariant: a turn of an older epoch leaves no trace, nor one whose words were forgotten with its place, nor an answer
that was made while the person was other accounts. Of who wants nothing remembered, a turn is kept for the talk going
on, and no work comes of it.
"""

import sqlite3
from datetime import datetime

from sqlalchemy import bindparam, delete, select

from bot.conversation.errors import ViewChanged
from bot.conversation.message import Message, Reply
from bot.conversation.ports import Clock
from bot.conversation.scope import Scope
from bot.conversation.turn import Turn
from bot.ports import Delivery
from bot.storage.sql.database import Database
from bot.storage.sql.inbox import close_entry, may_become_turn
from bot.storage.sql.pausing import is_paused_for
from bot.storage.sql.schema import job, to_ms, turn
from bot.storage.sql.scopes import has_same_view, is_current, shelf_of
from bot.storage.sql.statements import Statement, constant, insert_into
from bot.storage.sql.under_way import UnderWay

PASSING_KEPT = 10
"""Turns of a shelf, while nothing is to be remembered: those that an answer may look back on."""

_INSERT_TURN = Statement(
    insert_into(turn, "shelf_id", "inbox_id", "question", "answer", "decided_by", "at", "is_passing")
)
_passing = (turn.c.shelf_id == bindparam("shelf")) & (turn.c.is_passing == constant(1))
_DROP_PASSED = Statement(
    delete(turn).where(
        turn.c.id.in_(
            select(turn.c.id).where(_passing).order_by(turn.c.id.desc()).limit(-1).offset(PASSING_KEPT)
        )
    )
)
_PURGE_PASSING = Statement(
    delete(turn).where(turn.c.is_passing == constant(1), turn.c.at < bindparam("before"))
)
_INSERT_JOB = Statement(
    insert_into(job, "turn_id", "account_id", "place", "epoch", "state", "due_at", "tries", "error")
)


class SqlLedger:
    """`bot.ports.TurnLedger` over SQL."""

    def __init__(self, database: Database, clock: Clock, under_way: UnderWay | None = None) -> None:
        self._database = database
        self._clock = clock
        self._under_way = under_way or UnderWay()

    async def commit_turn(
        self,
        inbox_id: int,
        scope: Scope,
        message: Message,
        reply: Reply,
        delivery: Delivery | None,
        *,
        consolidate: bool,
    ) -> Turn | None:
        """None too when the entry was finished before: a turn is stored once."""
        now = to_ms(self._clock.now())

        def work(connection: sqlite3.Connection) -> Turn | None:
            if not may_become_turn(connection, inbox_id) or not is_current(connection, scope):
                return None
            if not has_same_view(connection, scope):
                raise ViewChanged("the person's accounts are others than when this was answered")
            if self._under_way.holds_forgotten(scope.person, inbox_id, f"{message.text} {reply.text}"):
                return None
            close_entry(connection, inbox_id, scope.account, delivery, now)
            is_passing = is_paused_for(connection, scope.account)
            stored = _store_turn(connection, inbox_id, scope, message, reply, is_passing=is_passing)
            if consolidate and not is_passing:
                _store_job(connection, scope, stored, now)
            return stored

        return await self._database.write(work)

    async def purge_passing(self, before: datetime) -> int:
        """See `bot.ports.TurnLedger`."""
        limit = to_ms(before)
        return await self._database.write(
            lambda connection: _PURGE_PASSING.run(connection, before=limit).rowcount
        )


def _store_turn(
    connection: sqlite3.Connection,
    inbox_id: int,
    scope: Scope,
    message: Message,
    reply: Reply,
    *,
    is_passing: bool,
) -> Turn:
    shelf = shelf_of(connection, scope.account, scope.place)
    stored = _INSERT_TURN.run(
        connection,
        shelf_id=shelf,
        inbox_id=inbox_id,
        question=message.text,
        answer=reply.text,
        decided_by=reply.decided_by,
        at=to_ms(message.sent_at),
        is_passing=int(is_passing),
    )
    if is_passing:
        _DROP_PASSED.run(connection, shelf=shelf)
    assert stored.lastrowid is not None
    return Turn(id=stored.lastrowid, question=message.text, answer=reply.text, at=message.sent_at)


def _store_job(connection: sqlite3.Connection, scope: Scope, stored: Turn, now: int) -> None:
    _INSERT_JOB.run(
        connection,
        turn_id=stored.id,
        account_id=scope.account,
        place=scope.place,
        epoch=scope.epoch,
        state="waiting",
        due_at=now,
        tries=0,
        error="",
    )
