"""Hand stored replies to the channels, and know afterwards which of them may have arrived.

Invariant: a reply leaves through a channel without an idempotency key at most once. What a crash
caught between "sending" and "sent" becomes UNKNOWN and is never sent again by itself.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import partial
from typing import Protocol, TypeAlias

from loguru import logger

from bot.conversation.message import AccountKey, Message
from bot.conversation.ports import Clock
from bot.ports import Delivery, DeliveryState, DeliveryStore

STALE_IN_GROUP = timedelta(minutes=2)
"""BEHAVIOUR: after an outage a group has moved on; an answer out of the blue is noise."""


UNCOUNTED = frozenset({"onebot"})
"""Channels where a line more costs none of the answer's pages."""


class SendOutcome(StrEnum):
    """What a channel knows after sending."""

    SENT = "sent"
    UNKNOWN = "unknown"
    """The platform did not say: it may have been delivered."""
    FAILED = "failed"
    """Certainly not delivered: refused, muted, or nobody is connected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What came of sending a reply."""

    outcome: SendOutcome
    """Of the whole, or of the page it stopped at."""
    pages: int
    """Certainly delivered, from the first on."""
    tells_of_rest: bool = False
    """The last of them says how to get the others."""


GoesOn: TypeAlias = Callable[[int], Awaitable[bool]]


async def always(_: int) -> bool:
    """`GoesOn` for a reply that nobody can forget meanwhile."""
    return True


class Outbox(Protocol):
    """A channel that can speak without being asked by an open request."""

    replies_passively: bool
    """The open request carries the first page where it can; only what it can't is sent."""

    def is_ready(self, message: Message) -> bool:
        """An answer to this message can be sent now, and nothing else will carry it."""
        ...

    async def send(self, message: Message, pages: tuple[str, ...], goes_on: GoesOn) -> Sent:
        """Answer `message`, page by page, up to the first that does not arrive for certain.

        Before each further page `goes_on` is told how many have arrived, and says whether to go on.
        """
        ...


class DeliveryDesk:
    """Sends what was committed, through the outbox of its channel.

    A channel that replies passively (WeChat) takes the first page itself: its deliveries stay held until
    the platform asks again, or the person says 「继续」, unless the answer was promised to be sent.
    """

    def __init__(self, store: DeliveryStore, outboxes: Mapping[str, Outbox], clock: Clock) -> None:
        self._store = store
        self._outboxes = dict(outboxes)
        self._clock = clock
        self._unreached: set[AccountKey] = set()

    def add_outbox(self, channel: str, outbox: Outbox) -> None:
        """For a channel that needs the house to be there first."""
        self._outboxes[channel] = outbox

    def replies_passively(self, message: Message) -> bool:
        """The caller hands the first page to the open request."""
        outbox = self._outboxes.get(message.sender.channel)
        return outbox is None or outbox.replies_passively

    def was_unreached(self, account: AccountKey) -> bool:
        """An answer that this person was to be sent was not taken, and they don't know of it. Told once."""
        is_unreached = account in self._unreached
        self._unreached.discard(account)
        return is_unreached

    def can_send(self, message: Message) -> bool:
        outbox = self._outboxes.get(message.sender.channel)
        return outbox is not None and outbox.is_ready(message)

    async def hand_over(self, message: Message, delivery: Delivery) -> None:
        """Send a delivery once. Does nothing where it has been begun before, or is silence."""
        if not delivery.pages or not await self._store.begin_sending(delivery.inbox_id):
            return
        if message.conversation.is_group and self._is_stale(delivery):
            await self._store.mark_delivery(delivery.inbox_id, DeliveryState.UNKNOWN, 0)
            return
        outbox = self._outboxes[message.sender.channel]
        sent = await outbox.send(
            message, delivery.pages, partial(self._store.note_progress, delivery.inbox_id)
        )
        if sent.outcome is SendOutcome.SENT:
            await self._store.mark_delivery(delivery.inbox_id, DeliveryState.SENT, len(delivery.pages))
            return
        if not sent.tells_of_rest:
            where = f"{message.sender.channel}，共 {len(delivery.pages)} 页，送到 {sent.pages} 页"
            ended = "是否送到不明，不再重发" if sent.outcome is SendOutcome.UNKNOWN else "没有发完，其余留着"
            logger.warning("回复 {}（{}）：{}", delivery.inbox_id, where, ended)
        state = DeliveryState.UNKNOWN if sent.outcome is SendOutcome.UNKNOWN else DeliveryState.HELD
        await self._store.mark_delivery(delivery.inbox_id, state, sent.pages)
        if outbox.replies_passively and not sent.tells_of_rest:
            self._unreached.add(message.sender)

    async def say_meanwhile(self, message: Message, text: str) -> None:
        """A line ahead of the answer; nothing where the channel counts what may be sent after a message."""
        outbox = self._outboxes.get(message.sender.channel)
        if message.sender.channel in UNCOUNTED and outbox is not None and outbox.is_ready(message):
            await outbox.send(message, (text,), always)

    def _is_stale(self, delivery: Delivery) -> bool:
        """By our own clock alone: a platform's that is wrong must not silence a group."""
        return delivery.at is not None and self._clock.now() - delivery.at > STALE_IN_GROUP

    async def settle_after_crash(self) -> None:
        """At start, before anything is sent: what was being sent may have arrived."""
        unknown = await self._store.crashed_sendings()
        for account in unknown:
            outbox = self._outboxes.get(account.channel)
            if outbox is not None and outbox.replies_passively:
                self._unreached.add(account)
        if unknown:
            logger.warning("上次退出时有 {} 条回复正在发送，是否送到不明，不再重发", len(unknown))
