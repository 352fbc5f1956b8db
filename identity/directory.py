"""The directory: whose account this is.

Invariant: an account joins a person only by a non-empty unionid, or by a phone that was proven; an
empty id matches nothing, and no id that an account has is ever replaced.
"""

from enum import StrEnum

from bot.conversation.errors import RejectedInput
from bot.conversation.message import AccountKey, Conversation
from identity.model import Account
from identity.phone import PhoneHasher
from identity.ports import AccountStore

GROUP_CHANNEL = "{channel}_group"
"""The channel of the account that stands for a group itself. No platform's events come from such a channel,
so nobody can write as a group, whatever ids they have."""


class Proof(StrEnum):
    """How a phone was proven. A number a person merely types proves nothing."""

    CODE = "code"
    """A one-time code sent to the phone came back."""
    IMPORT = "import"
    """The operator's own customer list says so."""
    MINI_PROGRAM = "mini_program"
    """The platform's phone API said so."""


class Directory:
    """Accounts and the persons they belong to."""

    def __init__(self, store: AccountStore, phone_hasher: PhoneHasher) -> None:
        self._store = store
        self._phone_hasher = phone_hasher

    async def identify(self, key: AccountKey, unionid: str = "") -> Account:
        """The account with this key, made at first contact, with its person as of now.

        Idempotent, and safe when two messages of a newcomer arrive at once. A unionid the account did
        not have is learnt, which may join it to another person; a differing one is ignored.

        Raises:
            RejectedInput: the key has no openid: anonymous people have no account.
        """
        if not key.openid:
            raise RejectedInput("匿名消息没有账号，请取消匿名后再发")
        account = await self._store.find_account(key)
        if account is None:
            account = await self._store.create_account(key, unionid)
        if unionid and not account.unionid:
            account = await self._store.learn_unionid(account.id, unionid)
        return account

    async def group(self, conversation: Conversation) -> Account:
        """The account that stands for a group itself: 群公共记忆 is its memory. Made at first."""
        return await self.identify(key_of_group(conversation))

    async def known_group(self, conversation: Conversation) -> Account | None:
        """As `group`, without making one: None while nothing was written for the group."""
        return await self._store.find_account(key_of_group(conversation))

    async def prove_phone(self, account: Account, phone: str, verified_by: Proof) -> Account:
        """Note a proven phone; the account joins the person who has it already.

        Raises:
            RejectedInput: not a phone number, or it would merge persons with different proven phones.
        """
        return await self._store.link_phone(
            account.id, self._phone_hasher.hash(phone), self._phone_hasher.key_version, verified_by.value
        )

    async def find(self, word: str, limit: int) -> tuple[Account, ...]:
        """Accounts by part of an openid or by a whole phone number. For superusers only."""
        if not word.strip():
            return ()
        try:
            phone_hash = self._phone_hasher.hash(word)
        except RejectedInput:
            phone_hash = None
        return await self._store.find_accounts(word.strip(), phone_hash, limit)


def key_of_group(conversation: Conversation) -> AccountKey:
    """Of the account that stands for a group."""
    channel = GROUP_CHANNEL.format(channel=conversation.channel)
    return AccountKey(channel=channel, app_id=conversation.app_id, openid=conversation.group)
