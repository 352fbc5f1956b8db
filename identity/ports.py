"""What identity needs from the store."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from bot.conversation.message import AccountKey
from bot.conversation.scope import AccountId, PersonId
from identity.model import Account, CodeLimits, Conflict, Decision, LinkOutcome, Merge, Sending
from identity.phone import PhoneHash


class AccountStore(Protocol):
    async def find_account(self, key: AccountKey) -> Account | None: ...

    async def create_account(self, key: AccountKey, unionid: str) -> Account:
        """First contact: a new account joins the person of an account of its channel with the same
        non-empty unionid, else a new person. Idempotent: an account that exists is returned."""
        ...

    async def learn_unionid(self, account: AccountId, unionid: str) -> Account:
        """Note a unionid and join the person who has it in this channel, unless a conflict stands against
        it, which is noted. Refuses "" and never replaces another."""
        ...

    async def mark_greeted(self, account: AccountId) -> None: ...

    async def set_open(self, account: AccountId, *, is_open: bool) -> None:
        """See `Account.is_open`. Joining persons and clearing one's memory close it again."""
        ...

    async def link_phone(
        self, account: AccountId, phone_hash: bytes, key_version: int, verified_by: str
    ) -> Account:
        """Note a proven phone and join the person who has it. Where both have phones of their own, or
        two unionids in one channel, a conflict is noted instead (RejectedInput)."""
        ...

    async def part(self, account: AccountId) -> Account:
        """Into a person of its own, with its memory and the phones it proved itself. Facts that only one
        side had contradicted open again on the other. One that is alone stays as it is."""
        ...

    async def merges(self, person: PersonId) -> tuple[Merge, ...]:
        """Accounts that came to this person or went from it, oldest first, undone ones too."""
        ...

    async def undo_merge(self, merge: int, actor: AccountKey | None = None) -> Account | None:
        """Put an account back where it was before. None: no such merge, or undone already.

        Raises RejectedInput when the account changed persons once more since.
        """
        ...

    async def conflicts(self) -> tuple[Conflict, ...]:
        """Those that wait for a decision, oldest first."""
        ...

    async def decide(
        self, conflict: int, decision: Decision, actor: AccountKey | None = None
    ) -> Conflict | None:
        """Join the two persons, or keep them apart for good. None: no such conflict, or decided already."""
        ...

    async def accounts_of(self, person: PersonId) -> tuple[Account, ...]: ...

    async def find_by_unionid(self, channel: str, unionid: str) -> Account | None:
        """The oldest account of a channel with a unionid. "" matches nothing."""
        ...

    async def has_phone(self, person: PersonId) -> bool: ...

    async def accounts_in(self, place: str) -> tuple[Account, ...]:
        """Everybody with memory in a place (`Conversation.place`), a group's own account too."""
        ...

    async def find_accounts(self, word: str, phone_hash: bytes | None, limit: int) -> tuple[Account, ...]:
        """Accounts whose openid contains `word` or whose person has that phone. For superusers."""
        ...

    async def superusers(self) -> Sequence[tuple[str, str, str]]:
        """Claimed authority: (channel, app_id, openid)."""
        ...

    async def claim_superuser(self, key: AccountKey, code_hash: bytes) -> bool:
        """Spend the one-time claim code, if `code_hash` is the one outstanding. Audited."""
        ...

    async def issue_claim_code(self, code_hash: bytes) -> bool:
        """Note the code printed at first start. False if one was ever issued before."""
        ...


class PhoneStore(Protocol):
    """What a change of the pepper needs."""

    async def renew(self, hashes: Sequence[PhoneHash]) -> None:
        """A number was seen: the links it has under older peppers go over to the first of `hashes`. Where that
        is another person's already, the two join, or a conflict is noted."""
        ...


class LinkStore(Protocol):
    """Codes that link accounts. Each call is one transaction; the times are the caller's."""

    async def issue(
        self,
        account: AccountId,
        code_hash: bytes,
        *,
        now: datetime,
        expires_at: datetime,
        counted_since: datetime,
        most: int,
    ) -> bool:
        """Note a code, in place of the account's earlier one. False: `most` were issued since then, or the
        very code is taken."""
        ...

    async def enter(
        self,
        account: AccountId,
        code_hash: bytes,
        *,
        now: datetime,
        expires_at: datetime,
        tries_since: datetime,
        most_tries: int,
    ) -> Account | None:
        """Note who entered a code, once, and who issued it. None for a code that is not good for this account,
        which counts as a try, and for any code when `most_tries` were counted since then."""
        ...

    async def show(self, account: AccountId, now: datetime) -> Account | None:
        """Who entered this account's code; notes that it was told."""
        ...

    async def confirm(self, account: AccountId, now: datetime) -> tuple[LinkOutcome, Account | None]:
        """Spend an entered code that was shown. Audited, and in `merge` as each join."""
        ...

    async def refuse(self, account: AccountId, now: datetime) -> bool: ...


class PhoneCodeStore(Protocol):
    """Codes that prove phones, one of an account. Each call is one transaction; the times are the caller's."""

    async def issue(
        self,
        account: AccountId,
        phone: Sequence[PhoneHash],
        code_hash: bytes,
        *,
        now: datetime,
        expires_at: datetime,
        limits: CodeLimits,
    ) -> bool:
        """Note a code, in place of the account's earlier one, and count it. `phone`: its hashes, the first as it
        is to be linked. False, and nothing is noted: that would be more than `limits`."""
        ...

    async def take_back(
        self, account: AccountId, code_hash: bytes, *, now: datetime, is_phone_counted: bool
    ) -> None:
        """The code did not leave: drop it, and count it for the account no more; nor for the phone, unless it
        may have reached it all the same."""
        ...

    async def spend(
        self, account: AccountId, code_hash: bytes, *, now: datetime, most_tries: int
    ) -> PhoneHash | None:
        """Whose code it is; it is gone then. None for any other, which counts as a try, and for any at all after
        `most_tries`."""
        ...

    async def open_until(self, now: datetime) -> Sequence[tuple[AccountKey, datetime]]:
        """The accounts whose code is not over, and when it will be."""
        ...

    async def forget_overdue(self, now: datetime, counted_since: datetime) -> None:
        """Codes that are over, and what no limit counts any more."""
        ...


class CodeSender(Protocol):
    """How a code gets to a phone."""

    async def send(self, phone: str, code: str, minutes: int) -> Sending:
        """`phone`: in E.164 form. `minutes`: how long the code is good. Within its own deadline; never raises
        for trouble on the way."""
        ...


class PhonePort(Protocol):
    """The phone that a person of a mini-program let it have."""

    async def phone_of(self, phone_code: str) -> str | None:
        """In E.164 form. None: the platform does not take the code (unknown, used, too old, another's).

        Raises PlatformUnavailable.
        """
        ...


class LoginPort(Protocol):
    """Who logged in to a mini-program."""

    async def unionid_of(self, login_code: str) -> str | None:
        """ "" where the platform tells none: the mini-program is not bound together with the accounts. None: it
        does not take the code.

        Raises PlatformUnavailable.
        """
        ...
