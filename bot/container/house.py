"""The house, put together from the settings.

Invariant: nothing here decides anything about a message.
"""

import asyncio
import contextlib
import hmac
import shutil
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

from loguru import logger

from bot.alerts import OperatorAlerts
from bot.answering.drafts import Drafts
from bot.answering.extractive import ExtractiveAnswerer
from bot.container.assembly import Assembly
from bot.container.channels import Channels, SystemClock
from bot.container.garbage import spare_what_stays
from bot.container.keys import KeysOfFile
from bot.container.models import Models
from bot.container.proving import phone_codes, phone_door
from bot.container.recalling import make_renewing
from bot.container.remembering import make_memory_desk
from bot.container.stores import Stores, WeChatReplies
from bot.container.watching import Watch
from bot.container.windows import make_window, make_window_cache
from bot.conversation.errors import TransientError
from bot.conversation.ports import Clock
from bot.conversation.wording import Wording
from bot.delivery import DeliveryDesk
from bot.groups.lines import GroupLines
from bot.groups.switch import GroupSwitch
from bot.journal import Journal
from bot.knowledge.catalogue_file import CatalogueFile
from bot.knowledge.ingest import Ingest
from bot.leaving import Leaving
from bot.loop_lag import LoopLag
from bot.metering import OrderWatch
from bot.metrics import Metrics
from bot.pacing import Pace
from bot.persona import Personas
from bot.playground.why import WhyRecords
from bot.rules.faq_file import FaqFile
from bot.secrets_file import PepperFile
from bot.settings import Settings
from bot.status import StatusBoard
from bot.storage.sql.database import Database
from bot.storage.sql.half_placed import refuse_half_unpacked
from bot.supervisor import Supervisor
from bot.turnstile import Turnstile
from bot.union_lookup import UnionLookup
from bot.worker import Worker
from identity.authority import Authority
from identity.directory import Directory
from identity.linking import Linking

HOUSE_FOLDER = Path(__file__).parents[1]


