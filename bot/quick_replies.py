"""What is answered without a model: trifles, greetings, fixed questions.

Invariant: nothing here costs a model call, and a trifle never enters memory.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.commands import CommandContext, Commands
from bot.conversation.message import Message, Reply
from bot.conversation.ports import Clock
from bot.conversation.scope import AccountId, Scope
from bot.conversation.turn import Turn
from bot.conversation.wording import Wording
from bot.decision import SILENCE, Decision
from bot.knowledge.passage import Passage
from bot.knowledge.retrieval import RetrievedPassage
from bot.ports import ConfirmationStore, DeliveryStore
from bot.rules.faq import FaqHit
from bot.rules.faq_file import FaqFile
from bot.rules.open_questions import asks
from bot.rules.trivial import Trivial, classify, line_for
from identity.model import Account

REMEMBERED_LINES = 10_000
"""People whose last short line is remembered; who drops out may get one more line."""
CONTINUE = "继续"


class QuickReplies:
    """The rules of the house, in the order of the story: trifles first, then the FAQ."""

    def __init__(
        self,
        *,
        faq: FaqFile,
        commands: Commands,
        deliveries: DeliveryStore,
        confirmations: ConfirmationStore,
        wording: Wording,
        clock: Clock,
    ) -> None:
        self._faq = faq
        self._commands = commands
        self._deliveries = deliveries
        self._confirmations = confirmations
        self._wording = wording
        self._clock = clock
        self._last_lines: OrderedDict[tuple[AccountId, str], datetime] = OrderedDict()

    async def faq_hit(self, message: Message, recent: Sequence[Turn]) -> FaqHit | None:
        """The rule that touches this message; `verbatim` where it answers it."""
        last_answer = recent[-1].answer if recent else ""
        return await self._faq.match(message.text, message.sender.channel, last_answer)

    async def trivial(
        self,
        message: Message,
        account: Account | None,
        scope: Scope | None,
        recent: Sequence[Turn],
        *,
        has_rule: bool,
    ) -> Decision | None:
        """The answer to a trifle (it may be silence), or None: this deserves more.

        For a stranger, who has no account, nothing can be open.
        """
        is_group = message.conversation.is_group
        if classify(message.text, is_open=False, is_group=is_group, has_rule=has_rule) is None:
            return None
        held = None if is_group or account is None else await self._deliveries.oldest_held(account.id)
        pending = None if account is None else await self._confirmations.pending(account.id)
        is_open = held is not None or pending is not None or (bool(recent) and asks(recent[-1].answer))
        trivial = classify(
            message.text, is_open=is_open, is_group=is_group, has_held=held is not None, has_rule=has_rule
        )
        if trivial is None:
            return None
        if pending is not None and account is not None:
            # Anything but 「确认」 leaves the memory, also a 「谢谢」.
            await self._confirmations.take(account.id)
        if trivial is Trivial.PING and held is not None:
            return await self._hand_over_held(message, account, scope)
        return Decision(reply=self._line(trivial, scope, is_group=is_group))

    def bare_mention(self, scope: Scope | None, *, is_group: bool) -> Reply:
        """Called without a word."""
        return self._line(Trivial.BARE_MENTION if is_group else Trivial.PING, scope, is_group=is_group)

    async def _hand_over_held(
        self, message: Message, account: Account | None, scope: Scope | None
    ) -> Decision | None:
        asked = replace(message, text=CONTINUE)
        page = await self._commands.handle(CommandContext(message=asked, account=account, scope=scope))
        if page is None:
            return None
        return Decision(reply=Reply(text=page.text, decided_by=page.decided_by), taken=page.taken)

    def _line(self, trivial: Trivial, scope: Scope | None, *, is_group: bool) -> Reply:
        """The short line for a trifle, at most one in ten minutes for each person and place."""
        key = line_for(trivial, is_group=is_group, since_last=self._since_last(scope))
        if key is None:
            return SILENCE
        if scope is not None:
            self._last_lines[scope.account, scope.place] = self._clock.now()
            self._last_lines.move_to_end((scope.account, scope.place))
            if len(self._last_lines) > REMEMBERED_LINES:
                self._last_lines.popitem(last=False)
        return Reply(text=self._wording.say(key), decided_by="trivial")

    def _since_last(self, scope: Scope | None) -> timedelta | None:
        at = self._last_lines.get((scope.account, scope.place)) if scope is not None else None
        return None if at is None else self._clock.now() - at


def faq_hint(hit: FaqHit | None, recent: Sequence[Turn]) -> tuple[RetrievedPassage, ...]:
    """An FAQ rule that touches the message without answering it is context for the answer.

    Not where its text was the answer just before: the same FAQ text is never sent twice running.
    """
    if hit is None or (recent and recent[-1].answer == hit.answer):
        return ()
    passage = Passage(id=0, document="常见问题", heading=hit.rule.patterns[0], text=hit.answer)
    return (RetrievedPassage(passage=passage, score=hit.score, dense=None, lexical=hit.score, is_given=True),)
