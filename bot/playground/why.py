"""Why a message of the playground was answered as it was: one record each, for who looks at it.

Invariant: of nobody but the playground's people is anything recorded; records live in this process alone, the latest
`MOST`, and all of them go as soon as anybody there forgets anything, since one may hold what another said.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from bot.answering.question import Question
from bot.conversation.errors import StoreUnavailable
from bot.conversation.message import AccountKey, Conversation, Kind, Message, is_playground
from bot.conversation.ports import ChatLine
from bot.conversation.taps import without_taps
from bot.decision import SILENCE
from bot.noting import Notes, Tracing, noted
from bot.playground.playing import as_when_said
from bot.playground.weighing import Weighed, weighed
from bot.pointing import Pointed
from bot.ports import Delivery
from bot.turnstile import Story
from identity.model import Account

MOST = 200
"""A long afternoon of trying things out; a record with all its candidates is about 50 KB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found for a message that memory and knowledge answered."""

    pointed: Pointed
    question: Question
    """Without its pictures and its vector."""
    pictures: int
    weighed: Weighed
    prompt: tuple[ChatLine, ...]
    """() where no model was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """One message and how it got its answer."""

    key: str
    sender: AccountKey
    conversation: Conversation
    kind: Kind
    at: datetime
    text: str
    """"" where nothing was said to the bot, or its words were forgotten meanwhile."""
    quoted: str
    decided_by: str
    pages: tuple[str, ...]
    """Of the reply."""
    waited_seconds: float
    """Behind earlier messages of its sender."""
    milliseconds: Mapping[str, float] = field(default_factory=dict[str, float])
    """Stage → how long it took, in their order."""
    total_milliseconds: float = 0.0
    found: Found | None = None
    """None: decided before memory was asked."""
    is_forgotten: bool = False
    """Something was forgotten while it was answered: no words are kept of it."""
    epoch: int | None = None
    """Of its sender's person; None for who has no account."""


class Accounts(Protocol):
    async def find_account(self, key: AccountKey) -> Account | None: ...


class WhyRecords:
    """Keeps the records."""

    def __init__(self, accounts: Accounts, most: int = MOST) -> None:
        self._accounts = accounts
        self._most = most
        self._records: OrderedDict[tuple[str, str, str], Why] = OrderedDict()
        self.noticed: list[Callable[[Why], None]] = []
        """Told of each record as it is made."""
        self.forgettings = 0
        """How often all records went."""

    def __len__(self) -> int:
        return len(self._records)

    def around(self, story: Story, trace: Tracing) -> Story:
        """The same story, of which records are kept. `trace`: how a search of memory is traced."""
        return _Watched(story, self, trace)

    async def find(self, channel: str, app_id: str, key: str) -> Why | None:
        """None: never recorded, or gone. Raises StoreUnavailable."""
        record = self._records.get((channel, app_id, key))
        if record is None:
            return None
        if await self._epoch(record.sender) != record.epoch:
            # Cleared by another process, the command line.
            self._drop_all()
            return None
        return record

    async def keep(
        self, message: Message, delivery: Delivery, notes: Notes, waited_seconds: float, forgettings: int
    ) -> None:
        """`forgettings`, as of when the answer was begun. Where the store is away nothing is kept."""
        try:
            epoch = await self._epoch(message.sender)
        except StoreUnavailable:
            return
        is_forgotten = forgettings != self.forgettings
        is_told = not is_forgotten and delivery.decided_by != SILENCE.decided_by
        sender, times = message.sender, notes.times
        name = (sender.channel, sender.app_id, message.key)
        record = self._records[name] = Why(
            key=message.key,
            sender=sender,
            conversation=message.conversation,
            kind=message.kind,
            at=message.sent_at,
            text=message.text if is_told else "",
            quoted=message.quoted if is_told else "",
            decided_by=delivery.decided_by,
            pages=tuple(map(without_taps, delivery.pages)) if is_told else (),
            waited_seconds=waited_seconds,
            milliseconds=times.milliseconds if times is not None else {},
            total_milliseconds=times.seconds * 1000 if times is not None else 0.0,
            found=_found(notes) if is_told else None,
            is_forgotten=is_forgotten,
            epoch=epoch,
        )
        self._records.move_to_end(name)
        if len(self._records) > self._most:
            self._records.popitem(last=False)
        for notice in self.noticed:
            notice(record)

    def drop_account(self, speaker: AccountKey) -> None:
        """See `bot.groups.lines.Forgetful`."""
        if is_playground(speaker.app_id):
            self._drop_all()

    def drop_place(self, place: str) -> None:
        _, app_id, _ = place.split(":", 2)
        if is_playground(app_id):
            self._drop_all()

    def _drop_all(self) -> None:
        self.forgettings += 1
        self._records.clear()

    async def _epoch(self, sender: AccountKey) -> int | None:
        account = await self._accounts.find_account(sender) if sender.openid else None
        return account.epoch if account is not None else None


class _Watched:
    def __init__(self, inner: Story, records: WhyRecords, trace: Tracing) -> None:
        self._inner = inner
        self._records = records
        self._trace = trace

    async def answer(
        self, inbox_id: int, message: Message, *, is_resumed: bool, waited_seconds: float = 0.0
    ) -> Delivery:
        if not is_playground(message.sender.app_id):
            return await self._inner.answer(
                inbox_id, message, is_resumed=is_resumed, waited_seconds=waited_seconds
            )
        notes, forgettings = Notes(trace=self._trace), self._records.forgettings
        with noted(notes), as_when_said(message.key):
            delivery = await self._inner.answer(
                inbox_id, message, is_resumed=is_resumed, waited_seconds=waited_seconds
            )
        await self._records.keep(message, delivery, notes, waited_seconds, forgettings)
        return delivery

    async def apologise(self, inbox_id: int, message: Message) -> Delivery:
        delivery = await self._inner.apologise(inbox_id, message)
        if is_playground(message.sender.app_id):
            notes = Notes(trace=self._trace)
            await self._records.keep(message, delivery, notes, 0.0, self._records.forgettings)
        return delivery


def _found(notes: Notes) -> Found | None:
    if notes.question is None or notes.pointed is None:
        return None
    return Found(
        pointed=notes.pointed,
        question=notes.question,
        pictures=notes.pictures,
        weighed=weighed(notes.traces, notes.question, notes.pointed.k),
        prompt=notes.prompt,
    )
