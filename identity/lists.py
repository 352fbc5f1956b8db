"""Lists that an operator hands in: customers with their phones, and openids that a platform changed."""

from dataclasses import dataclass
from enum import StrEnum

from bot.conversation.message import AccountKey
from identity.phone import PhoneHash


class Linked(StrEnum):
    """What came of one row."""

    NEW = "new"
    KNOWN = "known"
    """It was so before."""
    JOINED = "joined"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True, kw_only=True)
class PhoneRow:
    """A line of the operator's list."""

    line: int
    key: AccountKey
    hashes: tuple[PhoneHash, ...]


class Moved(StrEnum):
    """What came of one pair."""

    RENAMED = "renamed"
    JOINED = "joined"
    CONFLICT = "conflict"
    DONE = "done"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenidPair:
    """As WeChat lists them."""

    before: str
    after: str
