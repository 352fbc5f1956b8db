"""Account and Person."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.conversation.message import AccountKey
from bot.conversation.scope import AccountId, PersonId, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One account and the person it belongs to, as of now."""

    id: AccountId
    key: AccountKey
    unionid: str
    person: PersonId
    epoch: int
    """The person's."""
    is_greeted: bool
    """The first-contact notice has been given."""
    is_open: bool = False
    """Its person lets their private memory be recalled where this account speaks in a group."""

    def scope(self, place: str) -> Scope:
        """This account's scope in a place (`Conversation.place`)."""
        return Scope(person=self.person, account=self.id, epoch=self.epoch, place=place)


class ConflictKind(StrEnum):
    """Why two persons do not join by themselves."""

    PHONES = "phones"
    """Each has a proven phone of its own."""
    UNIONIDS = "unionids"
    """Joined, they would have two unionids in one channel."""


class Decision(StrEnum):
    """What an admin says of a conflict."""

    MERGE = "merge"
    KEEP = "keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two persons that wait for an admin's decision."""

    id: int
    kind: ConflictKind
    first: PersonId
    second: PersonId
    account: AccountId
    """The account of the first that would have joined the second."""
    detail: str
    """What would have joined them: `unionid`, `phone:…`, `code`."""
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """One account that went from one person to another."""

    id: int
    account: AccountId
    before: PersonId
    after: PersonId
    reason: str
    at: datetime
    is_undone: bool


class LinkOutcome(StrEnum):
    """What confirming a code came to."""

    NOTHING = "nothing"
    """Nobody entered one, or too long ago."""
    UNSEEN = "unseen"
    """Somebody did, and is named now: to be confirmed once more."""
    LINKED = "linked"
    CONFLICT = "conflict"
    """Both persons have proven phones: an admin decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeLimits:
    """How many codes may be asked for, each with the moment from which they are counted."""

    of_account: int
    of_account_since: datetime
    of_phone: int
    of_phone_since: datetime
    of_phone_a_day: int
    day_since: datetime


class Sending(StrEnum):
    """What became of a code that was to go to a phone."""

    SENT = "sent"
    REFUSED = "refused"
    """Certainly not sent."""
    UNKNOWN = "unknown"
    """It went out, and nobody said whether it arrived."""
