"""The story put together: the Assistant with all it asks, and what consolidates afterwards.

Invariant: nothing is opened or started here.
"""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot.alerts import Alerts
from bot.answering.answerer import Answerer, ModelAnswerer
from bot.answering.drafts import Drafts
from bot.answering.extractive import ExtractiveAnswerer
from bot.answering.prompt import load_template
from bot.assistant import Assistant
from bot.checking import CheckingLine, SayMeanwhile
from bot.closing import Closing
from bot.commands import Commands
from bot.commands.context import StatusReport
from bot.commands.parsing import is_slash_command, is_switching_on
from bot.container.channels import Channels
from bot.container.consolidating import make_consolidation
from bot.container.models import Models
from bot.container.recalling import Recalling
from bot.container.stores import Stores
from bot.conversation.message import AccountKey
from bot.conversation.ports import ChatModel, Clock
from bot.conversation.wording import Wording
from bot.dressing import Dressing
from bot.erasing import Erasing
from bot.explaining import Explaining
from bot.first_contact import FirstContact
from bot.groups.group_chats import GroupChats
from bot.groups.lines import GroupLines
from bot.groups.loops import LoopGuard
from bot.groups.quiet import read_hours
from bot.groups.speaking import Manners, WhenToSpeak
from bot.groups.switch import GroupSwitch
from bot.journal import Journal
from bot.knowledge.catalogue_file import CatalogueFile
from bot.knowledge.retrieval import Retrieval
from bot.leaving import Leaving
from bot.memory.consolidation import Consolidation
from bot.memory.forget import Forget
from bot.memory.ports import TurnWindow
from bot.metrics import Metrics
from bot.pacing import Pace
from bot.persona import Personas
from bot.playground.answering import PlayedAnswerer
from bot.playground.stub_model import StubModel
from bot.quick_replies import QuickReplies
from bot.reactions import Reactions
from bot.recollection import Recollection
from bot.renewing import Renewing
from bot.rules.faq_file import FaqFile
from bot.settings import Settings
from bot.storage.vectors.flat import FaissFlat
from bot.union_lookup import UnionLookup
from identity.authority import Authority
from identity.directory import Directory
from identity.linking import Linking
from identity.phone_codes import PhoneCodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """What the parts of the story have in common."""

    settings: Settings
    channels: Channels
    stores: Stores
    models: Models
    window: TurnWindow
    extractive: ExtractiveAnswerer
    drafts: Drafts
    catalogue: CatalogueFile
    faq: FaqFile
    directory: Directory
    authority: Authority
    linking: Linking
    phone_codes: PhoneCodes | None
    leaving: Leaving
    union_lookup: UnionLookup
    personas: Personas
    wording: Wording
    clock: Clock
    metrics: Metrics
    journal: Journal
    pace: Pace
    renewing: Renewing
    lines: GroupLines
    switch: GroupSwitch
    alerts: Alerts

    def assistant(
        self,
        *,
        status: StatusReport,
        was_unreached: Callable[[AccountKey], bool],
        on_work: Callable[[], None],
        say_meanwhile: SayMeanwhile,
    ) -> Assistant:
        stores, settings, wording, clock = self.stores, self.settings, self.wording, self.clock
        erasing = Erasing(
            facts=stores.facts,
            departures=stores.departing,
            window=self.window,
            lines=self.lines,
            accounts=stores.accounts,
        )
        commands = self._commands(status, erasing)
        first_contact = FirstContact(stores.accounts, wording, lambda app_id: self.personas.of(app_id).name())
        quick_replies = QuickReplies(
            faq=self.faq,
            commands=commands,
            deliveries=stores.deliveries,
            confirmations=stores.confirmations,
            wording=wording,
            clock=clock,
        )
        return Assistant(
            directory=self.directory,
            groups=self._groups(),
            reactions=Reactions(
                first_contact=first_contact,
                quick_replies=quick_replies,
                erasing=erasing,
                leaving=self.leaving,
                wording=wording,
            ),
            leaving=self.leaving,
            wonder=self.union_lookup.wonder,
            dressing=Dressing(
                first_contact=first_contact,
                was_unreached=was_unreached,
                wording=wording,
                clock=clock,
                labels_ai=settings.ai_label,
            ),
            quick_replies=quick_replies,
            commands=commands,
            pointing=self._recalling.pointing(),
            checking=CheckingLine(say_meanwhile, wording, is_on=settings.memory.checking_line),
            recollection=Recollection(
                recall=self._recalling.recall(),
                directory=self.directory,
                metrics=self.metrics,
                log=stores.turn_log,
                budget_tokens=settings.memory.recall_budget_tokens,
            ),
            retrieval=Retrieval(
                stores.passages, FaissFlat, self.models.embedder, self.catalogue, self.models.tokens
            ),
            knowledge_k=settings.knowledge.k,
            embedder=self.models.embedder,
            answerer=self._answerer(),
            persona=lambda app_id: self.personas.of(app_id).text(),
            pictures=self.channels.pictures if self.models.vision is not None else None,
            drafts=self.drafts,
            may_show_drafts=self.channels.may_show_drafts,
            window=self.window,
            closing=self._closing(on_work),
            wording=wording,
            pace=self.pace,
            clock=clock,
            journal=self.journal,
        )

    def explaining(self) -> Explaining:
        return self._recalling.explaining(self.window)

    def _groups(self) -> GroupChats:
        group = self.settings.group
        manners = Manners(
            keywords=group.keywords,
            random_rate=group.random_rate,
            quiet=read_hours(group.quiet_hours),
            cooldown=timedelta(seconds=group.cooldown_seconds),
            commands_need_call=group.commands_need_call,
        )
        loops = LoopGuard(longest=group.loop_replies, other_bots=group.other_bots, monotonic=time.monotonic)
        speaking = WhenToSpeak(
            switch=self.switch,
            loops=loops,
            manners=manners,
            is_switching_on=is_switching_on,
            is_command=is_slash_command,
            clock=self.clock,
            random=random.random,
        )
        return GroupChats(lines=self.lines, speaking=speaking)

    def consolidation(self) -> Consolidation:
        return make_consolidation(
            self.settings,
            self.stores,
            self.models,
            self.metrics,
            window=self.window,
            products=self._product_names,
        )

    async def _product_names(self) -> Sequence[str]:
        return (await self.catalogue.catalogue()).product_names()

    def parts_in_use(self) -> Mapping[str, str]:
        """For the operator: what answers, embeds and remembers."""
        settings = self.settings
        return {
            "对话模型": settings.llm.model or "未接入，只摘录",
            "向量模型": settings.embedding.model or ("自带" if self.models.embedder else "无，只用关键词"),
            "短期记忆": "Redis" if settings.redis.url else "数据库",
            "长期记忆": "开" if settings.memory.consent == "on" else "关，只记明说的“记住”",
        }

    def _closing(self, on_work: Callable[[], None]) -> Closing:
        return Closing(
            inbox=self.stores.inbox,
            ledger=self.stores.ledger,
            window=self.window,
            drafts=self.drafts,
            paginate=self.channels.pages,
            on_work=on_work,
            wording=self.wording,
            clock=self.clock,
            keeps_memory=self.settings.memory.consent == "on",
        )

    def _commands(self, status: StatusReport, erasing: Erasing) -> Commands:
        stores = self.stores
        return Commands(
            facts=stores.facts,
            window=self.window,
            forget=Forget(stores.facts, stores.turn_log),
            erasing=erasing,
            lines=self.lines,
            switch=self.switch,
            deliveries=stores.deliveries,
            confirmations=stores.confirmations,
            audit=stores.audit,
            accounts=stores.accounts,
            directory=self.directory,
            authority=self.authority,
            linking=self.linking,
            phone_codes=self.phone_codes,
            status=status,
            alerts=self.alerts,
            pauses=stores.pauses,
            export=stores.export,
            wording=self.wording,
            clock=self.clock,
        )

    @property
    def _recalling(self) -> Recalling:
        return Recalling(
            settings=self.settings,
            stores=self.stores,
            models=self.models,
            products=self._product_names,
            renewing=self.renewing,
            clock=self.clock,
        )

    def _answerer(self) -> Answerer:
        chat = self.models.chat
        ordinary = (
            self.extractive if chat is None else self._model_answerer(chat, self.models.vision, self.alerts)
        )
        if not self.settings.has_playground:
            return ordinary
        stub = self._model_answerer(StubModel(self.wording))
        return PlayedAnswerer(ordinary=ordinary, stub=stub)

    def _model_answerer(
        self, model: ChatModel, vision: ChatModel | None = None, alerts: Alerts | None = None
    ) -> Answerer:
        return ModelAnswerer(
            model=model,
            vision=vision,
            fallback=self.extractive,
            alerts=alerts,
            wording=self.wording,
            template=load_template(self.settings.data_folder / "prompts"),
        )
