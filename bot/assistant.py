"""The story of one message: identify → filter → rules → recall → answer → remember.

Invariant: every message that comes in leaves as exactly one committed Delivery (silence is a delivery
without pages), and nothing decided here depends on which channel it came from.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from loguru import logger

from bot.answering.answerer import Answerer
from bot.answering.question import Question
from bot.commands import CommandContext, Commands
from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.message import Kind, Message, Reply
from bot.conversation.ports import Clock, Embedder, Vector
from bot.conversation.scope import Scope
from bot.conversation.turn import Turn
from bot.conversation.wording import Wording
from bot.decision import SILENCE, Decision
from bot.delivery import STALE_IN_GROUP
from bot.dressing import Dressing
from bot.first_contact import FirstContact
from bot.journal import Journal
from bot.knowledge.retrieval import Retrieval
from bot.memory.ports import PersonClearer, TurnWindow
from bot.memory.recall import Recall, RecalledFact
from bot.metrics import Metrics, StageTimes
from bot.ports import Delivery, DeliveryState, InboxStore, TurnLedger
from bot.quick_replies import QuickReplies, faq_hint
from bot.rules.faq import FaqHit
from identity.directory import Directory
from identity.model import Account

SPOKEN = (Kind.TEXT, Kind.VOICE, Kind.CLICK)
QUESTION_START = 24
"""Characters of a question kept with its delivery, so that a held answer can name it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the operator decides about answers."""

    keeps_memory: bool
    """MEMORY__CONSENT=on: turns are consolidated into long-term memory."""
    recall_k: int
    knowledge_k: int


class Assistant:
    """Answers one message at a time for each person."""

    def __init__(
        self,
        *,
        directory: Directory,
        first_contact: FirstContact,
        dressing: Dressing,
        quick_replies: QuickReplies,
        commands: Commands,
        recall: Recall,
        retrieval: Retrieval,
        embedder: Embedder | None,
        answerer: Answerer,
        persona: Callable[[], str],
        window: TurnWindow,
        facts: PersonClearer,
        inbox: InboxStore,
        ledger: TurnLedger,
        paginate: Callable[[str, str], tuple[str, ...]],
        on_work: Callable[[], None],
        wording: Wording,
        policy: Policy,
        clock: Clock,
        metrics: Metrics,
        journal: Journal,
    ) -> None:
        self._directory = directory
        self._first_contact = first_contact
        self._dressing = dressing
        self._quick_replies = quick_replies
        self._commands = commands
        self._recall = recall
        self._retrieval = retrieval
        self._embedder = embedder
        self._answerer = answerer
        self._persona = persona
        self._window = window
        self._facts = facts
        self._inbox = inbox
        self._ledger = ledger
        self._paginate = paginate
        self._on_work = on_work
        self._wording = wording
        self._policy = policy
        self._clock = clock
        self._metrics = metrics
        self._journal = journal

    async def answer(self, inbox_id: int, message: Message, *, is_resumed: bool) -> Delivery:
        """Decide, commit, and return what to deliver. Raises TransientError when a store is away."""
        times = StageTimes()
        account = await self._identify(message, times)
        scope = account.scope(message.conversation.place) if account else None
        decision = await self._decide(message, account, scope, is_resumed=is_resumed, times=times)
        with times.stage("commit"):
            text = await self._dressing.dress(message, account, decision.reply, is_resumed=is_resumed)
            delivery = await self._commit(inbox_id, message, scope, decision, text)
        self._journal.close(message, delivery.decided_by, times)
        return delivery

    async def apologise(self, inbox_id: int, message: Message) -> Delivery:
        """Close a message that failed MAX_TRIES times. Talk that wasn't for the bot gets no apology."""
        times = StageTimes()
        text = self._wording.say("apology") if message.is_addressed else ""
        reply = Reply(text=text, decided_by="apology")
        delivery = await self._close(inbox_id, message, None, Decision(reply=reply), reply.text)
        self._journal.close(message, delivery.decided_by, times)
        return delivery

    async def _identify(self, message: Message, times: StageTimes) -> Account | None:
        """None for people nobody can know again, and for talk that isn't meant for the bot."""
        if message.is_anonymous or not message.is_addressed:
            return None
        with times.stage("identify"):
            return await self._directory.identify(message.sender, message.unionid)

    async def _decide(
        self,
        message: Message,
        account: Account | None,
        scope: Scope | None,
        *,
        is_resumed: bool,
        times: StageTimes,
    ) -> Decision:
        age = self._clock.now() - message.sent_at
        is_late = is_resumed and message.conversation.is_group and age > STALE_IN_GROUP
        if not message.is_addressed or is_late:
            return Decision(reply=SILENCE)
        if message.kind not in SPOKEN or not message.text:
            return Decision(reply=await self._react(message, account, scope))
        recent = await self._window.recent(scope) if scope is not None else ()
        with times.stage("rules"):
            hit = await self._quick_replies.faq_hit(message, recent)
            decision = await self._by_rule(message, account, scope, recent, hit)
        return decision or await self._by_memory_and_knowledge(message, scope, recent, hit, times)

    async def _react(self, message: Message, account: Account | None, scope: Scope | None) -> Reply:
        """Answer what has no words: events, and things the bot can't read."""
        match message.kind:
            case Kind.FOLLOW:
                return self._first_contact.welcome(message)
            case Kind.UNFOLLOW:
                return SILENCE
            case Kind.REVOKE:
                if account is not None and scope is not None:
                    await self._facts.clear_person(account.person)
                    await self._window.drop(scope)
                return SILENCE
            case Kind.VOICE:
                return Reply(text=self._wording.say("voice_unheard"), decided_by="notice")
            case Kind.UNSUPPORTED:
                return Reply(text=self._wording.say("unsupported"), decided_by="notice")
            case Kind.TEXT | Kind.CLICK:
                return self._quick_replies.bare_mention(scope, is_group=message.conversation.is_group)

    async def _by_rule(
        self,
        message: Message,
        account: Account | None,
        scope: Scope | None,
        recent: tuple[Turn, ...],
        hit: FaqHit | None,
    ) -> Decision | None:
        answers = hit is not None and hit.verbatim
        trivial = await self._quick_replies.trivial(message, account, scope, recent, has_rule=answers)
        if trivial is not None:
            return trivial
        context = CommandContext(message=message, account=account, scope=scope)
        if (command := await self._commands.handle(context)) is not None:
            return Decision(
                reply=Reply(text=command.text, decided_by=command.decided_by), taken=command.taken
            )
        if hit is not None and hit.verbatim:
            return Decision(reply=Reply(text=hit.answer, decided_by="faq"), is_turn=True)
        return None

    async def _by_memory_and_knowledge(
        self,
        message: Message,
        scope: Scope | None,
        recent: tuple[Turn, ...],
        hit: FaqHit | None,
        times: StageTimes,
    ) -> Decision:
        with times.stage("embed"):
            query = await self._embed(message.text)
        with times.stage("recall"):
            facts = await self._recall_for(message, scope, query)
        with times.stage("retrieve"):
            passages = await self._retrieval.retrieve(message.text, self._policy.knowledge_k, query)
        question = Question(
            text=message.text,
            quoted=message.quoted,
            persona=self._persona(),
            short_term=recent,
            facts=facts,
            passages=(*faq_hint(hit, recent), *passages),
            at=message.sent_at,
            is_group=message.conversation.is_group,
            query_vector=query,
        )
        with times.stage("answer"):
            answer = await self._answerer.answer(question)
        return Decision(reply=Reply(text=answer.text, decided_by=answer.decided_by), is_turn=True)

    async def _recall_for(
        self, message: Message, scope: Scope | None, query: Vector | None
    ) -> tuple[RecalledFact, ...]:
        if scope is None:
            return ()
        with self._metrics.memory_recall_seconds.time():
            recalled = await self._recall.recall(scope, message.text, self._policy.recall_k, query)
        if recalled.degraded:
            self._metrics.degraded_recalls.inc()
        return recalled.facts

    async def _embed(self, text: str) -> Vector | None:
        """One query vector serves memory and knowledge. None: keywords serve."""
        if self._embedder is None:
            return None
        try:
            return await self._embedder.embed_query(text)
        except EmbedderUnavailable as error:
            logger.warning("no query vector: {}", error)
            return None

    async def _commit(
        self, inbox_id: int, message: Message, scope: Scope | None, decision: Decision, text: str
    ) -> Delivery:
        if scope is None or not decision.is_turn:
            return await self._close(inbox_id, message, scope, decision, text)
        delivery = self._delivery(inbox_id, message, scope, decision.reply, text)
        turn = await self._ledger.commit_turn(
            inbox_id, scope, message, decision.reply, delivery, consolidate=self._policy.keeps_memory
        )
        if turn is None:
            # Cleared while it was being answered: question and answer may hold what was just forgotten.
            gone = Reply(text=self._wording.say("cleared_meanwhile"), decided_by="notice")
            return await self._close(
                inbox_id, replace(message, text=""), scope, Decision(reply=gone), gone.text
            )
        await self._window.append(scope, turn)
        self._on_work()
        return delivery

    async def _close(
        self, inbox_id: int, message: Message, scope: Scope | None, decision: Decision, text: str
    ) -> Delivery:
        delivery = self._delivery(inbox_id, message, scope, decision.reply, text)
        await self._inbox.close(
            inbox_id, account=scope.account if scope else None, delivery=delivery, taken=decision.taken
        )
        if decision.reply.decided_by == "command":
            # 「记住」 keeps at once and leaves the vector to the worker.
            self._on_work()
        return delivery

    def _delivery(
        self, inbox_id: int, message: Message, scope: Scope | None, reply: Reply, text: str
    ) -> Delivery:
        """The question stays only where its asker can come back for the pages, and have it forgotten."""
        pages = self._paginate(message.sender.channel, text) if text else ()
        return Delivery(
            inbox_id=inbox_id,
            pages=pages,
            next_page=0,
            state=DeliveryState.HELD if pages else DeliveryState.SENT,
            decided_by=reply.decided_by,
            question=message.text[:QUESTION_START] if pages and scope is not None else "",
            at=self._clock.now(),
        )
