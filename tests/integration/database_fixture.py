"""A real database file for tests, the stores over it, and messages to put in."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.conversation.message import AccountKey, Conversation, Kind, Message, Reply
from bot.conversation.turn import Turn
from bot.ports import Delivery, DeliveryState
from bot.storage.sql.accounts import SqlAccounts
from bot.storage.sql.audit import SqlAudit
from bot.storage.sql.confirmations import SqlConfirmations
from bot.storage.sql.database import Database
from bot.storage.sql.deliveries import SqlDeliveries
from bot.storage.sql.inbox import SqlInbox
from bot.storage.sql.jobs import SqlJobs
from bot.storage.sql.ledger import SqlLedger
from bot.storage.sql.link_codes import SqlLinkCodes
from bot.storage.sql.phone_codes import SqlPhoneCodes
from bot.storage.sql.scopes import bar_older_work
from bot.storage.sql.statements import Row
from identity.model import Account

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class SteppingClock:
    """Stands still until told to step."""

    def __init__(self, start: datetime = NOON) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def step(self, **amount: float) -> None:
        self._now += timedelta(**amount)


@asynccontextmanager
async def open_database(folder: Path, **options: float) -> AsyncIterator[Database]:
    """A new or known `jide.db` in a folder."""
    database = Database(folder / "jide.db", **options)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """Every store of the story, over one database and one clock."""

    database: Database
    clock: SteppingClock
    inbox: SqlInbox
    ledger: SqlLedger
    deliveries: SqlDeliveries
    jobs: SqlJobs
    confirmations: SqlConfirmations
    audit: SqlAudit
    accounts: SqlAccounts
    link_codes: SqlLinkCodes
    phone_codes: SqlPhoneCodes

    async def account(self, name: str, unionid: str = "") -> Account:
        return await self.accounts.create_account(a_key(name), unionid)

    async def turn(
        self, account: Account, key: str, *, place: str = "", consolidate: bool = True, text: str = "我叫八六"
    ) -> Turn | None:
        """Admit and commit one turn of an account, as of the account given."""
        message = a_message(key, account.key.openid, text)
        admission = await self.inbox.admit(message)
        return await self.ledger.commit_turn(
            admission.inbox_id, account.scope(place), message, A_REPLY, None, consolidate=consolidate
        )

    async def clear(self, account: Account) -> None:
        """Only the part of a clearing that bars older work."""
        await self.database.write(lambda connection: bar_older_work(connection, account.person))

    async def rows(self, sql: str) -> list[Row]:
        return await self.database.write(lambda connection: connection.execute(sql).fetchall())


@asynccontextmanager
async def open_stores(folder: Path) -> AsyncIterator[Stores]:
    clock = SteppingClock()
    async with open_database(folder) as database:
        yield Stores(
            database=database,
            clock=clock,
            inbox=SqlInbox(database, clock),
            ledger=SqlLedger(database, clock),
            deliveries=SqlDeliveries(database, clock),
            jobs=SqlJobs(database, clock),
            confirmations=SqlConfirmations(database, clock),
            audit=SqlAudit(database, clock),
            accounts=SqlAccounts(database, clock),
            link_codes=SqlLinkCodes(database),
            phone_codes=SqlPhoneCodes(database),
        )


A_REPLY = Reply(text="好的，八六。", decided_by="model")


def a_key(name: str, *, channel: str = "wechat", app_id: str = "wx1") -> AccountKey:
    return AccountKey(channel=channel, app_id=app_id, openid=name)


def a_message(key: str, sender: str = "o-li", text: str = "我叫八六") -> Message:
    return Message(
        key=key,
        kind=Kind.TEXT,
        sender=a_key(sender),
        conversation=Conversation(channel="wechat", app_id="wx1"),
        text=text,
        sent_at=NOON,
    )


def a_delivery(
    inbox_id: int, *pages: str, state: DeliveryState = DeliveryState.HELD, next_page: int = 0
) -> Delivery:
    return Delivery(
        inbox_id=inbox_id,
        pages=pages or ("第一页", "第二页"),
        next_page=next_page,
        state=state,
        decided_by="model",
        question="我叫",
        at=NOON,
    )
