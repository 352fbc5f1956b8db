"""The story of one message: identify → filter → rules → recall → answer → remember.

Invariant: every message that comes in leaves as exactly one committed Delivery (silence is a delivery
without pages), and nothing decided here depends on which channel it came from.
"""

from collections.abc import Callable
from dataclasses import replace

from bot.answering.answerer import Answerer
from bot.answering.drafts import Draft, Drafts
from bot.answering.question import Pictures, Question
from bot.checking import CheckingLine
from bot.closing import Closing
from bot.commands import CommandContext, Commands
from bot.conversation.message import Kind, Message, Reply
from bot.conversation.ports import Clock, Embedder
from bot.conversation.scope import Scope
from bot.conversation.wording import Wording
from bot.decision import SILENCE, Decision
from bot.delivery import STALE_IN_GROUP
from bot.dressing import Dressing
from bot.groups.group_chats import GroupChats, Heard
from bot.groups.speaking import Hearing
from bot.journal import Journal
from bot.knowledge.retrieval import Retrieval
from bot.leaving import Leaving
from bot.memory.ports import TurnWindow
from bot.memory.query import Queries
from bot.memory.summary import RecentTalk
from bot.metrics import StageTimes
from bot.noting import note_question, note_times
from bot.pacing import Pace, Place
from bot.pointing import Pointed, Pointing
from bot.ports import Delivery
from bot.quick_replies import QuickReplies, faq_hint
from bot.reactions import Reactions
from bot.recollection import Recollection
from bot.rules.faq import FaqHit
from identity.directory import Directory
from identity.model import Account

SPOKEN = (Kind.TEXT, Kind.VOICE, Kind.CLICK)


