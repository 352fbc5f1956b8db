"""The inbox: every accepted message, once, before anyone is told it was accepted.

Invariant: a message's text stays only while something may still need it: until its entry is closed, and
then until the first page of its reply was handed over. An open entry without one was overtaken by a clearing of
its place: it becomes no turn.
"""

import sqlite3
from collections.abc import Iterable

from sqlalchemy import Integer, bindparam, case, func, select, update
from sqlalchemy.dialects.sqlite import insert

from bot.conversation.message import Message, dump_message, load_message
from bot.conversation.ports import Clock
from bot.conversation.scope import AccountId
from bot.ports import Accepted, Admission, Delivery, DeliveryState, Taken
from bot.storage.sql.database import Database
from bot.storage.sql.deliveries import delivery_of, is_unsent, store_delivery, take_page
from bot.storage.sql.delivery_statements import DELIVERY_COLUMNS
from bot.storage.sql.schema import account, delivery, inbox, to_ms
from bot.storage.sql.statements import Row, Statement, constant

DEAD_AFTER = 3
"""Failed tries that make a dead letter (SAFETY: three tries, then the next message proceeds)."""
ERROR_LIMIT = 200
"""Characters kept of an error: enough to name it, too few to hide a conversation in."""

_SENDER = (
    select(account.c.id)
    .where(
        account.c.channel == bindparam("sender_channel"),
        account.c.app_id == bindparam("sender_app_id"),
        account.c.openid == bindparam("openid"),
    )
    .scalar_subquery()
)
_ADMIT = Statement(
    insert(inbox)
    .values(
        channel=bindparam("channel"),
        app_id=bindparam("app_id"),
        key=bindparam("key"),
        account_id=_SENDER,
        payload=bindparam("payload"),
        state=constant("accepted"),
        tries=constant(0),
        error=constant(""),
        accepted_at=bindparam("accepted_at"),
        place=bindparam("place"),
    )
    .on_conflict_do_nothing(index_elements=["channel", "app_id", "key"])
)
_FIND = Statement(
    select(inbox.c.id, *DELIVERY_COLUMNS)
    .select_from(inbox.outerjoin(delivery))
    .where(
        inbox.c.channel == bindparam("channel"),
        inbox.c.app_id == bindparam("app_id"),
        inbox.c.key == bindparam("key"),
    )
)
_UNFINISHED = Statement(
    select(inbox.c.id, inbox.c.payload).where(inbox.c.state == constant("accepted")).order_by(inbox.c.id)
)
_UNDELIVERED = Statement(
    select(inbox.c.id, inbox.c.payload)
    .select_from(delivery.join(inbox))
    .where(
        delivery.c.state == constant(DeliveryState.HELD),
        delivery.c.next_page == constant(0),
        inbox.c.payload.is_not(None),
        inbox.c.state == constant("closed"),
    )
    .order_by(delivery.c.inbox_id)
)
_STATE = Statement(
    select(inbox.c.state, inbox.c.tries, delivery.c.inbox_id, inbox.c.payload.is_not(None))
    .select_from(inbox.outerjoin(delivery))
    .where(inbox.c.id == bindparam("inbox"))
)
_CLOSE = Statement(
    update(inbox)
    .where(inbox.c.id == bindparam("inbox"))
    .values(
        state=case((inbox.c.state == constant("dead"), constant("dead")), else_=constant("closed")),
        account_id=func.coalesce(bindparam("sender", type_=Integer), inbox.c.account_id),
        payload=case((bindparam("keep") == constant(1), inbox.c.payload), else_=None),
    )
)
_REWRITE = Statement(
    update(inbox).where(inbox.c.id == bindparam("inbox")).values(payload=bindparam("instead"))
)
_tried = inbox.c.tries + 1
_REFUSE = Statement(
    update(inbox)
    .where(inbox.c.id == bindparam("inbox"), inbox.c.state == constant("accepted"))
    .values(
        tries=_tried,
        error=bindparam("reason"),
        state=case((_tried >= constant(DEAD_AFTER), constant("dead")), else_=inbox.c.state),
        payload=case((_tried >= constant(DEAD_AFTER), None), else_=inbox.c.payload),
    )
    .returning(inbox.c.tries)
)
_BURY = Statement(
    update(inbox)
    .where(inbox.c.id == bindparam("inbox"))
    .values(state=constant("dead"), payload=None, error=constant("unreadable"))
)


