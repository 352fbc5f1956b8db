"""The house, put together from the settings.

Invariant: nothing here decides anything about a message.
"""

import asyncio
import contextlib
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

from loguru import logger

from bot.answering.answerer import Answerer, ModelAnswerer
from bot.answering.extractive import ExtractiveAnswerer
from bot.answering.prompt import load_template
from bot.assistant import Assistant, Policy
from bot.commands import Commands
from bot.container.channels import Channels, SystemClock
from bot.container.models import Models
from bot.container.stores import Stores, WeChatReplies
from bot.container.watching import Watch
from bot.conversation.errors import TransientError
from bot.conversation.ports import Clock
from bot.conversation.wording import Wording
from bot.delivery import DeliveryDesk
from bot.dressing import Dressing
from bot.first_contact import FirstContact
from bot.journal import Journal
from bot.knowledge.catalogue_file import CatalogueFile
from bot.knowledge.ingest import Ingest
from bot.knowledge.retrieval import Retrieval
from bot.loop_lag import LoopLag
from bot.memory.consolidation import Consolidation
from bot.memory.forget import Forget
from bot.memory.judge import ModelJudge, RuleJudge, load_judge_prompt
from bot.memory.recall import Recall
from bot.memory.short_term import ShortTermMemory
from bot.metering import MeteredJudge, OrderWatch
from bot.metrics import Metrics
from bot.persona import Persona
from bot.quick_replies import QuickReplies
from bot.rules.faq_file import FaqFile
from bot.secrets_file import read_pepper
from bot.settings import Settings
from bot.status import StatusBoard
from bot.storage.redis.connection import open_redis
from bot.storage.redis.turn_window import RedisTurnWindow
from bot.storage.sql.database import Database
from bot.storage.sql.turn_window import SqlTurnWindow
from bot.storage.vectors.flat import FaissFlat
from bot.storage.vectors.person_index import PersonIndex
from bot.supervisor import Supervisor
from bot.turnstile import Turnstile
from bot.worker import Worker
from identity.authority import Authority
from identity.directory import Directory
from identity.phone import PhoneHasher

HOUSE_FOLDER = Path(__file__).parents[1]


