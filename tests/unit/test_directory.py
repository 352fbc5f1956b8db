"""The directory: first contact once, unionids learnt, phones only with proof."""

import asyncio
from dataclasses import replace

import pytest

from bot.conversation.errors import RejectedInput
from bot.conversation.message import AccountKey
from bot.conversation.scope import AccountId, PersonId
from identity.directory import Directory, Proof
from identity.model import Account
from identity.phone import PhoneHasher

HASHER = PhoneHasher(b"p" * 32, key_version=3)


def key(openid: str, app_id: str = "wx1") -> AccountKey:
    return AccountKey(channel="wechat", app_id=app_id, openid=openid)


class Accounts:
    """The part of `AccountStore` the directory calls. Every call yields, so that calls interleave."""

    def __init__(self) -> None:
        self.by_key: dict[AccountKey, Account] = {}
        self.creations = 0
        self.learnt: list[tuple[AccountId, str]] = []
        self.phones: list[tuple[AccountId, bytes, int, str]] = []
        self.searches: list[tuple[str, bytes | None, int]] = []

    async def find_account(self, key: AccountKey) -> Account | None:
        await asyncio.sleep(0)
        return self.by_key.get(key)

    async def create_account(self, key: AccountKey, unionid: str) -> Account:
        await asyncio.sleep(0)
        if key not in self.by_key:
            self.creations += 1
            number = len(self.by_key) + 1
            self.by_key[key] = Account(
                id=AccountId(number),
                key=key,
                unionid=unionid,
                person=PersonId(number),
                epoch=0,
                is_greeted=False,
            )
        return self.by_key[key]

    async def learn_unionid(self, account: AccountId, unionid: str) -> Account:
        assert unionid
        self.learnt.append((account, unionid))
        known = next(known for known in self.by_key.values() if known.id == account)
        self.by_key[known.key] = replace(known, unionid=unionid)
        return self.by_key[known.key]

    async def link_phone(
        self, account: AccountId, phone_hash: bytes, key_version: int, verified_by: str
    ) -> Account:
        self.phones.append((account, phone_hash, key_version, verified_by))
        return next(known for known in self.by_key.values() if known.id == account)

    async def find_accounts(self, word: str, phone_hash: bytes | None, limit: int) -> tuple[Account, ...]:
        self.searches.append((word, phone_hash, limit))
        return ()


@pytest.fixture
def accounts() -> Accounts:
    return Accounts()


@pytest.fixture
def directory(accounts: Accounts) -> Directory:
    return Directory(accounts, HASHER)  # pyright: ignore[reportArgumentType]


async def test_first_contact_makes_an_account_and_later_ones_find_it(
    directory: Directory, accounts: Accounts
) -> None:
    first = await directory.identify(key("oA"))
    assert await directory.identify(key("oA")) == first
    assert accounts.creations == 1


async def test_two_first_messages_at_once_are_one_person(directory: Directory, accounts: Accounts) -> None:
    first, second = await asyncio.gather(directory.identify(key("oA")), directory.identify(key("oA")))
    assert first == second
    assert accounts.creations == 1


async def test_the_same_openid_of_another_app_is_somebody_else(directory: Directory) -> None:
    assert (await directory.identify(key("oA"))).person != (await directory.identify(key("oA", "wx2"))).person


async def test_a_unionid_is_learnt_once(directory: Directory, accounts: Accounts) -> None:
    account = await directory.identify(key("oA"))
    assert (await directory.identify(key("oA"), "u1")).unionid == "u1"
    await directory.identify(key("oA"), "u1")
    assert accounts.learnt == [(account.id, "u1")]


async def test_a_unionid_is_never_replaced(directory: Directory, accounts: Accounts) -> None:
    await directory.identify(key("oA"), "u1")
    assert (await directory.identify(key("oA"), "u2")).unionid == "u1"
    assert accounts.learnt == []


async def test_an_empty_unionid_is_nothing_to_learn(directory: Directory, accounts: Accounts) -> None:
    await directory.identify(key("oA"))
    await directory.identify(key("oA"), "")
    assert accounts.learnt == []


async def test_anonymous_people_have_no_account(directory: Directory, accounts: Accounts) -> None:
    with pytest.raises(RejectedInput):
        await directory.identify(key(""))
    assert accounts.creations == 0


async def test_a_proven_phone_reaches_the_store_as_a_hash_only(
    directory: Directory, accounts: Accounts
) -> None:
    account = await directory.identify(key("oA"))
    await directory.prove_phone(account, "138 0013 8000", Proof.IMPORT)
    assert accounts.phones == [(account.id, HASHER.hash("13800138000"), 3, "import")]


async def test_what_is_no_phone_proves_nothing(directory: Directory, accounts: Accounts) -> None:
    account = await directory.identify(key("oA"))
    with pytest.raises(RejectedInput):
        await directory.prove_phone(account, "12345", Proof.CODE)
    assert accounts.phones == []


async def test_finding_by_openid_or_phone(directory: Directory, accounts: Accounts) -> None:
    await directory.find(" oA1 ", 5)
    await directory.find("13800138000", 5)
    assert accounts.searches == [
        ("oA1", None, 5),
        ("13800138000", HASHER.hash("13800138000"), 5),
    ]


async def test_an_empty_word_finds_nobody(directory: Directory, accounts: Accounts) -> None:
    assert await directory.find("  ", 5) == ()
    assert accounts.searches == []
