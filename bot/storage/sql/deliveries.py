"""Deliveries: the pages of each reply, how far they were handed over, and the bytes given to a platform.

Invariant: a page counts as handed over in the same transaction that makes it so; what was once sealed for
a message key never changes; pages that are all handed over are not kept.
"""

import json
import sqlite3
from datetime import datetime, timedelta

from bot.conversation.message import AccountKey
from bot.conversation.ports import Clock
from bot.conversation.scope import AccountId
from bot.ports import Delivery, DeliveryState, Taken
from bot.storage.sql.database import Database
from bot.storage.sql.delivery_statements import (
    ADVANCE,
    BEGIN,
    CRASHED,
    ENTRY,
    FIND,
    HAND_OVER_FIRST,
    INSERT,
    MARK,
    MARK_SENT,
    OLDEST_HELD,
    OLDEST_HELD_IN,
    PROGRESS,
    PROMISED_KEYS,
    PURGE_SEALS,
    SEAL,
    SEALED,
    SENDING_TO,
    SEVERAL_HELD,
    SPEND_PAYLOAD,
)
from bot.storage.sql.schema import from_ms, to_ms
from bot.storage.sql.statements import Row

HELD_FOR = timedelta(hours=48)
"""How long 「继续」 finds a held reply; as long as WeChat lets a customer-service message follow."""

PROMISE = b"success"
"""The seal of a message that was acknowledged, its answer to be sent: nothing was shown yet."""

# `json.dumps` with an option makes an encoder at each call, for three times what encoding a page takes.
_write_pages = json.JSONEncoder(ensure_ascii=False).encode


def _key_of(row: Row) -> AccountKey:
    """Of a sender nobody knows, the openid is empty."""
    channel, app_id, openid = row
    return AccountKey(channel=channel, app_id=app_id, openid=openid or "")


def _is_on_its_way(entry: Row) -> bool:
    """By another way than in this response, or by none: it was forgotten. `entry`: a row of ENTRY."""
    _, entry_state, state, next_page, page_count = entry
    if state is None:
        return entry_state == "closed"
    return state != DeliveryState.HELD or next_page > 0 or not page_count


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
    INSERT.run(
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


def take_page(connection: sqlite3.Connection, taken: Taken, account: AccountId | None) -> bool:
    """This page of an own held delivery is handed over; with the last it is SENT. False: it has gone already."""
    named = {"inbox": taken.inbox_id, "account": account, "page": taken.page}
    if not ADVANCE.run(connection, **named).rowcount:
        return False
    SPEND_PAYLOAD.run(connection, inbox=taken.inbox_id)
    return True


class SqlDeliveries:
    """`bot.ports.DeliveryStore` over SQL."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def find_delivery(self, inbox_id: int) -> Delivery | None:
        rows = await self._database.peek(FIND, inbox_id=inbox_id)
        return delivery_of(rows[0]) if rows else None

    async def oldest_held(self, account: AccountId, place: str | None = None) -> Delivery | None:
        since = to_ms(self._clock.now() - HELD_FOR)
        if place is None:
            rows = await self._database.peek(OLDEST_HELD, account=account, since=since)
        else:
            rows = await self._database.peek(OLDEST_HELD_IN, account=account, since=since, place=place)
        return delivery_of(rows[0]) if rows else None

    async def has_several_held(self, account: AccountId) -> bool:
        since = to_ms(self._clock.now() - HELD_FOR)
        return len(await self._database.peek(SEVERAL_HELD, account=account, since=since)) > 1

    async def mark_delivery(self, inbox_id: int, state: DeliveryState, next_page: int) -> None:
        def work(connection: sqlite3.Connection) -> None:
            if state is DeliveryState.SENT:
                MARK_SENT.run(connection, inbox=inbox_id)
            else:
                MARK.run(connection, inbox=inbox_id, new_state=state.value, page=next_page)
            if state in (DeliveryState.SENT, DeliveryState.UNKNOWN) or next_page:
                SPEND_PAYLOAD.run(connection, inbox=inbox_id)

        await self._database.write(work)

    async def begin_sending(self, inbox_id: int) -> bool:
        return await self._database.write(
            lambda connection: BEGIN.run(connection, inbox=inbox_id).rowcount == 1
        )

    async def note_progress(self, inbox_id: int, next_page: int) -> bool:
        return await self._database.write(
            lambda connection: PROGRESS.run(connection, inbox=inbox_id, page=next_page).rowcount == 1
        )

    async def crashed_sendings(self) -> tuple[AccountKey, ...]:
        def work(connection: sqlite3.Connection) -> tuple[AccountKey, ...]:
            whose = [_key_of(row) for row in SENDING_TO.rows(connection)]
            for (inbox_id,) in CRASHED.rows(connection):
                SPEND_PAYLOAD.run(connection, inbox=inbox_id)
            return tuple(whose)

        return await self._database.write(work)

    async def sealed(self, channel: str, app_id: str, key: str) -> bytes | None:
        rows = await self._database.peek(SEALED, channel=channel, app_id=app_id, key=key)
        return rows[0][0] if rows else None

    async def seal(self, channel: str, app_id: str, key: str, body: bytes, *, carries_answer: bool) -> bytes:
        at = to_ms(self._clock.now())

        def work(connection: sqlite3.Connection) -> bytes:
            names = {"channel": channel, "app_id": app_id, "key": key}
            sealed = body
            entry = ENTRY.first(connection, **names) if carries_answer else None
            if entry is not None and _is_on_its_way(entry):
                # By customer service, or fetched: in this response it would be seen twice.
                sealed, entry = PROMISE, None
            if not SEAL.run(connection, **names, body=sealed, at=at).rowcount:
                return SEALED.rows(connection, **names)[0][0]
            if entry is not None and HAND_OVER_FIRST.run(connection, inbox=entry[0]).rowcount:
                SPEND_PAYLOAD.run(connection, inbox=entry[0])
            return sealed

        return await self._database.write(work)

    async def promised(self, channel: str) -> tuple[tuple[str, str], ...]:
        """(app_id, key) of the messages that were acknowledged before they were answered."""
        rows = await self._database.read(PROMISED_KEYS, channel=channel, promise=PROMISE)
        return tuple((app_id, key) for app_id, key in rows)

    async def purge_seals(self, before: datetime) -> int:
        """A promise is kept as long as the answer may still be sent."""
        limits = {"before": to_ms(before), "promised_before": to_ms(self._clock.now() - HELD_FOR)}
        return await self._database.write(
            lambda connection: PURGE_SEALS.run(connection, **limits, promise=PROMISE).rowcount
        )
