"""`AccountStore` over SQL: who joins whom, and what is written down about it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.conversation.errors import RejectedInput
from bot.conversation.message import AccountKey
from bot.storage.sql.exporting import export_person
from identity.model import Account
from tests.integration.database_fixture import Stores, a_key, open_stores

AUDIT = "SELECT actor, action, subject_person, reason FROM audit ORDER BY id"
PHONE = b"\x01" * 32
OTHER_PHONE = b"\x02" * 32


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(tmp_path) as stores:
        yield stores


async def now(stores: Stores, account: Account) -> Account:
    found = await stores.accounts.find_account(account.key)
    assert found is not None
    return found


async def test_first_contact_makes_an_account_and_a_person_once(stores: Stores) -> None:
    assert await stores.accounts.find_account(a_key("o-li")) is None
    made = await asyncio.gather(*(stores.account("o-li") for _ in range(5)))
    assert set(made) == {await now(stores, made[0])}
    assert await stores.rows("SELECT count(*) FROM person") == [(1,)]
    assert (made[0].key, made[0].is_greeted, made[0].unionid) == (a_key("o-li"), False, "")


@pytest.mark.parametrize("key", [a_key("o-li", channel="onebot"), a_key("o-li", app_id="wx2"), a_key("O-LI")])
async def test_an_openid_is_only_unique_within_its_app(stores: Stores, key: AccountKey) -> None:
    one, other = await stores.account("o-li"), await stores.accounts.create_account(key, "")
    assert one.person != other.person


async def test_a_new_account_joins_by_unionid(stores: Stores) -> None:
    one = await stores.account("o-1", "union")
    two = await stores.accounts.create_account(a_key("o-2", app_id="wx2"), "union")
    assert (two.person, two.epoch) == (one.person, one.epoch)
    assert await stores.accounts.accounts_of(one.person) == (one, two)
    assert await stores.rows(AUDIT) == [("wechat:wx2:o-2", "join", one.person, "unionid")]


async def test_empty_unionids_match_nobody(stores: Stores) -> None:
    accounts = [await stores.account(f"o-{number}") for number in range(3)]
    assert len({account.person for account in accounts}) == 3
    assert await stores.accounts.learn_unionid(accounts[0].id, "") == accounts[0]
    assert await stores.rows(AUDIT) == []


async def test_learning_a_unionid_moves_every_account_of_the_person(stores: Stores) -> None:
    owner = await stores.account("o-owner", "union")
    mover = await stores.account("o-mover")
    await stores.accounts.link_phone(mover.id, PHONE, 1, "otp")
    beside = await stores.account("o-beside")
    await stores.accounts.link_phone(beside.id, PHONE, 1, "otp")
    await stores.rows("DELETE FROM audit")
    joined = await stores.accounts.learn_unionid(mover.id, "union")
    assert (joined.person, joined.unionid) == (owner.person, "union")
    persons = {(await now(stores, account)).person for account in (owner, mover, beside)}
    assert persons == {owner.person}
    assert await stores.rows("SELECT DISTINCT person_id FROM phone_link") == [(owner.person,)]
    assert await stores.rows(AUDIT) == [("wechat:wx1:o-mover", "join", owner.person, "unionid")]
    assert await stores.rows("SELECT detail FROM audit") == [(f"自身份 {mover.person}，账号 2 个",)]
    assert await stores.accounts.accounts_of(mover.person) == ()
    merges = [(each.account, each.before, each.after) for each in await stores.accounts.merges(owner.person)]
    assert merges == [(each.id, mover.person, owner.person) for each in (mover, beside)]


async def test_the_epoch_after_joining_lies_above_both(stores: Stores) -> None:
    """So that no cache of either view is read again; and ids of persons are never given again."""
    owner, mover = await stores.account("o-owner", "union"), await stores.account("o-mover")
    for _ in range(3):
        await stores.clear(mover)
    joined = await stores.accounts.learn_unionid(mover.id, "union")
    assert joined.epoch == 4
    assert (await now(stores, owner)).epoch == 4
    newcomer = await stores.account("o-new")
    assert newcomer.person > mover.person


async def test_a_unionid_is_never_replaced(stores: Stores) -> None:
    other = await stores.account("o-other", "other")
    account = await stores.account("o-li", "union")
    assert await stores.accounts.learn_unionid(account.id, "other") == account
    assert (await now(stores, account)).person != other.person


async def test_a_unionid_nobody_has_is_only_noted(stores: Stores) -> None:
    account = await stores.account("o-li")
    learnt = await stores.accounts.learn_unionid(account.id, "union")
    assert (learnt.unionid, learnt.person, learnt.epoch) == ("union", account.person, account.epoch)
    assert (await stores.account("o-2", "union")).person == account.person


async def test_two_persons_with_phones_of_their_own_stay_apart(stores: Stores) -> None:
    owner, mover = await stores.account("o-owner", "union"), await stores.account("o-mover")
    await stores.accounts.link_phone(owner.id, PHONE, 1, "otp")
    await stores.accounts.link_phone(mover.id, OTHER_PHONE, 1, "otp")
    with pytest.raises(RejectedInput, match="手机号"):
        await stores.accounts.link_phone(mover.id, PHONE, 1, "otp")
    kept = await stores.accounts.learn_unionid(mover.id, "union")
    assert (kept.person, kept.unionid) == (mover.person, "union")
    actions = [row[1] for row in await stores.rows(AUDIT)]
    assert actions == ["link-phone", "link-phone", "join-refused"]


async def test_a_proven_phone_joins(stores: Stores) -> None:
    owner, mover = await stores.account("o-owner"), await stores.account("o-mover")
    assert (await stores.accounts.link_phone(owner.id, PHONE, 1, "otp")).person == owner.person
    joined = await stores.accounts.link_phone(mover.id, PHONE, 1, "otp")
    assert joined.person == owner.person
    assert await stores.accounts.link_phone(mover.id, PHONE, 1, "otp") == joined
    assert await stores.rows(AUDIT) == [
        ("wechat:wx1:o-owner", "link-phone", owner.person, "otp"),
        ("wechat:wx1:o-mover", "join", owner.person, "phone:otp"),
    ]


async def test_another_key_version_is_another_hash(stores: Stores) -> None:
    owner, other = await stores.account("o-owner"), await stores.account("o-other")
    await stores.accounts.link_phone(owner.id, PHONE, 1, "otp")
    assert (await stores.accounts.link_phone(other.id, PHONE, 2, "otp")).person == other.person


async def test_accounts_are_found_by_part_of_an_openid_or_by_phone(stores: Stores) -> None:
    li, wang = await stores.account("o-li_100%"), await stores.account("o-wang")
    await stores.accounts.link_phone(wang.id, PHONE, 1, "otp")
    find = stores.accounts.find_accounts
    assert await find("li", None, 10) == (li,)
    assert await find("%", None, 10) == (li,)
    assert await find("o-", None, 10) == (li, await now(stores, wang))
    assert await find("o-", None, 1) == (li,)
    assert await find("13800138000", PHONE, 10) == (wang,)
    assert await find("", None, 10) == ()


async def test_greeting_is_noted(stores: Stores) -> None:
    account, other = await stores.account("o-li"), await stores.account("o-wang")
    await stores.accounts.mark_greeted(account.id)
    assert (await now(stores, account)).is_greeted
    assert not (await now(stores, other)).is_greeted


async def test_the_claim_code_is_issued_once_and_spent_once(stores: Stores) -> None:
    assert await stores.accounts.issue_claim_code(b"code")
    assert not await stores.accounts.issue_claim_code(b"another")
    keys = [a_key(f"o-{number}") for number in range(4)]
    assert not await stores.accounts.claim_superuser(keys[0], b"guess")
    assert not await stores.accounts.claim_superuser(keys[0], b"another")
    for app_id in ("playground", "playground-service"):
        assert not await stores.accounts.claim_superuser(a_key("o-0", app_id=app_id), b"code")
    claimed = await asyncio.gather(*(stores.accounts.claim_superuser(key, b"code") for key in keys))
    assert claimed == [True, False, False, False]
    assert list(await stores.accounts.superusers()) == [("wechat", "wx1", "o-0")]
    assert await stores.rows(AUDIT) == [("wechat:wx1:o-0", "claim-superuser", None, "claim code")]
    assert not await stores.accounts.issue_claim_code(b"third")


async def test_opening_is_noted_of_one_account_alone(stores: Stores) -> None:
    one, other = await stores.account("o-1", "union"), await stores.account("o-2", "union")
    assert not one.is_open
    await stores.accounts.set_open(one.id, is_open=True)
    opened = await now(stores, one)
    assert opened.is_open and opened.epoch == one.epoch
    assert await stores.accounts.accounts_of(one.person) == (opened, other)
    await stores.accounts.set_open(one.id, is_open=False)
    assert await now(stores, one) == one


@pytest.mark.parametrize("joiner", ["owner", "mover"])
async def test_joining_closes_what_was_opened_before(stores: Stores, joiner: str) -> None:
    """Who opened their memory did not know of what the other account brings."""
    owner, mover = await stores.account("o-owner", "union"), await stores.account("o-mover")
    stranger = await stores.account("o-other")
    for account in (owner if joiner == "owner" else mover, stranger):
        await stores.accounts.set_open(account.id, is_open=True)
    joined = await stores.accounts.learn_unionid(mover.id, "union")
    assert not joined.is_open and not (await now(stores, owner)).is_open
    assert (await now(stores, stranger)).is_open


async def test_an_export_says_which_accounts_are_open(stores: Stores) -> None:
    one, _ = await stores.account("o-1", "union"), await stores.account("o-2", "union")
    await stores.accounts.set_open(one.id, is_open=True)
    document = await export_person(stores.database, one.person)
    opened = {each["openid"]: each["is_open_in_groups"] for each in document["accounts"]}
    assert opened == {"o-1": True, "o-2": False}
