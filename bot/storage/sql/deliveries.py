"""Deliveries: the pages of each reply, how far they were handed over, and the bytes given to a platform.

Invariant: a page counts as handed over in the same transaction that makes it so; what was once sealed for
a message key never changes; pages that are all handed over are not kept.
"""

import json
import sqlite3
from datetime import datetime, timedelta

from sqlalchemy import bindparam, case, delete, select, update

from bot.conversation.ports import Clock
from bot.conversation.scope import AccountId
from bot.ports import Delivery, DeliveryState
from bot.storage.sql.database import Database
from bot.storage.sql.schema import delivery, from_ms, inbox, seal, to_ms
from bot.storage.sql.statements import Row, Statement, constant, insert_into

HELD_FOR = timedelta(hours=48)
"""How long 「继续」 finds a held reply; as long as WeChat lets a customer-service message follow."""

PROMISE = b"success"
"""The seal of a message that was acknowledged, its answer to be sent: nothing was shown yet."""

DELIVERY_COLUMNS = (
    delivery.c.inbox_id,
    delivery.c.pages,
    delivery.c.next_page,
    delivery.c.state,
    delivery.c.decided_by,
    delivery.c.question,
    delivery.c.at,
)

_FIND = Statement(select(*DELIVERY_COLUMNS).where(delivery.c.inbox_id == bindparam("inbox_id")))
_INSERT = Statement(
    insert_into(
        delivery,
        *("inbox_id", "account_id", "pages", "page_count", "next_page"),
        *("state", "decided_by", "question", "at"),
    )
)
_IS_HELD = (
    delivery.c.account_id == bindparam("account"),
    delivery.c.at >= bindparam("since"),
    delivery.c.next_page < delivery.c.page_count,
    delivery.c.state != constant(DeliveryState.SENDING),
    delivery.c.state != constant(DeliveryState.SENT),
)
_SEVERAL_HELD = Statement(select(delivery.c.inbox_id).where(*_IS_HELD).limit(2))
_OLDEST_HELD = Statement(
    select(*DELIVERY_COLUMNS).where(*_IS_HELD).order_by(delivery.c.at, delivery.c.inbox_id).limit(1)
)
_NO_PAGES, _NOTHING = constant("[]"), constant("")
# `json.dumps` with an option makes an encoder at each call, for three times what encoding a page takes.
_write_pages = json.JSONEncoder(ensure_ascii=False).encode
_MARK = Statement(
    update(delivery)
    .where(delivery.c.inbox_id == bindparam("inbox"))
    .values(state=bindparam("new_state"), next_page=bindparam("page"))
)
_MARK_SENT = Statement(
    update(delivery)
    .where(delivery.c.inbox_id == bindparam("inbox"))
    .values(
        state=constant(DeliveryState.SENT),
        next_page=delivery.c.page_count,
        pages=_NO_PAGES,
        question=_NOTHING,
    )
)
_BEGIN = Statement(
    update(delivery)
    .where(
        delivery.c.inbox_id == bindparam("inbox"),
        delivery.c.state == constant(DeliveryState.HELD),
        delivery.c.next_page == constant(0),
    )
    .values(state=constant(DeliveryState.SENDING))
)
_CRASHED = Statement(
    update(delivery)
    .where(delivery.c.state == constant(DeliveryState.SENDING))
    .values(state=constant(DeliveryState.UNKNOWN))
    .returning(delivery.c.inbox_id)
)
_IS_LAST = delivery.c.next_page + 1 >= delivery.c.page_count
_ONE_MORE = {
    "next_page": delivery.c.next_page + 1,
    "state": case((_IS_LAST, constant(DeliveryState.SENT)), else_=delivery.c.state),
    "pages": case((_IS_LAST, _NO_PAGES), else_=delivery.c.pages),
    "question": case((_IS_LAST, _NOTHING), else_=delivery.c.question),
}
_ADVANCE = Statement(
    update(delivery)
    .where(
        delivery.c.inbox_id == bindparam("inbox"),
        delivery.c.account_id == bindparam("account"),
        delivery.c.next_page < delivery.c.page_count,
    )
    .values(_ONE_MORE)
)
_HAND_OVER_FIRST = Statement(
    update(delivery)
    .where(delivery.c.inbox_id == bindparam("inbox"), delivery.c.next_page == constant(0))
    .values(_ONE_MORE)
)
_STATE = Statement(
    select(delivery.c.state, delivery.c.next_page).where(
        delivery.c.inbox_id == bindparam("inbox"), delivery.c.page_count > constant(0)
    )
)
_SPEND_PAYLOAD = Statement(
    update(inbox)
    .where(inbox.c.id == bindparam("inbox"), inbox.c.state != constant("accepted"))
    .values(payload=None)
)
_INBOX_ID = Statement(
    select(inbox.c.id).where(
        inbox.c.channel == bindparam("channel"),
        inbox.c.app_id == bindparam("app_id"),
        inbox.c.key == bindparam("key"),
    )
)
_SEAL = Statement(
    insert_into(seal, "channel", "app_id", "key", "body", "at").on_conflict_do_nothing(
        index_elements=["channel", "app_id", "key"]
    )
)
_SEALED = Statement(
    select(seal.c.body).where(
        seal.c.channel == bindparam("channel"),
        seal.c.app_id == bindparam("app_id"),
        seal.c.key == bindparam("key"),
    )
)
_PURGE_SEALS = Statement(
    delete(seal).where(
        (seal.c.at < bindparam("before"))
        & ((seal.c.body != bindparam("promise")) | (seal.c.at < bindparam("promised_before")))
    )
)
_PROMISED_KEYS = Statement(
    select(seal.c.app_id, seal.c.key).where(
        seal.c.channel == bindparam("channel"), seal.c.body == bindparam("promise")
    )
)


