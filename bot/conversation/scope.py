"""Whose memory, and where: the `Scope` that every call into a memory store takes.

Invariant: no store can be asked about memory without one, so no query can forget to isolate.
"""

from dataclasses import dataclass
from typing import NewType

PersonId = NewType("PersonId", int)
AccountId = NewType("AccountId", int)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """One person's memory in one place, as of one epoch.

    Reading covers every account of the person in that place. Writing goes to `account`, so that
    unlinking an account takes exactly its own memory along.
    """

    person: PersonId
    account: AccountId
    epoch: int
    """Raised by each clearing. Work carrying an older epoch is dropped by the stores."""
    place: str = ""
    """`Conversation.place`: "" is private, anything else is (person, group)."""