class Assistant:
    """Answers one message at a time for each person."""

    def __init__(
        self,
        *,
        directory: Directory,
        groups: GroupChats,
        reactions: Reactions,
        leaving: Leaving,
        wonder: Callable[[Account], None],
        dressing: Dressing,
        quick_replies: QuickReplies,
        commands: Commands,
        pointing: Pointing,
        checking: CheckingLine,
        recollection: Recollection,
        retrieval: Retrieval,
        knowledge_k: int,
        embedder: Embedder | None,
        answerer: Answerer,
        persona: Callable[[str], str],
        pictures: Pictures | None,
        drafts: Drafts,
        may_show_drafts: Callable[[Message], bool],
        window: TurnWindow,
        closing: Closing,
        wording: Wording,
        pace: Pace,
        clock: Clock,
        journal: Journal,
    ) -> None:
        """`persona`: of an official account or bot, by its app_id. `pictures` None: no model looks at them.
        `wonder`: note that an account was here, whose unionid may be looked up."""
        self._directory = directory
        self._groups = groups
        self._reactions = reactions
        self._leaving = leaving
        self._wonder = wonder
        self._dressing = dressing
        self._quick_replies = quick_replies
        self._commands = commands
        self._pointing = pointing
        self._checking = checking
        self._recollection = recollection
        self._retrieval = retrieval
        self._knowledge_k = knowledge_k
        self._queries = Queries(embedder)
        self._answerer = answerer
        self._persona = persona
        self._pictures = pictures
        self._drafts = drafts
        self._may_show_drafts = may_show_drafts
        self._window = window
        self._closing = closing
        self._wording = wording
        self._pace = pace
        self._clock = clock
        self._journal = journal

    async def answer(
        self, inbox_id: int, message: Message, *, is_resumed: bool, waited_seconds: float = 0.0
    ) -> Delivery:
        """Decide, commit, and return what to deliver. `waited_seconds`: behind earlier messages of this person.

        Raises TransientError when a store is away.
        """
        times = StageTimes()
        async with self._pace.place() as place:
            try:
                delivery = await self._answer(
                    inbox_id, message, place, times, is_resumed=is_resumed, waited_seconds=waited_seconds
                )
            finally:
                self._drafts.end(message.sender.app_id, message.key)
        self._journal.close(message, delivery.decided_by, times)
        note_times(times)
        return delivery

    async def _answer(
        self,
        inbox_id: int,
        message: Message,
        place: Place,
        times: StageTimes,
        *,
        is_resumed: bool,
        waited_seconds: float,
    ) -> Delivery:
        heard = self._groups.hear(message, waited_seconds=waited_seconds)
        message = heard.message
        has_waited = waited_seconds > 0
        while True:
            account = await self._identify(heard, times)
            scope = account.scope(message.conversation.place) if account else None
            context = CommandContext(
                message=message, account=account, scope=scope, has_waited=has_waited, away=place.given_away
            )
            decision = await self._decide(heard, context, place, is_resumed=is_resumed, times=times)
            with times.stage("commit"):
                text = await self._dressing.dress(message, account, decision.reply, is_resumed=is_resumed)
                delivery = await self._closing.commit(inbox_id, message, scope, decision, text)
            if delivery is not None:
                if delivery.decided_by == decision.reply.decided_by:
                    self._groups.answered(heard, decision.reply)
                if account is not None:
                    self._wonder(account)
                return delivery
            # The page it was to hand over has just been shown, or the asker's accounts linked or parted: once
            # more, as who came a moment later.
            has_waited = True

    async def apologise(self, inbox_id: int, message: Message) -> Delivery:
        """Close a message that failed MAX_TRIES times. Talk that wasn't for the bot gets no apology."""
        times = StageTimes()
        text = self._wording.say("apology") if message.is_addressed else ""
        decision = Decision(reply=Reply(text=text, decided_by="apology"))
        delivery = await self._closing.close(inbox_id, message, None, decision, text)
        assert delivery is not None, "an apology hands over no page"
        self._journal.close(message, delivery.decided_by, times)
        return delivery

    async def _identify(self, heard: Heard, times: StageTimes) -> Account | None:
        """None for people nobody can know again, and for talk that isn't meant for the bot."""
        message = heard.message
        if message.is_anonymous or not message.is_addressed or heard.is_unasked:
            return None
        with times.stage("identify"):
            return await self._directory.identify(message.sender, message.unionid)

    async def _decide(
        self, heard: Heard, context: CommandContext, place: Place, *, is_resumed: bool, times: StageTimes
    ) -> Decision:
        message, scope = context.message, context.scope
        age = self._clock.now() - message.sent_at
        is_late = is_resumed and message.conversation.is_group and age > STALE_IN_GROUP
        if not message.is_addressed or is_late:
            return Decision(reply=SILENCE)
        if message.kind is Kind.IMAGE and (images := await self._see(message, place)):
            recent = await self._recent(scope)
            return await self._by_memory_and_knowledge(context, recent, None, place, times, images)
        if heard.is_unasked:
            return await self._unasked(heard, context, place, times)
        if message.kind not in SPOKEN or not message.text:
            return Decision(reply=await self._reactions.react(message, context.account, scope))
        recent = await self._recent(scope)
        with times.stage("rules"):
            hit = await self._quick_replies.faq_hit(message, recent.turns)
            decision = await self._by_rule(context, recent, hit)
        return decision or await self._by_memory_and_knowledge(context, recent, hit, place, times)

    async def _unasked(
        self, heard: Heard, context: CommandContext, place: Place, times: StageTimes
    ) -> Decision:
        """To who didn't call. A keyword is answered by the operator's rule where there is one."""
        is_named = heard.hearing is Hearing.KEYWORD
        hit = await self._quick_replies.faq_hit(context.message, ()) if is_named else None
        if hit is not None and hit.verbatim:
            return Decision(reply=Reply(text=hit.answer, decided_by="faq"))
        return await self._by_memory_and_knowledge(context, RecentTalk(), hit, place, times)

    async def _by_rule(
        self, context: CommandContext, recent: RecentTalk, hit: FaqHit | None
    ) -> Decision | None:
        if (reply := await self._leaving.answer(context.message, context.account)) is not None:
            return Decision(reply=reply)
        answers = hit is not None and hit.verbatim
        message, account, scope = context.message, context.account, context.scope
        trivial = await self._quick_replies.trivial(message, account, scope, recent.turns, has_rule=answers)
        if trivial is not None:
            return trivial
        if (command := await self._commands.handle(context)) is not None:
            reply = Reply(text=command.text, decided_by=command.decided_by)
            return Decision(reply=reply, taken=command.taken, hides_question=command.hides_question)
        if hit is not None and hit.verbatim:
            return Decision(reply=Reply(text=hit.answer, decided_by="faq"), is_turn=True)
        return None

    async def _by_memory_and_knowledge(
        self,
        context: CommandContext,
        recent: RecentTalk,
        hit: FaqHit | None,
        place: Place,
        times: StageTimes,
        images: tuple[str, ...] = (),
    ) -> Decision:
        message = context.message
        with times.stage("point"):
            pointed = await self._pointing.read(message.text, message.sent_at, context.scope, recent.turns)
        async with self._checking.during(message, is_reproach=pointed.is_reproach):
            question = await self._question(context, recent, pointed, place, times)
            if (hints := faq_hint(hit, recent.turns)) or images:
                question = replace(question, passages=(*hints, *question.passages), images=images)
            await note_question(pointed, question, times)
            with times.stage("answer"):
                async with place.given_away():
                    answer = await self._answerer.answer(question, self._draft(message))
        return Decision(reply=Reply(text=answer.text, decided_by=answer.decided_by), is_turn=True)

    async def _question(
        self,
        context: CommandContext,
        recent: RecentTalk,
        pointed: Pointed,
        place: Place,
        times: StageTimes,
    ) -> Question:
        """The message with all that is found for it."""
        message, account, scope = context.message, context.account, context.scope
        app_id = message.sender.app_id
        with times.stage("embed"):
            async with place.given_away():
                query = await self._queries.of(pointed.query, pointed.talk)
        with times.stage("recall"):
            recollected = await self._recollection.recollect(message, account, scope, pointed, query)
        with times.stage("retrieve"):
            passages = await self._retrieval.retrieve(pointed.query, self._knowledge_k, query.vector, app_id)
        return Question(
            text=message.text,
            quoted=message.quoted,
            persona=self._persona(app_id),
            short_term=recent.fresh,
            summaries=recent.summaries,
            facts=recollected.own,
            passages=tuple(passages),
            at=message.sent_at,
            is_group=message.conversation.is_group,
            group_facts=recollected.group,
            group_lines=self._groups.recent(message),
            query_vector=query.vector,
            query=pointed.query,
            pointing=pointed.words,
            meant=pointed.meant,
            entities=pointed.entities,
            asked=pointed.asked,
            said=recollected.said,
        )

    async def _recent(self, scope: Scope | None) -> RecentTalk:
        return await self._window.recent(scope) if scope is not None else RecentTalk()

    async def _see(self, message: Message, place: Place) -> tuple[str, ...]:
        """The pictures of a message as a model takes them; () where nobody can look at them."""
        if self._pictures is None:
            return ()
        async with place.given_away():
            return await self._pictures(message)

    def _draft(self, message: Message) -> Draft | None:
        """Where the answer may have to be shown before it is done. Streaming costs more than it gives elsewhere."""
        is_shown = self._may_show_drafts(message)
        return self._drafts.begin(message.sender.app_id, message.key) if is_shown else None
