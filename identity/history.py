"""What became of persons: conflicts with their decisions, and accounts that changed persons.

Invariant: a record is as the store has it; nothing is decided or undone here.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.conversation.message import AccountKey
from bot.conversation.scope import PersonId
from identity.model import Conflict, Decision, Merge

OPERATOR = AccountKey(channel="cli", app_id="", openid="")
"""Whoever types `jide …`, as the audit log names them: no platform has such an account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictRecord:
    """A conflict and what was decided of it."""

    conflict: Conflict
    decision: Decision | None
    """None: it waits."""
    decided_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeRecord:
    """A change of an account's person, and what stands in the way of undoing it."""

    merge: Merge
    key: AccountKey
    """The account's, as it is called now."""
    latest: int
    """The account's last change that was not undone; itself, where it can be undone."""

    @property
    def can_be_undone(self) -> bool:
        return not self.merge.is_undone and self.latest == self.merge.id


class IdentityHistory(Protocol):
    """For operators. Raises StoreUnavailable."""

    async def conflicts(self, *, with_decided: bool) -> tuple[ConflictRecord, ...]:
        """Oldest first."""
        ...

    async def conflict(self, number: int) -> ConflictRecord | None: ...

    async def merges(self, person: PersonId | None, limit: int) -> tuple[MergeRecord, ...]:
        """Newest first, undone ones too; of one person, or of everybody."""
        ...

    async def merge(self, number: int) -> MergeRecord | None: ...

    async def merged_for(self, reason: str) -> tuple[MergeRecord, ...]:
        """All changes of one reason, oldest first: what one decision of an admin moved."""
        ...
