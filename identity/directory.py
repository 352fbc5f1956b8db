"""The directory: whose account this is.

Invariant: an account joins a person only by a non-empty unionid, or by a phone that was proven; an
empty id matches nothing, and no id that an account has is ever replaced.
"""

from enum import StrEnum

from bot.conversation.errors import RejectedInput
from bot.conversation.message import AccountKey, Conversation
from identity.model import Account
from identity.phone import PhoneHash, PhoneKeys
from identity.ports import AccountStore, PhoneStore

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

    def __init__(
        self, store: AccountStore, phone_keys: PhoneKeys, phone_store: PhoneStore | None = None
    ) -> None:
        """`phone_store`: needed where `phone_keys` may change."""
        self._store = store
        self._phone_keys = phone_keys
        self._phone_store = phone_store

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
        while True:
            current = await self.hash_of(phone)
            linked = await self.prove_hash(account, current, verified_by)
            # Where the pepper changed meanwhile, the link may be under a key that nobody else looks with.
            if self._phone_keys.current().key_version == current.version:
                return linked

    async def hash_of(self, phone: str) -> PhoneHash:
        """As it is linked. The number was seen: links it has under older peppers are renewed.

        Raises RejectedInput: not a phone number.
        """
        current, *older = hashes = self._phone_keys.current().hashes(phone)
        if older and self._phone_store is not None:
            await self._phone_store.renew(hashes)
        return current

    async def prove_hash(self, account: Account, phone: PhoneHash, verified_by: Proof) -> Account:
        """As `prove_phone`, of a number that is known by its hash alone.

        Raises RejectedInput: it would merge persons with different proven phones.
        """
        return await self._store.link_phone(account.id, phone.digest, phone.version, verified_by.value)

    async def by_unionid(self, channel: str, unionid: str) -> Account | None:
        """ "" matches nobody."""
        return await self._store.find_by_unionid(channel, unionid) if unionid else None

    async def find(self, word: str, limit: int) -> tuple[Account, ...]:
        """Accounts by part of an openid or by a whole phone number. For superusers only."""
        if not word.strip():
            return ()
        while True:
            hasher = self._phone_keys.current()
            digests: list[bytes | None]
            try:
                # The oldest first: a link that is renewed meanwhile goes where is looked last.
                digests = [each.digest for each in reversed(hasher.hashes(word))]
            except RejectedInput:
                digests = [None]
            found: dict[int, Account] = {}
            for digest in digests:
                accounts = await self._store.find_accounts(word.strip(), digest, limit)
                found |= {each.id: each for each in accounts}
            if self._phone_keys.current().key_version == hasher.key_version:
                break
        return tuple(found[number] for number in sorted(found))[:limit]


def stands_for_group(key: AccountKey) -> bool:
    """Rather than for somebody."""
    return key.channel.endswith(GROUP_CHANNEL.format(channel=""))


def key_of_group(conversation: Conversation) -> AccountKey:
    """Of the account that stands for a group."""
    channel = GROUP_CHANNEL.format(channel=conversation.channel)
    return AccountKey(channel=channel, app_id=conversation.app_id, openid=conversation.group)
