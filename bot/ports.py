"""What the story needs from the stores: the inbox, the ledger of turns, deliveries, jobs."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from bot.conversation.message import AccountKey, Message, Reply
from bot.conversation.scope import AccountId, PersonId, Scope
from bot.conversation.turn import Turn


class DeliveryState(StrEnum):
    """Where the pages of a reply are."""

    HELD = "held"
    """Pages wait: for the channel to take them, or for 「继续」."""
    SENDING = "sending"
    """Handed to a channel without an idempotency key. After a crash: unknown."""
    SENT = "sent"
    """All pages are handed over and none is kept: `pages` is then empty."""
    UNKNOWN = "unknown"
    """May or may not have arrived. Never sent again by itself; 「继续」 fetches it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The stored reply to one inbox entry, cut into pages by its channel."""

    inbox_id: int
    pages: tuple[str, ...]
    next_page: int
    """The first page not yet handed over; `len(pages)` when all are."""
    state: DeliveryState
    decided_by: str
    question: str = ""
    """The start of the question it answers, so that a held answer can name it."""
    at: datetime | None = None

    @property
    def remaining(self) -> tuple[str, ...]:
        return self.pages[self.next_page :]


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What the inbox says of a message."""

    inbox_id: int
    is_new: bool
    delivery: Delivery | None
    """Set when the message was already answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """An inbox entry that was accepted and not finished: work to resume."""

    inbox_id: int
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTicket:
    """Work committed with a turn: consolidate it."""

    id: int
    scope: Scope
    turn: Turn
    tries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """One page of a held delivery, which a reply hands over."""

    inbox_id: int
    page: int
    """Counts from 0."""
    at: datetime | None = None
    """When that delivery was made."""


class InboxStore(Protocol):
    async def admit(self, message: Message) -> Admission:
        """Commit a message, once per (channel, app_id, key). Durable when it returns."""
        ...

    async def unfinished(self) -> tuple[Accepted, ...]:
        """Accepted and not closed, oldest first."""
        ...

    async def undelivered(self) -> tuple[Accepted, ...]:
        """Closed with a delivery still HELD at page 0, oldest first: answered, perhaps not sent."""
        ...

    async def close(
        self,
        inbox_id: int,
        *,
        account: AccountId | None,
        delivery: Delivery | None,
        taken: Taken | None = None,
        payload: Message | None = None,
    ) -> bool:
        """Finish an entry that is no turn: a command, a notice, silence. One transaction.

        `taken`: the page this reply hands over. False, and nothing is stored, when it went another way
        meanwhile. `payload` takes the place of the message as it came in, of which then no byte is left.
        """
        ...

    async def refuse(self, inbox_id: int, error: str) -> int:
        """Note a failed try; returns how many there were. The third is a dead letter."""
        ...


class TurnLedger(Protocol):
    async def commit_turn(
        self,
        inbox_id: int,
        scope: Scope,
        message: Message,
        reply: Reply,
        delivery: Delivery | None,
        *,
        consolidate: bool,
    ) -> Turn | None:
        """Turn, delivery, consolidation job and the closed inbox entry, in one transaction.

        None when the scope's epoch has passed: nothing is stored, and the entry stays open for the
        caller to close with what it says instead. Of who wants nothing remembered, a turn is kept for the next
        answers alone, without a job. Raises ViewChanged when the account's person has other accounts than in the
        scope: nothing is stored, and the caller decides anew.
        """
        ...

    async def purge_passing(self, before: datetime) -> int:
        """Delete the turns older than `before` that are kept for the next answers alone. Returns how many."""
        ...


class DeliveryStore(Protocol):
    async def find_delivery(self, inbox_id: int) -> Delivery | None: ...

    async def oldest_held(self, account: AccountId, place: str | None = None) -> Delivery | None:
        """The oldest delivery of this account with pages left that is not older than 48 h; with `place`, of those
        asked for there (`Conversation.place`)."""
        ...

    async def has_several_held(self, account: AccountId) -> bool:
        """More than one such delivery."""
        ...

    async def mark_delivery(self, inbox_id: int, state: DeliveryState, next_page: int) -> None:
        """`SENT` drops the pages: nobody needs them again."""
        ...

    async def begin_sending(self, inbox_id: int) -> bool:
        """HELD at page 0 → SENDING, durably. False when it is in any other state."""
        ...

    async def note_progress(self, inbox_id: int, next_page: int) -> bool:
        """Pages before this one have arrived. False: it is no longer to be sent (it was forgotten meanwhile)."""
        ...

    async def crashed_sendings(self) -> tuple[AccountKey, ...]:
        """At start: every SENDING becomes UNKNOWN. Returns whose they are, one for each."""
        ...

    async def sealed(self, channel: str, app_id: str, key: str) -> bytes | None:
        """The bytes already given to the platform for this message key."""
        ...

    async def seal(self, channel: str, app_id: str, key: str, body: bytes, *, carries_answer: bool) -> bytes:
        """Store the response bytes for a key; the first writer wins and its bytes are returned.

        `carries_answer` marks the delivery's first page as handed over; a waiting line does not.
        """
        ...

    async def purge_seals(self, before: datetime) -> int:
        """Drop the bytes of seals older than `before`; the platform retries no longer. Returns how many."""
        ...


class JobStore(Protocol):
    async def lease_jobs(self, limit: int, lease_seconds: float) -> tuple[JobTicket, ...]:
        """Take due jobs, oldest first, one at a time per scope. A lapsed lease may be taken again."""
        ...

    async def finish_job(self, job: int) -> None: ...

    async def retry_job(self, job: int, error: str, delay_seconds: float, *, counts: bool) -> bool:
        """Put a job back. `counts` False (an outage) spends no try; the fifth try is a dead letter.

        Returns whether it is one now.
        """
        ...

    async def release_leases(self) -> int:
        """At start: what a process that is gone had leased may be taken at once. Returns how many."""
        ...

    async def backlog(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """A dangerous command waiting for its sender's 「确认」."""

    action: str
    argument: str
    reason: str


class ConfirmationStore(Protocol):
    async def ask(self, account: AccountId, confirmation: Confirmation, expires_at: datetime) -> None: ...

    async def pending(self, account: AccountId) -> Confirmation | None: ...

    async def take(self, account: AccountId) -> Confirmation | None:
        """Remove and return the pending one, if it has not expired."""
        ...


class PauseStore(Protocol):
    """Who asked that nothing new be remembered of them."""

    async def is_paused(self, person: PersonId) -> bool:
        """Asked by any of the person's accounts. Raises StoreUnavailable."""
        ...

    async def pause(self, person: PersonId) -> None:
        """For all their accounts, wherever they write. Durable when it returns."""
        ...

    async def resume(self, person: PersonId) -> None:
        """Durable when it returns."""
        ...


class GroupStore(Protocol):
    """Which groups the bot was told to be silent in."""

    async def switched_off(self) -> frozenset[str]:
        """The places (`Conversation.place`) that are off, all of them: read at start."""
        ...

    async def switch(self, place: str, *, is_on: bool) -> None:
        """Durable when it returns."""
        ...


class AuditLog(Protocol):
    async def record(
        self, actor: AccountKey | None, action: str, subject: PersonId | None, reason: str, detail: str
    ) -> None:
        """Who did what to whom and why. `detail` holds counts, never text of a memory."""
        ...
