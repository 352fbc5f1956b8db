"""`AccountStore` over SQL: parting, undoing, conflicts and leaving."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.conversation.errors import RejectedInput, ViewChanged
from bot.conversation.message import AccountKey
from bot.storage.sql.departing import SqlDeparting
from identity.model import Account, ConflictKind, Decision
from tests.integration.database_fixture import Stores, a_key, open_stores

PHONE, OTHER_PHONE = b"\x01" * 32, b"\x02" * 32
ADMIN = AccountKey(channel="onebot", app_id="10001", openid="1")
AUDIT = "SELECT actor, action, subject_person, reason FROM audit ORDER BY id"


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(tmp_path) as stores:
        yield stores


async def now(stores: Stores, account: Account) -> Account:
    found = await stores.accounts.find_account(account.key)
    assert found is not None
    return found


async def phones(stores: Stores) -> dict[bytes, int]:
    return dict(await stores.rows("SELECT phone_hash, person_id FROM phone_link"))


async def joined_pair(stores: Stores) -> tuple[Account, Account]:
    """Two accounts of one person: the second came to the first, and brought a phone."""
    owner, mover = await stores.account("o-owner", "union"), await stores.account("o-mover")
    await stores.accounts.link_phone(mover.id, PHONE, 1, "otp")
    mover = await stores.accounts.learn_unionid(mover.id, "union")
    return await now(stores, owner), mover


async def test_a_unionid_of_another_channel_is_another_id(stores: Stores) -> None:
    one = await stores.account("o-1", "union")
    qq = await stores.accounts.create_account(a_key("q-1", channel="qq"), "union")
    later = await stores.accounts.create_account(a_key("q-2", channel="qq"), "")
    assert qq.person != one.person
    assert (await stores.accounts.learn_unionid(later.id, "union")).person == qq.person


async def test_parting_gives_the_account_a_person_and_its_own_phone(stores: Stores) -> None:
    owner, mover = await joined_pair(stores)
    await stores.accounts.link_phone(owner.id, OTHER_PHONE, 1, "otp")
    parted = await stores.accounts.part(mover.id)
    stayed = await now(stores, owner)
    assert parted.person not in (owner.person, None)
    assert stayed.person == owner.person
    assert await phones(stores) == {PHONE: parted.person, OTHER_PHONE: owner.person}
    # Nobody reads a cache of the earlier view, and no answer made with it is stored.
    assert parted.epoch == stayed.epoch == owner.epoch + 1
    assert (await stores.rows(AUDIT))[-1] == ("wechat:wx1:o-mover", "part", parted.person, "unlink")
    # The unionid it has joins nobody again.
    assert (await stores.accounts.learn_unionid(parted.id, "union")).person == parted.person
    for number, (before, after) in enumerate(((mover, parted), (owner, stayed))):
        with pytest.raises(ViewChanged):
            await stores.turn(before, f"k-{number}")
        assert await stores.turn(after, f"k-{number}") is not None


async def test_who_is_alone_does_not_part(stores: Stores) -> None:
    account = await stores.account("o-li")
    assert await stores.accounts.part(account.id) == account
    assert await stores.rows("SELECT * FROM merge") == []


async def test_a_merge_is_undone_once(stores: Stores) -> None:
    owner, mover = await joined_pair(stores)
    (merge,) = await stores.accounts.merges(owner.person)
    assert (merge.account, merge.after, merge.reason, merge.is_undone) == (
        mover.id,
        owner.person,
        "unionid",
        False,
    )
    await stores.accounts.set_open(owner.id, is_open=True)
    back = await stores.accounts.undo_merge(merge.id, ADMIN)
    assert back is not None
    assert back.person == merge.before
    assert await phones(stores) == {PHONE: merge.before}
    assert back.epoch == (await now(stores, owner)).epoch > owner.epoch
    assert (await stores.rows(AUDIT))[-1] == (
        "onebot:10001:1",
        "undo-merge",
        back.person,
        f"merge {merge.id}",
    )
    (undone,) = await stores.accounts.merges(owner.person)
    assert undone.is_undone
    assert await stores.accounts.undo_merge(merge.id) is None
    assert await stores.accounts.undo_merge(999) is None
    assert (await now(stores, owner)).is_open


async def test_an_undone_parting_is_a_join_again(stores: Stores) -> None:
    owner, mover = await joined_pair(stores)
    parted = await stores.accounts.part(mover.id)
    for account in (owner, mover):
        await stores.accounts.set_open(account.id, is_open=True)
    (merge,) = await stores.accounts.merges(parted.person)
    back = await stores.accounts.undo_merge(merge.id)
    assert back is not None
    assert back.person == owner.person
    assert not back.is_open and not (await now(stores, owner)).is_open


async def test_only_the_last_change_of_an_account_is_undone(stores: Stores) -> None:
    owner, mover = await joined_pair(stores)
    (merge,) = await stores.accounts.merges(owner.person)
    parted = await stores.accounts.part(mover.id)
    with pytest.raises(RejectedInput, match="后来的"):
        await stores.accounts.undo_merge(merge.id)
    (parting,) = await stores.accounts.merges(parted.person)
    assert await stores.accounts.undo_merge(parting.id) is not None
    assert await stores.accounts.undo_merge(merge.id) is not None


async def two_phones(stores: Stores) -> tuple[Account, Account]:
    owner, mover = await stores.account("o-owner", "union"), await stores.account("o-mover")
    await stores.accounts.link_phone(owner.id, PHONE, 1, "otp")
    await stores.accounts.link_phone(mover.id, OTHER_PHONE, 1, "otp")
    return owner, mover


async def test_two_proven_phones_wait_for_a_decision(stores: Stores) -> None:
    owner, mover = await two_phones(stores)
    for _ in range(2):
        with pytest.raises(RejectedInput, match="管理员"):
            await stores.accounts.link_phone(mover.id, PHONE, 1, "otp")
    await stores.accounts.learn_unionid(mover.id, "union")
    (conflict,) = await stores.accounts.conflicts()
    assert (conflict.kind, conflict.first, conflict.second, conflict.account, conflict.detail) == (
        ConflictKind.PHONES,
        mover.person,
        owner.person,
        mover.id,
        "phone:otp",
    )
    assert (await now(stores, mover)).person == mover.person


async def test_an_admin_may_join_them_all_the_same(stores: Stores) -> None:
    owner, mover = await two_phones(stores)
    await stores.accounts.learn_unionid(mover.id, "union")
    (conflict,) = await stores.accounts.conflicts()
    assert await stores.accounts.decide(conflict.id, Decision.MERGE, ADMIN) == conflict
    assert (await now(stores, mover)).person == owner.person
    assert await phones(stores) == {PHONE: owner.person, OTHER_PHONE: owner.person}
    assert await stores.accounts.conflicts() == ()
    assert await stores.accounts.decide(conflict.id, Decision.KEEP, ADMIN) is None
    assert ("onebot:10001:1", "decide-conflict", mover.person, "merge") in await stores.rows(AUDIT)
    # As every merge, it can be taken back.
    (merge,) = await stores.accounts.merges(owner.person)
    back = await stores.accounts.undo_merge(merge.id)
    assert back is not None
    assert (await phones(stores))[OTHER_PHONE] == back.person == mover.person


async def test_who_was_kept_apart_is_not_asked_about_again(stores: Stores) -> None:
    owner, mover = await two_phones(stores)
    await stores.accounts.learn_unionid(mover.id, "union")
    (conflict,) = await stores.accounts.conflicts()
    await stores.accounts.decide(conflict.id, Decision.KEEP, ADMIN)
    with pytest.raises(RejectedInput):
        await stores.accounts.link_phone(mover.id, PHONE, 1, "otp")
    assert await stores.accounts.conflicts() == ()
    assert (await now(stores, mover)).person != owner.person


async def test_a_second_unionid_in_one_channel_is_a_conflict(stores: Stores) -> None:
    await stores.account("o-owner", "union")
    other, mover = await stores.account("o-other", "another"), await stores.account("o-mover")
    for account in (other, mover):
        await stores.accounts.link_phone(account.id, PHONE, 1, "otp")
    kept = await stores.accounts.learn_unionid(mover.id, "union")
    assert kept.person == other.person
    (conflict,) = await stores.accounts.conflicts()
    assert conflict.kind is ConflictKind.UNIONIDS


async def test_a_phone_does_not_bring_two_unionids_of_one_channel_together(stores: Stores) -> None:
    one, other = await stores.account("o-1", "union"), await stores.account("o-2", "another")
    await stores.accounts.link_phone(one.id, PHONE, 1, "import")
    with pytest.raises(RejectedInput):
        await stores.accounts.link_phone(other.id, PHONE, 1, "import")
    qq = await stores.accounts.create_account(a_key("q-1", channel="qq"), "another")
    assert (await stores.accounts.link_phone(qq.id, PHONE, 1, "import")).person == one.person
    assert [each.kind for each in await stores.accounts.conflicts()] == [ConflictKind.UNIONIDS]


async def test_a_conflict_follows_persons_that_join_others(stores: Stores) -> None:
    owner, mover = await two_phones(stores)
    await stores.accounts.learn_unionid(mover.id, "union")
    third = await stores.account("o-third")
    await stores.rows(f"UPDATE account SET unionid = 'third' WHERE id = {third.id}")
    await stores.rows("DELETE FROM phone_link")
    await stores.rows(f"UPDATE account SET unionid = '' WHERE id = {owner.id}")
    joined = await stores.accounts.learn_unionid(owner.id, "third")
    (conflict,) = await stores.accounts.conflicts()
    assert (conflict.first, conflict.second) == (mover.person, joined.person)
    await stores.accounts.decide(conflict.id, Decision.MERGE)
    assert (await now(stores, mover)).person == third.person


async def test_a_conflict_between_persons_that_joined_is_moot(stores: Stores) -> None:
    _, mover = await two_phones(stores)
    await stores.accounts.learn_unionid(mover.id, "union")
    await stores.rows("DELETE FROM phone_link")
    await stores.rows(f"UPDATE account SET unionid = '' WHERE id = {mover.id}")
    await stores.accounts.learn_unionid(mover.id, "union")
    assert await stores.accounts.conflicts() == ()


async def test_who_leaves_is_a_newcomer_with_every_account(stores: Stores) -> None:
    owner, mover = await joined_pair(stores)
    stranger = await stores.account("o-stranger")
    await stores.accounts.link_phone(stranger.id, OTHER_PHONE, 1, "otp")
    await stores.accounts.mark_greeted(owner.id)
    await stores.accounts.mark_greeted(stranger.id)
    await SqlDeparting(stores.database, stores.clock).depart(owner.person)
    left = [await now(stores, account) for account in (owner, mover)]
    assert len({account.person for account in (*left, owner)}) == 3
    assert [(each.unionid, each.is_greeted, each.is_open) for each in left] == [("", False, False)] * 2
    assert min(each.epoch for each in left) > owner.epoch
    assert await phones(stores) == {OTHER_PHONE: stranger.person}
    assert await stores.rows("SELECT * FROM merge") == []
    assert (await now(stores, stranger)).is_greeted
    # A turn of the newcomer is stored.
    assert await stores.turn(left[0], "k-1") is not None
