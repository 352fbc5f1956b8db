"""What is kept of a person of the playground, as it lies in the store: the port and its words.

Invariant: pure data. Who asks has made sure that the person is of the playground.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.conversation.scope import AccountId, PersonId, Scope
from bot.memory.fact import Fact
from identity.model import Account


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFact:
    """A memory, in view or not."""

    fact: Fact
    account: AccountId
    """Whose words it is of: one of the person's."""
    place: str
    """`Conversation.place`; "" is private."""
    valid_to: datetime | None
    """Set: closed by a later one, or denied."""
    replaced_by: int | None
    """The id of what contradicts it, which may be forgotten since. None: denied, or in view."""
    expires_at: datetime | None

    def is_expired(self, now: datetime) -> bool:
        return self.valid_to is None and self.expires_at is not None and self.expires_at <= now

    def is_in_view(self, now: datetime) -> bool:
        return self.valid_to is None and not self.is_expired(now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """One account of the playground."""

    account: Account
    facts: int
    """Kept of it, in view or not."""
    turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Going:
    """What a forgetting would come to."""

    facts: int
    """Of linked accounts too, where they have the same text."""
    turns: int
    """With those that quote what goes."""
    has_made: bool = False
    """A summary or something named goes with them."""


class KeptStore(Protocol):
    async def players(self, limit: int) -> tuple[Player, ...]:
        """Accounts of the playground, the newest first; those that stand for a group, or for what was left behind,
        are none. Raises StoreUnavailable."""
        ...

    async def groups(self, limit: int) -> tuple[Player, ...]:
        """Accounts of the playground that stand for a group: what is kept of them is 群公共记忆."""
        ...

    async def would_forget(
        self, scope: Scope, facts: Sequence[int], words: Sequence[str], turns: Sequence[int]
    ) -> Going:
        """What `FactStore.forget_facts` would delete. Raises StoreUnavailable."""
        ...

    async def kept_facts(self, person: PersonId) -> tuple[KeptFact, ...]:
        """Of all accounts and places, the newest first. Raises StoreUnavailable."""
        ...
