"""People, an inbox, a story and a channel that do what a test tells them, for the tests of the way in and out."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.conversation.errors import StoreUnavailable
from bot.conversation.message import AccountKey, Conversation, Kind, Message
from bot.conversation.scope import AccountId
from bot.delivery import DeliveryDesk, GoesOn, SendOutcome, Sent
from bot.ports import Accepted, Admission, Delivery, DeliveryState, Taken
from bot.turnstile import Turnstile

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
HANG_SECONDS = 20.0
"""A hang guard, never a measure."""


class HandClock:
    """Moves when the test moves it."""

    def __init__(self) -> None:
        self.time = NOW

    def now(self) -> datetime:
        return self.time

    def advance(self, **duration: float) -> None:
        self.time += timedelta(**duration)


def account_key(name: str = "li", channel: str = "onebot") -> AccountKey:
    return AccountKey(channel=channel, app_id="app", openid=name)


def message(
    key: str, text: str = "", *, by: str = "li", channel: str = "onebot", group: str = "", **more: object
) -> Message:
    fields = {
        "key": key,
        "kind": Kind.TEXT,
        "sender": account_key(by, channel),
        "conversation": Conversation(channel=channel, app_id="app", group=group),
        "text": text or f"话{key}",
        "sent_at": NOW,
    }
    return Message(**{**fields, **more})  # type: ignore[arg-type]


def delivery(
    inbox_id: int, *pages: str, state: DeliveryState = DeliveryState.HELD, next_page: int = 0
) -> Delivery:
    return Delivery(
        inbox_id=inbox_id, pages=pages, next_page=next_page, state=state, decided_by="model", at=NOW
    )


class InboxInMemory:
    """An `InboxStore`; a commit takes as many turns of the loop as the test says."""

    def __init__(self) -> None:
        self.ids: dict[tuple[str, str, str], int] = {}
        self.messages: dict[int, Message] = {}
        self.deliveries: dict[int, Delivery] = {}
        self.tries: dict[int, int] = defaultdict(int)
        self.errors: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.is_away = False

    async def admit(self, message: Message) -> Admission:
        if (gate := self.gates.get(message.key)) is not None:
            await gate.wait()
        await asyncio.sleep(0)
        if self.is_away:
            raise StoreUnavailable("away")
        key = (message.sender.channel, message.sender.app_id, message.key)
        is_new = key not in self.ids
        inbox_id = self.ids.setdefault(key, len(self.ids) + 1)
        self.messages[inbox_id] = message
        return Admission(inbox_id=inbox_id, is_new=is_new, delivery=self.deliveries.get(inbox_id))

    async def unfinished(self) -> tuple[Accepted, ...]:
        await asyncio.sleep(0)
        return tuple(
            Accepted(inbox_id=inbox_id, message=message)
            for inbox_id, message in self.messages.items()
            if inbox_id not in self.deliveries
        )

    async def undelivered(self) -> tuple[Accepted, ...]:
        return tuple(
            Accepted(inbox_id=inbox_id, message=self.messages[inbox_id])
            for inbox_id, delivery in self.deliveries.items()
            if delivery.state is DeliveryState.HELD and delivery.pages and not delivery.next_page
        )

    async def close(
        self,
        inbox_id: int,
        *,
        account: AccountId | None,
        delivery: Delivery | None,
        taken: Taken | None = None,
        payload: Message | None = None,
    ) -> bool:
        if delivery is not None:
            self.deliveries.setdefault(inbox_id, delivery)
        return True

    async def refuse(self, inbox_id: int, error: str) -> int:
        self.errors.append(error)
        self.tries[inbox_id] += 1
        return self.tries[inbox_id]


class DeliveriesOf:
    """The part of a `DeliveryStore` that the desk uses, over an inbox's deliveries."""

    def __init__(self, inbox: InboxInMemory) -> None:
        self._held = inbox.deliveries
        self.purged_before: list[datetime] = []

    def add(self, delivery: Delivery) -> Delivery:
        self._held[delivery.inbox_id] = delivery
        return delivery

    def state(self, inbox_id: int) -> DeliveryState:
        return self._held[inbox_id].state

    def remaining(self, inbox_id: int) -> tuple[str, ...]:
        return self._held[inbox_id].remaining

    async def mark_delivery(self, inbox_id: int, state: DeliveryState, next_page: int) -> None:
        self._held[inbox_id] = replace(self._held[inbox_id], state=state, next_page=next_page)

    async def begin_sending(self, inbox_id: int) -> bool:
        known = self._held.get(inbox_id)
        if known is None or known.state is not DeliveryState.HELD or known.next_page:
            return False
        self._held[inbox_id] = replace(known, state=DeliveryState.SENDING)
        return True

    async def note_progress(self, inbox_id: int, next_page: int) -> bool:
        known = self._held[inbox_id]
        if known.state is not DeliveryState.SENDING:
            return False
        self._held[inbox_id] = replace(known, next_page=next_page)
        return True

    async def crashed_sendings(self) -> tuple[AccountKey, ...]:
        crashed = [known for known in self._held.values() if known.state is DeliveryState.SENDING]
        for known in crashed:
            self._held[known.inbox_id] = replace(known, state=DeliveryState.UNKNOWN)
        return tuple(account_key() for _ in crashed)

    async def purge_seals(self, before: datetime) -> int:
        self.purged_before.append(before)
        return 0


