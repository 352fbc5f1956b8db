"""Every SQL store over one database, and the WeChat adapter's own port over them."""

from bot.conversation.ports import Clock
from bot.storage.sql.accounts import SqlAccounts
from bot.storage.sql.audit import SqlAudit
from bot.storage.sql.confirmations import SqlConfirmations
from bot.storage.sql.database import Database
from bot.storage.sql.deliveries import SqlDeliveries
from bot.storage.sql.facts import SqlFacts
from bot.storage.sql.inbox import SqlInbox
from bot.storage.sql.jobs import SqlJobs
from bot.storage.sql.ledger import SqlLedger
from bot.storage.sql.passages import SqlPassages


class WeChatReplies:
    """The WeChat adapter's own store port, kept in the deliveries."""

    def __init__(self, deliveries: SqlDeliveries) -> None:
        self._deliveries = deliveries

    async def sealed(self, app_id: str, key: str) -> bytes | None:
        return await self._deliveries.sealed("wechat", app_id, key)

    async def seal(self, app_id: str, key: str, body: bytes, *, carries_answer: bool) -> bytes:
        return await self._deliveries.seal("wechat", app_id, key, body, carries_answer=carries_answer)


class Stores:
    """Every SQL store over one database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database = database
        self.accounts = SqlAccounts(database, clock)
        self.audit = SqlAudit(database, clock)
        self.confirmations = SqlConfirmations(database, clock)
        self.deliveries = SqlDeliveries(database, clock)
        self.facts = SqlFacts(database, clock)
        self.inbox = SqlInbox(database, clock)
        self.jobs = SqlJobs(database, clock)
        self.ledger = SqlLedger(database, clock)
        self.passages = SqlPassages(database, clock)