class House:
    """Everything, put together. `open` before the first message, `close` after the last."""

    def __init__(
        self,
        settings: Settings,
        channels: Channels | None = None,
        clock: Clock | None = None,
        alerts: OperatorAlerts | None = None,
    ) -> None:
        """Reads the persona and the wording, makes the data folder's secrets; opens nothing yet.

        Raises ConfigurationError.
        """
        channels, clock = channels or Channels(), clock or SystemClock()
        self._alerts = alerts or OperatorAlerts()
        folder = settings.data_folder
        refuse_half_unpacked(folder)
        self.settings = settings
        self.wording = Wording.load(settings.language, folder / "wording.toml")
        self.metrics = Metrics()
        pepper_file = PepperFile(folder)
        peppers = pepper_file.read()
        pepper = peppers.current
        self.stores = Stores(Database(folder / "jide.db"), clock, self.metrics, peppers)
        self.models = Models(settings, self.metrics)
        self.journal = Journal(self.metrics, pepper)
        keys, keyed_hash = KeysOfFile(pepper_file), partial(hmac.digest, pepper, digest="sha256")
        self.directory = Directory(self.stores.accounts, keys, self.stores.phones)
        self.phone_door = phone_door(settings, channels, self.directory)
        self._phone_codes = phone_codes(
            settings, self.stores, directory=self.directory, keys=keys, keyed_hash=keyed_hash, clock=clock
        )
        self.authority = Authority(self.stores.accounts, sorted(settings.superuser_addresses))
        self.desk = DeliveryDesk(self.stores.deliveries, channels.outboxes, clock)
        self._window_cache = make_window_cache(settings)
        self.window = make_window(
            settings, self.stores.database, self._window_cache, self.stores.closed_facts
        )
        self._extractive = ExtractiveAnswerer(embedder=self.models.embedder, wording=self.wording)
        self.catalogue = CatalogueFile(folder / "products.csv")
        self._faq = FaqFile(_with_default(folder / "faq.yaml", HOUSE_FOLDER / "rules" / "default_faq.yaml"))
        self.drafts = Drafts()
        self.whys = WhyRecords(self.stores.accounts)
        self._lines = GroupLines(settings.group.lines, clock, self.whys)
        self._switch = GroupSwitch(self.stores.group_switches)
        self._pace = Pace()
        self.renewing = make_renewing(self.stores, self.models, self._pace, self.metrics)
        self.leaving = Leaving(
            parking=self.stores.parking,
            window=self.window,
            lines=self._lines,
            keep=timedelta(days=settings.memory.keep_after_leaving_days),
            wording=self.wording,
            clock=clock,
        )
        self.union_lookup = UnionLookup(
            platforms=channels.union_ids, asks=self.stores.union_asks, directory=self.directory, clock=clock
        )
        assembly = Assembly(
            settings=settings,
            channels=channels,
            stores=self.stores,
            models=self.models,
            window=self.window,
            extractive=self._extractive,
            drafts=self.drafts,
            catalogue=self.catalogue,
            faq=self._faq,
            directory=self.directory,
            authority=self.authority,
            linking=Linking(self.stores.link_codes, keyed_hash, clock),
            phone_codes=self._phone_codes,
            leaving=self.leaving,
            union_lookup=self.union_lookup,
            personas=Personas(folder, HOUSE_FOLDER / "default_persona.md"),
            wording=self.wording,
            clock=clock,
            metrics=self.metrics,
            journal=self.journal,
            pace=self._pace,
            renewing=self.renewing,
            lines=self._lines,
            switch=self._switch,
            alerts=self._alerts,
        )
        self.status = StatusBoard(
            jobs=self.stores.jobs,
            metrics=self.metrics,
            clock=clock,
            parts=assembly.parts_in_use(),
            troubles=self._troubles,
        )
        self.explaining = assembly.explaining()
        self.assistant = assembly.assistant(
            status=self.status.report,
            was_unreached=self.desk.was_unreached,
            on_work=self._wake_worker,
            say_meanwhile=self.desk.say_meanwhile,
        )
        self.turnstile = Turnstile(
            self.stores.inbox,
            OrderWatch(self.whys.around(self.assistant, self.explaining.trace), self.metrics),
            self.desk,
            self._alerts,
            codes=self._phone_codes,
        )
        self.worker = Worker(
            jobs=self.stores.jobs,
            deliveries=self.stores.deliveries,
            ledger=self.stores.ledger,
            consolidation=assembly.consolidation(),
            turnstile=self.turnstile,
            pace=self._pace,
            metrics=self.metrics,
            alerts=self._alerts,
            clock=clock,
        )
        self.memory_desk = make_memory_desk(self.stores, self.window, self._lines, clock, self._wake_worker)
        self.watch = Watch(
            settings=settings,
            tallies=self.stores.tallies,
            models=self.models,
            renewing=self.renewing,
            metrics=self.metrics,
            journal=self.journal,
            ping_redis=self._window_cache.ping if self._window_cache is not None else None,
            clock=clock,
        )
        self._supervisor = Supervisor()
        self._warming: asyncio.Task[None] | None = None

    @property
    def wechat_replies(self) -> WeChatReplies:
        return self.stores.wechat_replies

    @property
    def ingest(self) -> Ingest:
        return Ingest(self.stores.passages, self.models.embedder, self.models.tokens)

    def prepare(self) -> None:
        """Migrate the database before anything is served, so that a refusal is said in words and stops
        the start. Raises ConfigurationError or StoreUnavailable."""
        self.stores.prepare()

    async def open(self) -> None:
        """Open the stores; nothing runs yet. Raises ConfigurationError or StoreUnavailable."""
        await asyncio.to_thread(self.stores.prepare)
        await self.stores.database.open()
        await self.stores.wechat_replies.open()
        await self._switch.load()
        if self._phone_codes is not None:
            await self._phone_codes.load()

    async def begin_work(self) -> None:
        """Take up what a stop or a crash left, and start the worker. After `open`, in the bot alone."""
        await self.desk.settle_after_crash()
        await self.stores.jobs.release_leases()
        if (code := await self.authority.issue_claim_code()) is not None:
            logger.info("首次启动：向机器人发送“/认领 {}”的人成为管理员，此码只显示这一次", code)
        self._supervisor.start("worker", self.worker.run)
        self._supervisor.start("vectors", self.renewing.run)
        self._supervisor.start("alerts", self._alerts.run)
        self._supervisor.start("loop lag", LoopLag(self.metrics).run)
        self._supervisor.start("unionids", self.union_lookup.run)
        self._supervisor.start("those who left", self.leaving.keep_sweeping)
        self._supervisor.start("old backups", self.stores.keep_pruning)
        if self._phone_codes is not None:
            self._supervisor.start("phone codes", self._phone_codes.keep_pruning)
        self._warming = asyncio.create_task(self._warm())
        await self.turnstile.resume_unfinished()

    def keep_running(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` beside the story until `close`, again whenever it ends or fails."""
        self._supervisor.start(name, work)

    async def close(self) -> None:
        """Finish what was accepted, then close the stores. Safe after a failed `open`."""
        # First the loops, or a sweep would start runs on closing stores.
        await self._supervisor.stop()
        await self.turnstile.drain()
        if self._warming is not None:
            self._warming.cancel()
        await self.models.close()
        if self._window_cache is not None:
            await self._window_cache.close()
        await self.stores.database.close()

    async def _warm(self) -> None:
        """Load now what the first question would else wait for."""
        await self.models.warm()
        self.renewing.wake()
        with contextlib.suppress(TransientError):
            await self._extractive.warm()
        spare_what_stays()

    def _wake_worker(self) -> None:
        self.worker.wake()

    async def _troubles(self) -> list[str]:
        readiness = await self.watch.readiness()
        troubles = [finding.detail for finding in readiness.findings.values() if finding.is_trouble]
        if self._faq.problem:
            troubles.append(f"FAQ 未更新：{self._faq.problem}")
        if self.catalogue.problem:
            troubles.append(f"商品目录：{self.catalogue.problem}")
        return troubles


def _with_default(path: Path, default: Path) -> Path:
    """The operator's own file, begun from the default where there is none."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(default, path)
    return path
