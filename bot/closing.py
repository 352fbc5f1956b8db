"""The end of a message: what is said becomes a Delivery, committed with all that follows from it.

Invariant: one transaction for turn, delivery, job and closed inbox entry; what a person was already shown of an
answer is in none of the pages that wait for them; memory keeps words, not marks.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from bot.answering.drafts import Drafts, rest_of
from bot.conversation.errors import ViewChanged
from bot.conversation.markdown import flatten
from bot.conversation.message import Kind, Message, Reply
from bot.conversation.ports import Clock
from bot.conversation.scope import Scope
from bot.conversation.taps import without_taps
from bot.conversation.wording import Wording
from bot.decision import Decision
from bot.memory.ports import TurnWindow
from bot.ports import Delivery, DeliveryState, InboxStore, TurnLedger

QUESTION_START = 24
"""Characters of a question kept with its delivery, so that a held answer can name it."""
_BEFORE = timedelta(milliseconds=1)
"""The store's smallest step of time."""
_ASKING = (Kind.TEXT, Kind.VOICE)
"""A scene or a menu's key is nothing its reader would know again."""


class Closing:
    def __init__(
        self,
        *,
        inbox: InboxStore,
        ledger: TurnLedger,
        window: TurnWindow,
        drafts: Drafts,
        paginate: Callable[[str, str], tuple[str, ...]],
        on_work: Callable[[], None],
        wording: Wording,
        clock: Clock,
        keeps_memory: bool,
    ) -> None:
        """`keeps_memory`: turns are consolidated into long-term memory."""
        self._inbox = inbox
        self._ledger = ledger
        self._window = window
        self._drafts = drafts
        self._paginate = paginate
        self._on_work = on_work
        self._wording = wording
        self._clock = clock
        self._keeps_memory = keeps_memory

    async def commit(
        self, inbox_id: int, message: Message, scope: Scope | None, decision: Decision, text: str
    ) -> Delivery | None:
        """`text`: the whole of what is said, dressed. None, and nothing is stored, when it was to hand over a
        page that went another way meanwhile, or was made while its asker's person was other accounts. Raises
        TransientError when a store is away."""
        if scope is None or not decision.is_turn:
            return await self.close(inbox_id, message, scope, decision, text)
        delivery = self._delivery(inbox_id, message, scope, decision, text)
        reply = replace(decision.reply, text=flatten(without_taps(decision.reply.text)))
        said = message if message.text else replace(message, text=self._wording.say("picture_sent"))
        try:
            turn = await self._ledger.commit_turn(
                inbox_id, scope, said, reply, delivery, consolidate=self._keeps_memory
            )
        except ViewChanged:
            return None
        if turn is None:
            # Cleared while it was being answered: question and answer may hold what was just forgotten.
            gone = Reply(text=self._wording.say("cleared_meanwhile"), decided_by="notice")
            cleared = replace(message, text="", quoted="")
            return await self.close(
                inbox_id, cleared, scope, Decision(reply=gone), gone.text, payload=cleared
            )
        await self._window.append(scope, turn)
        self._on_work()
        return delivery

    async def close(
        self,
        inbox_id: int,
        message: Message,
        scope: Scope | None,
        decision: Decision,
        text: str,
        *,
        payload: Message | None = None,
    ) -> Delivery | None:
        """For what is no turn. See `commit` and `InboxStore.close`."""
        delivery = self._delivery(inbox_id, message, scope, decision, text)
        is_closed = await self._inbox.close(
            inbox_id,
            account=scope.account if scope else None,
            delivery=delivery,
            taken=decision.taken,
            payload=payload,
        )
        if not is_closed:
            return None
        if decision.reply.decided_by == "command":
            # 「记住」 keeps at once and leaves the vector to the worker.
            self._on_work()
        return delivery

    def _delivery(
        self, inbox_id: int, message: Message, scope: Scope | None, decision: Decision, text: str
    ) -> Delivery:
        """The question stays only where its asker can come back for the pages, and have it forgotten.

        A page that was taken from a held answer stands right before what is left of it among the held ones: if
        nobody can hand it over now, it comes before the pages that follow it.
        """
        text = rest_of(text, self._drafts.shown(message.sender.app_id, message.key))
        pages = self._paginate(message.sender.channel, text) if text else ()
        is_named = decision.taken is None and not decision.hides_question
        names_question = pages and scope is not None and is_named and message.kind in _ASKING
        return Delivery(
            inbox_id=inbox_id,
            pages=pages,
            next_page=0,
            state=DeliveryState.HELD if pages else DeliveryState.SENT,
            decided_by=decision.reply.decided_by,
            question=message.text[:QUESTION_START] if names_question else "",
            at=decision.taken.at - _BEFORE if decision.taken and decision.taken.at else self._clock.now(),
        )
