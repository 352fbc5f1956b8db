"""Every SQL store over one database, and the WeChat adapter's own port over them."""

import asyncio
from typing import Any

from loguru import logger

from bot.container.metered import MeteredDeliveries, MeteredFacts
from bot.conversation.ports import Clock
from bot.conversation.scope import PersonId
from bot.metrics import Metrics
from bot.secrets_file import Peppers, pepper_check
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql.accounts import SqlAccounts
from bot.storage.sql.audit import SqlAudit
from bot.storage.sql.backup import prune_automatic
from bot.storage.sql.closed_facts import SqlClosedFacts
from bot.storage.sql.confirmations import SqlConfirmations
from bot.storage.sql.database import Database
from bot.storage.sql.deliveries import PROMISE, SqlDeliveries
from bot.storage.sql.departing import SqlDeparting
from bot.storage.sql.entities import SqlEntities
from bot.storage.sql.exporting import export_person
from bot.storage.sql.group_switches import SqlGroupSwitches
from bot.storage.sql.half_placed import refuse_half_unpacked, remove_leftovers
from bot.storage.sql.identity_history import SqlIdentityHistory
from bot.storage.sql.inbox import SqlInbox
from bot.storage.sql.jobs import SqlJobs
from bot.storage.sql.ledger import SqlLedger
from bot.storage.sql.lineage import bind
from bot.storage.sql.link_codes import SqlLinkCodes
from bot.storage.sql.openids import SqlOpenids
from bot.storage.sql.parking import SqlParking
from bot.storage.sql.passages import SqlPassages
from bot.storage.sql.pausing import SqlPauses
from bot.storage.sql.phone_codes import SqlPhoneCodes
from bot.storage.sql.phones import SqlPhones
from bot.storage.sql.reembedding import SqlVectors
from bot.storage.sql.summaries import SqlSummaries
from bot.storage.sql.tallies import SqlTallies
from bot.storage.sql.turn_log import SqlTurnLog
from bot.storage.sql.union_asks import SqlUnionAsks

PRUNE_SECONDS = 3600.0
"""A day's lateness would matter to who asked to be forgotten; a look at one folder an hour costs nothing."""


class WeChatReplies:
    """The WeChat adapter's own store port, kept in the deliveries, and which promises are not kept yet."""

    def __init__(self, deliveries: SqlDeliveries) -> None:
        self._deliveries = deliveries
        self._owed: set[tuple[str, str]] = set()

    async def open(self) -> None:
        """Know again what was promised before a stop or a crash."""
        self._owed = set(await self._deliveries.promised("wechat"))

    async def sealed(self, app_id: str, key: str) -> bytes | None:
        return await self._deliveries.sealed("wechat", app_id, key)

    async def seal(self, app_id: str, key: str, body: bytes, *, carries_answer: bool) -> bytes:
        return await self._deliveries.seal("wechat", app_id, key, body, carries_answer=carries_answer)

    async def promise(self, app_id: str, key: str) -> bytes:
        sealed = await self.seal(app_id, key, PROMISE, carries_answer=False)
        if sealed == PROMISE:
            self._owed.add((app_id, key))
        return sealed

    def is_owed(self, app_id: str, key: str) -> bool:
        """Promised, and not sent yet."""
        return (app_id, key) in self._owed

    def settle(self, app_id: str, key: str) -> None:
        self._owed.discard((app_id, key))


class Stores:
    """Every SQL store over one database."""

    def __init__(self, database: Database, clock: Clock, metrics: Metrics, peppers: Peppers) -> None:
        self.database = database
        self.forgotten = ForgetLedger(
            database.path.with_name("forgotten.jsonl"), peppers.current, clock, peppers.keys_before
        )
        self._peppers = peppers
        self.accounts = SqlAccounts(database, clock, self.forgotten)
        self.audit = SqlAudit(database, clock)
        self.closed_facts = SqlClosedFacts(database, clock)
        self.confirmations = SqlConfirmations(database, clock)
        self.departing = SqlDeparting(database, clock, self.forgotten)
        self.deliveries = MeteredDeliveries(database, clock, metrics=metrics)
        self.entities = SqlEntities(database)
        self.facts = MeteredFacts(database, clock, self.forgotten, metrics=metrics)
        self.group_switches = SqlGroupSwitches(database, clock)
        self.history = SqlIdentityHistory(database)
        self.inbox = SqlInbox(database, clock)
        self.jobs = SqlJobs(database, clock)
        self.ledger = SqlLedger(database, clock, self.facts.under_way)
        self.link_codes = SqlLinkCodes(database, self.forgotten)
        self.parking = SqlParking(database, clock, self.forgotten)
        self.pauses = SqlPauses(database, clock)
        self.passages = SqlPassages(database, clock)
        self.openids = SqlOpenids(database, clock)
        self.phone_codes = SqlPhoneCodes(database)
        self.phones = SqlPhones(database, clock)
        self.summaries = SqlSummaries(database)
        self.tallies = SqlTallies(database, clock)
        self.turn_log = SqlTurnLog(database)
        self.union_asks = SqlUnionAsks(database)
        self.vectors = SqlVectors(database, clock)
        self.wechat_replies = WeChatReplies(self.deliveries)

    def prepare(self) -> None:
        """Blocks. The file has the newest schema, belongs to this data folder, and has forgotten what the
        ledger says. Raises ConfigurationError or StoreUnavailable."""
        refuse_half_unpacked(self.database.path.parent)
        self.database.prepare()
        prune_automatic(self.database.path.parent)
        remove_leftovers(self.database.path.parent)
        done = bind(
            self.database.path,
            self.forgotten,
            pepper_check(self._peppers.current),
            self._peppers.checks_before,
        )
        if done.entries:
            logger.warning(
                "数据库比忘记账本旧，已照账本重做：清除 {} 次、记忆 {} 条，注销的账号 {} 个，分开的 {} 个，取消关注的 {} 个",
                done.forgettings,
                done.receipt.facts,
                done.left,
                done.parted,
                done.parked,
            )
        if done.is_ledger_short:
            logger.warning("忘记账本 {} 比数据库旧：从原来的数据文件夹拷来最新的", self.forgotten.path)

    async def keep_pruning(self) -> None:
        """Until cancelled: automatic backups do not outlive their week while the bot runs."""
        while True:
            await asyncio.sleep(PRUNE_SECONDS)
            await asyncio.to_thread(prune_automatic, self.database.path.parent)

    async def export(self, person: PersonId) -> dict[str, Any]:
        """Everything that is kept about a person, as a JSON document. Raises StoreUnavailable."""
        return await export_person(self.database, person)
