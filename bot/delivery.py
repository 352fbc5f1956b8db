"""Hand stored replies to the channels, and know afterwards which of them may have arrived.

Invariant: a reply leaves through a channel without an idempotency key at most once. What a crash
caught between "sending" and "sent" becomes UNKNOWN and is never sent again by itself.
"""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Protocol

from loguru import logger

from bot.conversation.message import Message
from bot.conversation.ports import Clock
from bot.ports import Delivery, DeliveryState, DeliveryStore

STALE_IN_GROUP = timedelta(minutes=2)
"""BEHAVIOUR: after an outage a group has moved on; an answer out of the blue is noise."""


class SendOutcome(StrEnum):
    """What a channel knows after sending."""

    SENT = "sent"
    UNKNOWN = "unknown"
    """The platform did not say: it may have been delivered."""
    FAILED = "failed"
    """Certainly not delivered: refused, muted, or nobody is connected."""


class Outbox(Protocol):
    """A channel that can speak without being asked by an open request."""

    def is_ready(self, message: Message) -> bool:
        """The bot this message came to is connected."""
        ...

    async def send(self, message: Message, pages: tuple[str, ...]) -> SendOutcome:
        """Answer `message`, page by page."""
        ...


class DeliveryDesk:
    """Sends what was committed, through the outbox of its channel.

    A channel without an outbox (WeChat's passive replies) takes its pages itself: its deliveries
    stay held until the platform asks again, or the person says 「继续」.
    """

    def __init__(self, store: DeliveryStore, outboxes: Mapping[str, Outbox], clock: Clock) -> None:
        self._store = store
        self._outboxes = outboxes
        self._clock = clock

    def has_outbox(self, message: Message) -> bool:
        return message.sender.channel in self._outboxes

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
        outcome = await self._outboxes[message.sender.channel].send(message, delivery.pages)
        if outcome is SendOutcome.SENT:
            await self._store.mark_delivery(delivery.inbox_id, DeliveryState.SENT, len(delivery.pages))
            return
        logger.warning("reply {} to {} ended {}", delivery.inbox_id, message.sender.channel, outcome.value)
        state = DeliveryState.UNKNOWN if outcome is SendOutcome.UNKNOWN else DeliveryState.HELD
        await self._store.mark_delivery(delivery.inbox_id, state, 0)

    def _is_stale(self, delivery: Delivery) -> bool:
        """By our own clock alone: a platform's that is wrong must not silence a group."""
        return delivery.at is not None and self._clock.now() - delivery.at > STALE_IN_GROUP

    async def settle_after_crash(self) -> None:
        """At start, before anything is sent: what was being sent may have arrived."""
        unknown = await self._store.crashed_sendings()
        if unknown:
            logger.warning("{} replies were being sent when the process died; they stay unknown", unknown)