class OutboxByHand:
    """A channel that notes what it sends."""

    def __init__(self) -> None:
        self.is_connected = True
        self.replies_passively = False
        self.outcome = SendOutcome.SENT
        self.pages_before = 0
        """Delivered before the one that made another outcome."""
        self.sent: list[tuple[str, tuple[str, ...]]] = []

    def is_ready(self, message: Message) -> bool:
        return self.is_connected

    async def send(self, message: Message, pages: tuple[str, ...], goes_on: GoesOn) -> Sent:
        await asyncio.sleep(0)
        self.sent.append((message.key, pages))
        is_sent = self.outcome is SendOutcome.SENT
        return Sent(outcome=self.outcome, pages=len(pages) if is_sent else self.pages_before)


class StoryByHand:
    """Answers 「答:key」 when the test lets it; fails where the test says so; notes who ran when."""

    def __init__(self, inbox: InboxInMemory) -> None:
        self._inbox = inbox
        self.began: list[str] = []
        self.resumed: list[str] = []
        self.texts: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.failures: dict[str, list[Exception]] = {}
        self.failures_after_commit: dict[str, Exception] = {}
        self.yields: dict[str, int] = {}
        self.apologies: list[str] = []
        self.overlaps: list[str] = []
        self._running: set[AccountKey] = set()

    async def answer(
        self, inbox_id: int, message: Message, *, is_resumed: bool, waited_seconds: float = 0.0
    ) -> Delivery:
        self.began.append(message.key)
        self.texts.append(message.text)
        if is_resumed:
            self.resumed.append(message.key)
        with self._alone(message):
            if (gate := self.gates.get(message.key)) is not None:
                await gate.wait()
            for _ in range(self.yields.get(message.key, 1)):
                await asyncio.sleep(0)
            if failures := self.failures.get(message.key):
                raise failures.pop(0)
            await self._inbox.close(inbox_id, account=None, delivery=delivery(inbox_id, f"答:{message.key}"))
            if (failure := self.failures_after_commit.get(message.key)) is not None:
                raise failure
        return self._inbox.deliveries[inbox_id]

    async def apologise(self, inbox_id: int, message: Message) -> Delivery:
        self.apologies.append(message.key)
        await self._inbox.close(inbox_id, account=None, delivery=delivery(inbox_id, "抱歉"))
        return self._inbox.deliveries[inbox_id]

    @contextmanager
    def _alone(self, message: Message) -> Iterator[None]:
        """Notes when two messages of one person are answered at once."""
        if message.sender in self._running:
            self.overlaps.append(message.key)
        self._running.add(message.sender)
        try:
            yield
        finally:
            self._running.discard(message.sender)


class WayIn:
    """A turnstile with its inbox, story and channel."""

    def __init__(self) -> None:
        self.inbox = InboxInMemory()
        self.story = StoryByHand(self.inbox)
        self.deliveries = DeliveriesOf(self.inbox)
        self.outbox = OutboxByHand()
        self.clock = HandClock()
        self.desk = DeliveryDesk(self.deliveries, {"onebot": self.outbox}, self.clock)  # type: ignore[arg-type]
        self.turnstile = Turnstile(self.inbox, self.story, self.desk)

    def start(self, message: Message) -> "asyncio.Task[Delivery]":
        return asyncio.create_task(self.turnstile.pass_through(message))


async def settle() -> None:
    """Let everything that can run run. Enough turns of the loop for any chain in these tests."""
    for _ in range(50):
        await asyncio.sleep(0)