def is_open(connection: sqlite3.Connection, inbox_id: int) -> bool:
    """Whether an entry still waits for its end: neither closed nor answered."""
    row = _STATE.first(connection, inbox=inbox_id)
    return row is not None and row[0] != "closed" and row[2] is None


def may_become_turn(connection: sqlite3.Connection, inbox_id: int) -> bool:
    """Whether an entry is open, and its words were not forgotten meanwhile."""
    row = _STATE.first(connection, inbox=inbox_id)
    return row is not None and row[0] != "closed" and row[2] is None and bool(row[3])


def close_entry(
    connection: sqlite3.Connection,
    inbox_id: int,
    account: AccountId | None,
    delivery: Delivery | None,
    now: int,
) -> None:
    """Close an open entry with its delivery. The message's text stays while that is unsent."""
    _CLOSE.run(connection, inbox=inbox_id, sender=account, keep=int(is_unsent(delivery)))
    if delivery is not None:
        store_delivery(connection, inbox_id, account, delivery, now)


class SqlInbox:
    """`bot.ports.InboxStore` over SQL."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def admit(self, message: Message) -> Admission:
        payload = dump_message(message)
        accepted_at = to_ms(self._clock.now())
        sender = message.sender

        def work(connection: sqlite3.Connection) -> Admission:
            names = {
                "channel": message.conversation.channel,
                "app_id": message.conversation.app_id,
                "key": message.key,
            }
            admitted = _ADMIT.run(
                connection,
                **names,
                sender_channel=sender.channel,
                sender_app_id=sender.app_id,
                openid=sender.openid,
                payload=payload,
                accepted_at=accepted_at,
                place=message.conversation.place,
            )
            if admitted.rowcount:
                assert admitted.lastrowid is not None
                return Admission(inbox_id=admitted.lastrowid, is_new=True, delivery=None)
            return _known(_FIND.rows(connection, **names)[0])

        return await self._database.write(work)

    async def unfinished(self) -> tuple[Accepted, ...]:
        return await self._readable(await self._database.read(_UNFINISHED))

    async def undelivered(self) -> tuple[Accepted, ...]:
        return await self._readable(await self._database.read(_UNDELIVERED))

    async def close(
        self,
        inbox_id: int,
        *,
        account: AccountId | None,
        delivery: Delivery | None,
        taken: Taken | None = None,
        payload: Message | None = None,
    ) -> bool:
        """An entry that was closed before is left alone: nothing is stored or taken twice."""
        now = to_ms(self._clock.now())
        instead = None if payload is None else dump_message(payload)

        def work(connection: sqlite3.Connection) -> bool:
            if not is_open(connection, inbox_id):
                return True
            if taken is not None and not take_page(connection, taken, account):
                return False
            close_entry(connection, inbox_id, account, delivery, now)
            if instead is not None and is_unsent(delivery):
                _REWRITE.run(connection, inbox=inbox_id, instead=instead)
            return True

        is_closed = await self._database.write(work)
        if instead is not None:
            await self._database.quiesce_and_checkpoint()
        return is_closed

    async def refuse(self, inbox_id: int, error: str) -> int:
        """A dead letter keeps its error, not its text. A finished entry is left alone."""

        def work(connection: sqlite3.Connection) -> int:
            row = _REFUSE.first(connection, inbox=inbox_id, reason=error[:ERROR_LIMIT])
            if row is not None:
                return row[0]
            known = _STATE.first(connection, inbox=inbox_id)
            return 0 if known is None else known[1]

        return await self._database.write(work)

    async def _readable(self, rows: Iterable[Row]) -> tuple[Accepted, ...]:
        """Entries whose message can be read. Others are buried, lest they stop every start."""
        accepted: list[Accepted] = []
        for inbox_id, payload in rows:
            try:
                accepted.append(Accepted(inbox_id=inbox_id, message=load_message(payload)))
            except (KeyError, TypeError, ValueError):
                await self._bury(inbox_id)
        return tuple(accepted)

    async def _bury(self, inbox_id: int) -> None:
        await self._database.write(lambda connection: _BURY.run(connection, inbox=inbox_id).rowcount)


def _known(row: Row) -> Admission:
    inbox_id, *found = row
    return Admission(
        inbox_id=inbox_id,
        is_new=False,
        delivery=None if found[0] is None else delivery_of(tuple(found)),
    )
