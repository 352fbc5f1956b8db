"""The ledger of turns: question, answer, delivery, job and the closed inbox entry, all or nothing.

Invariant: a turn of an older epoch leaves no trace, nor one whose words were forgotten with its place, nor an answer
that was made while the person was other accounts.
"""

import sqlite3

from bot.conversation.errors import ViewChanged
from bot.conversation.message import Message, Reply
from bot.conversation.ports import Clock
from bot.conversation.scope import Scope
from bot.conversation.turn import Turn
from bot.ports import Delivery
from bot.storage.sql.database import Database
from bot.storage.sql.inbox import close_entry, may_become_turn
from bot.storage.sql.schema import job, to_ms, turn
from bot.storage.sql.scopes import has_same_view, is_current, shelf_of
from bot.storage.sql.statements import Statement, insert_into

_INSERT_TURN = Statement(insert_into(turn, "shelf_id", "inbox_id", "question", "answer", "decided_by", "at"))
_INSERT_JOB = Statement(
    insert_into(job, "turn_id", "account_id", "place", "epoch", "state", "due_at", "tries", "error")
)


class SqlLedger:
    """`bot.ports.TurnLedger` over SQL."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

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
            close_entry(connection, inbox_id, scope.account, delivery, now)
            stored = _store_turn(connection, inbox_id, scope, message, reply)
            if consolidate:
                _store_job(connection, scope, stored, now)
            return stored

        return await self._database.write(work)


def _store_turn(
    connection: sqlite3.Connection, inbox_id: int, scope: Scope, message: Message, reply: Reply
) -> Turn:
    stored = _INSERT_TURN.run(
        connection,
        shelf_id=shelf_of(connection, scope.account, scope.place),
        inbox_id=inbox_id,
        question=message.text,
        answer=reply.text,
        decided_by=reply.decided_by,
        at=to_ms(message.sent_at),
    )
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