def _is_on_its_way(connection: sqlite3.Connection, inbox_id: int) -> bool:
    found = _STATE.first(connection, inbox=inbox_id)
    return found is not None and (found[0] != DeliveryState.HELD or found[1] > 0)


def delivery_of(row: Row) -> Delivery:
    """A row of DELIVERY_COLUMNS."""
    inbox_id, pages, next_page, state, decided_by, question, at = row
    return Delivery(
        inbox_id=inbox_id,
        pages=tuple(json.loads(pages)),
        next_page=next_page,
        state=DeliveryState(state),
        decided_by=decided_by,
        question=question,
        at=from_ms(at),
    )


def is_unsent(delivery: Delivery | None) -> bool:
    """Whether a restart would have to send it, and so needs the message it answers."""
    return (
        delivery is not None
        and bool(delivery.pages)
        and delivery.state is DeliveryState.HELD
        and delivery.next_page == 0
    )


def store_delivery(
    connection: sqlite3.Connection, inbox_id: int, account: AccountId | None, delivery: Delivery, now: int
) -> None:
    """Within the transaction that closes its inbox entry."""
    _INSERT.run(
        connection,
        inbox_id=inbox_id,
        account_id=account,
        pages=_write_pages(delivery.pages),
        page_count=len(delivery.pages),
        next_page=delivery.next_page,
        state=delivery.state.value,
        decided_by=delivery.decided_by,
        question=delivery.question,
        at=now if delivery.at is None else to_ms(delivery.at),
    )


def take_page(connection: sqlite3.Connection, inbox_id: int, account: AccountId | None) -> None:
    """One more page of an own held delivery is handed over; with the last it is SENT."""
    if _ADVANCE.run(connection, inbox=inbox_id, account=account).rowcount:
        _SPEND_PAYLOAD.run(connection, inbox=inbox_id)


class SqlDeliveries:
    """`bot.ports.DeliveryStore` over SQL."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def find_delivery(self, inbox_id: int) -> Delivery | None:
        rows = await self._database.peek(_FIND, inbox_id=inbox_id)
        return delivery_of(rows[0]) if rows else None

    async def oldest_held(self, account: AccountId) -> Delivery | None:
        since = to_ms(self._clock.now() - HELD_FOR)
        rows = await self._database.peek(_OLDEST_HELD, account=account, since=since)
        return delivery_of(rows[0]) if rows else None

    async def has_several_held(self, account: AccountId) -> bool:
        since = to_ms(self._clock.now() - HELD_FOR)
        return len(await self._database.peek(_SEVERAL_HELD, account=account, since=since)) > 1

    async def mark_delivery(self, inbox_id: int, state: DeliveryState, next_page: int) -> None:
        def work(connection: sqlite3.Connection) -> None:
            if state is DeliveryState.SENT:
                _MARK_SENT.run(connection, inbox=inbox_id)
            else:
                _MARK.run(connection, inbox=inbox_id, new_state=state.value, page=next_page)
            if state in (DeliveryState.SENT, DeliveryState.UNKNOWN) or next_page:
                _SPEND_PAYLOAD.run(connection, inbox=inbox_id)

        await self._database.write(work)

    async def begin_sending(self, inbox_id: int) -> bool:
        return await self._database.write(
            lambda connection: _BEGIN.run(connection, inbox=inbox_id).rowcount == 1
        )

    async def crashed_sendings(self) -> int:
        def work(connection: sqlite3.Connection) -> int:
            crashed = _CRASHED.rows(connection)
            for (inbox_id,) in crashed:
                _SPEND_PAYLOAD.run(connection, inbox=inbox_id)
            return len(crashed)

        return await self._database.write(work)

    async def sealed(self, channel: str, app_id: str, key: str) -> bytes | None:
        rows = await self._database.peek(_SEALED, channel=channel, app_id=app_id, key=key)
        return rows[0][0] if rows else None

    async def seal(self, channel: str, app_id: str, key: str, body: bytes, *, carries_answer: bool) -> bytes:
        at = to_ms(self._clock.now())

        def work(connection: sqlite3.Connection) -> bytes:
            names = {"channel": channel, "app_id": app_id, "key": key}
            sealed = body
            entry = _INBOX_ID.first(connection, **names) if carries_answer else None
            if entry is not None and _is_on_its_way(connection, entry[0]):
                # By customer service, or fetched: in this response it would be seen twice.
                sealed, entry = PROMISE, None
            if not _SEAL.run(connection, **names, body=sealed, at=at).rowcount:
                return _SEALED.rows(connection, **names)[0][0]
            if entry is not None and _HAND_OVER_FIRST.run(connection, inbox=entry[0]).rowcount:
                _SPEND_PAYLOAD.run(connection, inbox=entry[0])
            return sealed

        return await self._database.write(work)

    async def promised(self, channel: str) -> tuple[tuple[str, str], ...]:
        """(app_id, key) of the messages that were acknowledged before they were answered."""
        rows = await self._database.read(_PROMISED_KEYS, channel=channel, promise=PROMISE)
        return tuple((app_id, key) for app_id, key in rows)

    async def purge_seals(self, before: datetime) -> int:
        """A promise is kept as long as the answer may still be sent."""
        limits = {"before": to_ms(before), "promised_before": to_ms(self._clock.now() - HELD_FOR)}
        return await self._database.write(
            lambda connection: _PURGE_SEALS.run(connection, **limits, promise=PROMISE).rowcount
        )
