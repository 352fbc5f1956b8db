"""The fact: one thing worth remembering about a person, in their own language."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class FactKind(StrEnum):
    """What a fact is about; decides how long it lives (BEHAVIOUR: identity and preference never expire)."""

    IDENTITY = "identity"
    PREFERENCE = "preference"
    TRANSACTION = "transaction"
    EVENT = "event"
    PROMISE = "promise"
    """What the bot promised them: its own words, and nothing about the person."""


TOLD_KINDS = tuple(kind for kind in FactKind if kind is not FactKind.PROMISE)
"""Those that a person's words are judged to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFact:
    """A fact judged worth keeping, before it is stored."""

    kind: FactKind
    text: str
    importance: float
    """0 to 1."""
    said_at: datetime
    """Aware, UTC."""
    expires_at: datetime | None = None
    closes: tuple[int, ...] = ()
    """Ids of the person's facts that it contradicts."""
    instead_of: str = ""
    """The text of a memory that a model says it contradicts; not yet held against either."""
    repeats: int | None = None
    """Id of the fact that says the same: that one is raised, and this one is no memory of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A stored fact, in the current view."""

    id: int
    kind: FactKind
    text: str
    importance: float
    said_at: datetime
    channel: str
    """Where it was said: the channel of the account it came from."""
    said_again_at: datetime | None = None
    """The last time, where it was said more than once."""

    @property
    def last_said_at(self) -> datetime:
        return self.said_again_at or self.said_at


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryVersion:
    """Names one state of a scope's memory: equal versions mean equal memories."""

    epoch: int
    shelves: tuple[tuple[int, int], ...]
    """(shelf id, its version), by shelf id. A shelf holds one account's memory in one place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReceipt:
    """What a forgetting removed, in rows."""

    facts: int = 0
    turns: int = 0
    jobs: int = 0
    deliveries: int = 0
    vectors: int = 0
    summaries: int = 0
    """Deleted, or to be made anew because the forgotten words stood in them."""
    entities: int = 0
    number: int = field(default=0, compare=False)
    """Of its line in the forget ledger: what the person is told, to prove it by. 0: nothing was there to forget."""

    def __add__(self, other: "ForgetReceipt") -> "ForgetReceipt":
        return ForgetReceipt(
            facts=self.facts + other.facts,
            turns=self.turns + other.turns,
            jobs=self.jobs + other.jobs,
            deliveries=self.deliveries + other.deliveries,
            vectors=self.vectors + other.vectors,
        )

    @property
    def total(self) -> int:
        return self.facts + self.turns + self.jobs + self.deliveries
