"""The fact: one thing worth remembering about a person, in their own language."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class FactKind(StrEnum):
    """What a fact is about; decides how long it lives (BEHAVIOUR: identity and preference never expire)."""

    IDENTITY = "identity"
    PREFERENCE = "preference"
    TRANSACTION = "transaction"
    EVENT = "event"


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