class House:
    """Everything, put together. `open` before the first message, `close` after the last."""

    def __init__(
        self, settings: Settings, channels: Channels | None = None, clock: Clock | None = None
    ) -> None:
        """Reads the persona and the wording, makes the data folder's secrets; opens nothing yet.

        Raises ConfigurationError.
        """
        channels, clock = channels or Channels(), clock or SystemClock()
        folder = settings.data_folder
        self.settings = settings
        self.wording = Wording.load(settings.language, folder / "wording.toml")
        self.metrics = Metrics()
        pepper = read_pepper(folder)
        self.stores = Stores(Database(folder / "jide.db"), clock, self.metrics, pepper)
        self.models = Models(settings, self.metrics)
        self.journal = Journal(self.metrics, pepper)
        self.directory = Directory(self.stores.accounts, PhoneHasher(pepper))
        self.authority = Authority(self.stores.accounts, sorted(settings.superuser_addresses))
        self.desk = DeliveryDesk(self.stores.deliveries, channels.outboxes, clock)
        self._persona = Persona(folder / "persona.md", HOUSE_FOLDER / "default_persona.md")
        self._window_cache = self._make_window_cache()
        self.window = self._make_window()
        self._extractive = ExtractiveAnswerer(embedder=self.models.embedder, wording=self.wording)
        self.catalogue = CatalogueFile(folder / "products.csv")
        self._faq = FaqFile(_with_default(folder / "faq.yaml", HOUSE_FOLDER / "rules" / "default_faq.yaml"))
        self.status = StatusBoard(
            jobs=self.stores.jobs,
            metrics=self.metrics,
            clock=clock,
            parts=self._parts_in_use(),
            troubles=self._troubles,
        )
        self.assistant = self._make_assistant(channels, clock)
        self.turnstile = Turnstile(self.stores.inbox, OrderWatch(self.assistant, self.metrics), self.desk)
        self.worker = Worker(
            jobs=self.stores.jobs,
            deliveries=self.stores.deliveries,
            consolidation=self._make_consolidation(),
            turnstile=self.turnstile,
            metrics=self.metrics,
            clock=clock,
        )
        self.watch = Watch(
            settings=settings,
            tallies=self.stores.tallies,
            models=self.models,
            metrics=self.metrics,
            journal=self.journal,
            ping_redis=self._window_cache.ping if self._window_cache is not None else None,
            clock=clock,
        )
        self._supervisor = Supervisor()
        self._warming: asyncio.Task[None] | None = None

    @property
    def wechat_replies(self) -> WeChatReplies:
        return WeChatReplies(self.stores.deliveries)

    @property
    def ingest(self) -> Ingest:
        return Ingest(self.stores.passages, self.models.embedder)

    def prepare(self) -> None:
        """Migrate the database before anything is served, so that a refusal is said in words and stops
        the start. Raises ConfigurationError or StoreUnavailable."""
        self.stores.prepare()

    async def open(self) -> None:
        """Open the stores; nothing runs yet. Raises ConfigurationError or StoreUnavailable."""
        await asyncio.to_thread(self.stores.prepare)
        await self.stores.database.open()

    async def begin_work(self) -> None:
        """Take up what a stop or a crash left, and start the worker. After `open`, in the bot alone."""
        await self.desk.settle_after_crash()
        await self.stores.jobs.release_leases()
        if (code := await self.authority.issue_claim_code()) is not None:
            logger.info("首次启动：向机器人发送“/认领 {}”的人成为管理员，此码只显示这一次", code)
        self._supervisor.start("worker", self.worker.run)
        self._supervisor.start("loop lag", LoopLag(self.metrics).run)
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
        with contextlib.suppress(TransientError):
            await self._extractive.warm()

    def _make_window_cache(self) -> RedisTurnWindow | None:
        url = self.settings.redis.url
        if not url:
            return None
        return RedisTurnWindow(open_redis(url), limit=self.settings.memory.short_term_turns)

    def _make_window(self) -> ShortTermMemory:
        memory = self.settings.memory
        turns = SqlTurnWindow(self.stores.database, limit=memory.short_term_turns)
        return ShortTermMemory(turns, self._window_cache, budget_tokens=memory.short_term_budget_tokens)

    def _make_commands(self, clock: Clock) -> Commands:
        stores = self.stores
        return Commands(
            facts=stores.facts,
            window=self.window,
            forget=Forget(stores.facts),
            deliveries=stores.deliveries,
            confirmations=stores.confirmations,
            audit=stores.audit,
            accounts=stores.accounts,
            directory=self.directory,
            authority=self.authority,
            status=self.status.report,
            wording=self.wording,
            clock=clock,
        )

    def _make_assistant(self, channels: Channels, clock: Clock) -> Assistant:
        stores, settings = self.stores, self.settings
        commands = self._make_commands(clock)
        first_contact = FirstContact(stores.accounts, self.wording, self._persona.name())
        return Assistant(
            directory=self.directory,
            first_contact=first_contact,
            dressing=Dressing(
                first_contact=first_contact, wording=self.wording, clock=clock, labels_ai=settings.ai_label
            ),
            quick_replies=QuickReplies(
                faq=self._faq,
                commands=commands,
                deliveries=stores.deliveries,
                confirmations=stores.confirmations,
                wording=self.wording,
                clock=clock,
            ),
            commands=commands,
            recall=Recall(facts=stores.facts, index=self._make_index(clock), clock=clock),
            retrieval=Retrieval(stores.passages, FaissFlat, self.models.embedder, self.catalogue),
            embedder=self.models.embedder,
            answerer=self._make_answerer(),
            persona=self._persona.text,
            window=self.window,
            facts=stores.facts,
            inbox=stores.inbox,
            ledger=stores.ledger,
            paginate=channels.pages,
            on_work=self._wake_worker,
            wording=self.wording,
            policy=Policy(
                keeps_memory=settings.memory.consent == "on",
                recall_k=settings.memory.recall_k,
                knowledge_k=settings.knowledge.k,
            ),
            clock=clock,
            metrics=self.metrics,
            journal=self.journal,
        )

    def _make_index(self, clock: Clock) -> PersonIndex:
        embedder = self.models.embedder
        return PersonIndex(
            self.stores.facts, clock, model_id=lambda: embedder.model_id if embedder is not None else ""
        )

    def _make_answerer(self) -> Answerer:
        if self.models.chat is None:
            return self._extractive
        return ModelAnswerer(
            model=self.models.chat,
            fallback=self._extractive,
            wording=self.wording,
            template=load_template(self.settings.data_folder / "prompts"),
        )

    def _make_consolidation(self) -> Consolidation:
        chat, prompts = self.models.chat, self.settings.data_folder / "prompts"
        judge = RuleJudge() if chat is None else ModelJudge(chat, load_judge_prompt(prompts))
        judge = MeteredJudge(judge, self.metrics)
        return Consolidation(judge=judge, facts=self.stores.facts, embedder=self.models.embedder)

    def _wake_worker(self) -> None:
        self.worker.wake()

    def _parts_in_use(self) -> dict[str, str]:
        settings = self.settings
        return {
            "对话模型": settings.llm.model or "未接入，只摘录",
            "向量模型": settings.embedding.model or ("自带" if self.models.embedder else "无，只用关键词"),
            "短期记忆": "Redis" if settings.redis.url else "数据库",
            "长期记忆": "开" if settings.memory.consent == "on" else "关，只记明说的“记住”",
        }

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
