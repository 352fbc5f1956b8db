"""Let each message through once, and each person's messages in order.

Invariant: a message is durably in the inbox before anyone waits for its answer; a second call with
the same key joins the run or gets the stored answer; nobody waits for somebody else.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from loguru import logger

from bot.alerts import Alerts, OperatorAlerts
from bot.commands.aside import put_aside
from bot.conversation.errors import TransientError
from bot.conversation.masking import mask_secrets
from bot.conversation.message import AccountKey, Kind, Message
from bot.conversation.taps import clean
from bot.delivery import DeliveryDesk
from bot.ports import Delivery, InboxStore

MAX_TRIES = 3
"""A message that fails this often is a dead letter: the next one must not wait behind it."""

LONGEST_TEXT = 5_000
"""Characters. WeChat takes 2,048 bytes from a person and QQ about 4,500 characters; what is longer is an
attack on whoever reads it, and every stage reads it (the slowest costs 0.07 s for 10,000 digits)."""

DRAIN_SECONDS = 6.0
"""How long a stop waits for messages already accepted, after the doors were closed: within 20 s in all
(SAFETY.md: SIGTERM under load). What is not done by then is taken up at the next start."""

_AN_INSTANT = 1e-6
"""Seconds: who stood in line waited, however coarse the clock."""


class Story(Protocol):
    """What happens to a message once it is through: the Assistant."""

    async def answer(
        self, inbox_id: int, message: Message, *, is_resumed: bool, waited_seconds: float = 0.0
    ) -> Delivery: ...

    async def apologise(self, inbox_id: int, message: Message) -> Delivery:
        """Close a message that cannot be answered."""
        ...


class CodesOut(Protocol):
    """Who waits for a one-time code: `PhoneCodes`."""

    def is_open(self, account: AccountKey) -> bool:
        """A code for this account may still be good. Asked before the place in the line is taken, so it is no read."""
        ...


class Line:
    """First come, first served, per account."""

    def __init__(self) -> None:
        self._tails: dict[AccountKey, asyncio.Future[None]] = {}

    def take_ticket(self, account: AccountKey) -> "Ticket":
        """Stand in line now: order is the order of these calls."""
        ahead = self._tails.get(account)
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._tails[account] = mine
        # Only now: who gives up in the middle of the line must not let the next one pass those ahead.
        mine.add_done_callback(lambda _: self._leave(account, mine))
        return Ticket(ahead, mine)

    def _leave(self, account: AccountKey, mine: asyncio.Future[None]) -> None:
        if self._tails.get(account) is mine:
            del self._tails[account]


class Ticket:
    """One place in the line. Leaving it lets the next one go, however this one ended."""

    def __init__(self, ahead: asyncio.Future[None] | None, mine: asyncio.Future[None]) -> None:
        self._ahead = ahead
        self._mine = mine

    async def turn_comes(self) -> bool:
        """Whether there was anything to wait for."""
        if self._ahead is None or self._ahead.done():
            return False
        await asyncio.shield(self._ahead)
        return True

    def close(self) -> None:
        """Let the next one go, not before those ahead are done."""
        ahead, mine = self._ahead, self._mine
        if ahead is None or ahead.done():
            mine.set_result(None)
        else:
            ahead.add_done_callback(lambda _: mine.set_result(None))


class Turnstile:
    """The one way in."""

    def __init__(
        self,
        inbox: InboxStore,
        story: Story,
        desk: DeliveryDesk,
        alerts: Alerts | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        codes: CodesOut | None = None,
    ) -> None:
        """`codes` None: no phone can be proven here."""
        self._inbox = inbox
        self._story = story
        self._desk = desk
        self._alerts = alerts or OperatorAlerts()
        self._monotonic = monotonic
        self._codes = codes
        self._line = Line()
        self._runs: dict[tuple[str, str, str], asyncio.Task[Delivery]] = {}

    async def pass_through(self, message: Message) -> Delivery:
        """The reply to a message, computed once however often and however overlapping it is asked.

        Card numbers, keys and the like are masked here, before anything is stored or sent on; a phone that is to
        be proven, and its code, are put aside; what is longer than LONGEST_TEXT is cut.
        Cancelling the caller does not cancel the run: the answer is stored for whoever asks next.

        Raises:
            TransientError: a store is away. The message, if it was accepted, is resumed later.
        """
        return await asyncio.shield(
            self._join_or_start(_fit_to_store(message, self._codes), is_resumed=False)
        )

    def is_under_way(self, channel: str, app_id: str, key: str) -> bool:
        """The message of this key waits for its turn, or is being answered."""
        return (channel, app_id, key) in self._runs

    async def hand_over(self, message: Message, delivery: Delivery) -> None:
        """Send an answer that no open request took, behind what is under way for the same person."""
        ticket = self._line.take_ticket(message.sender)
        try:
            await ticket.turn_comes()
            await self._send(message, delivery)
        finally:
            ticket.close()

    async def resume_unfinished(self) -> None:
        """Take up what was accepted and never finished: after a crash, or when a store came back."""
        for entry in await self._inbox.unfinished():
            self._join_or_start(entry.message, is_resumed=True)

    async def resume_undelivered(self) -> None:
        """Send what was answered and not begun to be sent, where its bot is connected."""
        for entry in await self._inbox.undelivered():
            if self._desk.can_send(entry.message):
                self._join_or_start(entry.message, is_resumed=True)

    async def drain(self) -> None:
        """Wait for the runs in flight, at most DRAIN_SECONDS. What is left resumes at the next start."""
        if self._runs:
            _, late = await asyncio.wait(self._runs.values(), timeout=DRAIN_SECONDS)
            for run in late:
                run.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _join_or_start(self, message: Message, *, is_resumed: bool) -> asyncio.Task[Delivery]:
        key = (message.sender.channel, message.sender.app_id, message.key)
        run = self._runs.get(key)
        if run is None:
            ticket = self._line.take_ticket(message.sender)
            run = asyncio.create_task(self._admit_and_answer(ticket, message, is_resumed=is_resumed))
            self._runs[key] = run
            run.add_done_callback(lambda done: self._finish(key, ticket, done))
        return run

    def _finish(self, key: tuple[str, str, str], ticket: Ticket, done: asyncio.Task[Delivery]) -> None:
        del self._runs[key]
        ticket.close()
        if not done.cancelled() and (error := done.exception()) is not None:
            logger.error("一条消息没有处理完，留在收件箱里：{}", type(error).__name__)

    async def _admit_and_answer(self, ticket: Ticket, message: Message, *, is_resumed: bool) -> Delivery:
        """Resumed messages are admitted again: one may have been answered since it was found open."""
        arrived_at = self._monotonic()
        admission = await self._inbox.admit(message)
        has_waited = await ticket.turn_comes()
        waited_seconds = max(self._monotonic() - arrived_at, _AN_INSTANT) if has_waited else 0.0
        delivery = admission.delivery
        if delivery is None:
            delivery = await self._answer(
                admission.inbox_id, message, is_resumed=is_resumed, waited_seconds=waited_seconds
            )
        return await self._send(message, delivery)

    async def _send(self, message: Message, delivery: Delivery) -> Delivery:
        """Part of the run, so that one person's replies leave in order and a stop waits for them."""
        if self._desk.can_send(message):
            await self._desk.hand_over(message, delivery)
        return delivery

    async def _answer(
        self, inbox_id: int, message: Message, *, is_resumed: bool, waited_seconds: float
    ) -> Delivery:
        while True:
            try:
                return await self._story.answer(
                    inbox_id, message, is_resumed=is_resumed, waited_seconds=waited_seconds
                )
            except TransientError:
                raise
            except Exception as error:  # a poison message must not stop the line: this is its boundary
                if (stored := (await self._inbox.admit(message)).delivery) is not None:
                    logger.opt(exception=error).error("消息 {} 已经回答，收尾时出错", inbox_id)
                    return stored
                tries = await self._inbox.refuse(inbox_id, type(error).__name__)
                logger.opt(exception=error).error(
                    "消息 {} 没能回答（第 {} 次，最多试 {} 次）", inbox_id, tries, MAX_TRIES
                )
                if tries >= MAX_TRIES:
                    told = f"一条消息试了 {tries} 次都没能回答，已放弃：请看日志"
                    await self._alerts.tell(f"poison:{type(error).__name__}", told)
                    return await self._story.apologise(inbox_id, message)


def _fit_to_store(message: Message, codes: CodesOut | None) -> Message:
    """Cut to what a person writes, without secrets, and without what only the house may write."""
    is_said = codes is not None and message.kind in (Kind.TEXT, Kind.VOICE)
    said, aside = put_aside(
        clean(message.text[:LONGEST_TEXT]),
        are_phones_on=is_said,
        is_private=not message.conversation.is_group,
        is_code_open=is_said and codes is not None and codes.is_open(message.sender),
    )
    text, _ = mask_secrets(said)
    quoted, _ = mask_secrets(clean(message.quoted[:LONGEST_TEXT])) if message.quoted else ("", False)
    if (text, quoted) == (message.text, message.quoted):
        return message
    return replace(message, text=text, quoted=quoted, aside=aside)
