"""What identity needs from the store."""

from collections.abc import Sequence
from typing import Protocol

from bot.conversation.message import AccountKey
from bot.conversation.scope import AccountId, PersonId
from identity.model import Account


class AccountStore(Protocol):
    async def find_account(self, key: AccountKey) -> Account | None: ...

    async def create_account(self, key: AccountKey, unionid: str) -> Account:
        """First contact: a new account joins the person of an account with the same non-empty
        unionid, else a new person. Idempotent: an account that exists is returned."""
        ...

    async def learn_unionid(self, account: AccountId, unionid: str) -> Account:
        """Note a unionid and join the person who has it. Refuses "" and never replaces another."""
        ...

    async def mark_greeted(self, account: AccountId) -> None: ...

    async def set_open(self, account: AccountId, *, is_open: bool) -> None:
        """See `Account.is_open`. Joining persons and clearing one's memory close it again."""
        ...

    async def link_phone(
        self, account: AccountId, phone_hash: bytes, key_version: int, verified_by: str
    ) -> Account:
        """Note a proven phone and join the person who has it, unless that person has another
        proven phone of their own (RejectedInput)."""
        ...

    async def accounts_of(self, person: PersonId) -> tuple[Account, ...]: ...

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
