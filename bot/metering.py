"""Around the ports: what each call came to is counted, and passed on unchanged.

Invariant: nothing here changes what a caller gets, waits for or is raised.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from bot.conversation.errors import EmbedderUnavailable, ModelRefused, ModelUnavailable
from bot.conversation.message import AccountKey, Message
from bot.conversation.ports import ChatLine, ChatModel, Embedder, Matrix, Vector
from bot.memory.judge import Judge, Judgement
from bot.memory.summary import DueSummary
from bot.metrics import Metrics
from bot.ports import Delivery
from bot.turnstile import Story

PEOPLE_WATCHED = 20_000
"""About 5 MB. Who drops out and writes again begins a new order."""


class MeteredChat:
    """A `ChatModel`. No answer is an error; an answer that was declined is none."""

    def __init__(self, inner: ChatModel, metrics: Metrics) -> None:
        self._inner = inner
        self._errors = metrics.llm_errors

    async def complete(
        self,
        lines: Sequence[ChatLine],
        on_text: Callable[[str], None] | None = None,
        schema: Mapping[str, object] | None = None,
    ) -> str:
        try:
            answer = await self._inner.complete(lines, on_text, schema)
        except ModelUnavailable:
            self._errors.note(True)
            raise
        except ModelRefused:
            self._errors.note(False)
            raise
        self._errors.note(False)
        return answer


class MeteredJudge:
    """A `Judge`. Small talk, which it drops unread, is not counted."""

    def __init__(self, inner: Judge, metrics: Metrics) -> None:
        self._inner = inner
        self._understood = metrics.understood

    async def judge(
        self,
        text: str,
        said_at: datetime,
        *,
        is_group: bool,
        due: DueSummary | None = None,
        known: Sequence[str] = (),
    ) -> Judgement:
        judgement = await self._inner.judge(text, said_at, is_group=is_group, due=due, known=known)
        if judgement.was_read:
            self._understood.note(judgement.understood)
        return judgement


class WatchedEmbedder:
    """An `Embedder` that remembers whether it answered last."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.is_away = False

    @property
    def model_id(self) -> str:
        return self._inner.model_id

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    async def embed_query(self, text: str) -> Vector:
        try:
            vector = await self._inner.embed_query(text)
        except EmbedderUnavailable:
            self.is_away = True
            raise
        self.is_away = False
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        try:
            matrix = await self._inner.embed_passages(texts)
        except EmbedderUnavailable:
            self.is_away = True
            raise
        # Nothing was asked for nothing.
        self.is_away = self.is_away and not texts
        return matrix


class OrderWatch:
    """A `Story` that checks the promise of the line before it: one person's messages begin in the order of
    the inbox, each after the one before has ended."""

    def __init__(self, inner: Story, metrics: Metrics) -> None:
        self._inner = inner
        self._violations = metrics.order_violations
        self._latest: OrderedDict[AccountKey, int] = OrderedDict()
        self._under_way: set[AccountKey] = set()

    async def answer(
        self, inbox_id: int, message: Message, *, is_resumed: bool, waited_seconds: float = 0.0
    ) -> Delivery:
        sender = message.sender
        is_overlapping = sender in self._under_way
        # A try that failed is repeated with its own number.
        if is_overlapping or inbox_id < self._latest.get(sender, 0):
            self._violations.inc()
        self._latest[sender] = max(inbox_id, self._latest.get(sender, 0))
        self._latest.move_to_end(sender)
        if len(self._latest) > PEOPLE_WATCHED:
            self._latest.popitem(last=False)
        self._under_way.add(sender)
        try:
            return await self._inner.answer(
                inbox_id, message, is_resumed=is_resumed, waited_seconds=waited_seconds
            )
        finally:
            if not is_overlapping:
                self._under_way.discard(sender)

    async def apologise(self, inbox_id: int, message: Message) -> Delivery:
        return await self._inner.apologise(inbox_id, message)
