"""`LinkStore` over SQL, and the limits of `Linking` over it."""

import hmac
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.conversation.message import PLAYGROUND, AccountKey
from identity.linking import CODES_AN_HOUR, WRONG_TRIES, Linking
from identity.model import Account, ConflictKind, LinkOutcome
from tests.integration.database_fixture import Stores, a_key, open_stores

AUDIT = "SELECT actor, action, reason FROM audit ORDER BY id"


@dataclass
class Scene:
    stores: Stores
    linking: Linking
    first: Account
    other: Account
    """On another channel, the account that is to be linked."""

    async def code(self, account: Account | None = None) -> str:
        code = await self.linking.issue(account or self.first)
        assert code is not None
        return code

    async def now(self, account: Account) -> Account:
        found = await self.stores.accounts.find_account(account.key)
        assert found is not None
        return found

    async def are_linked(self) -> bool:
        return (await self.now(self.first)).person == (await self.now(self.other)).person


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with open_stores(tmp_path) as stores:
        linking = Linking(
            stores.link_codes, lambda text: hmac.digest(b"p" * 32, text, "sha256"), stores.clock
        )
        other = await stores.accounts.create_account(a_key("20001", channel="onebot", app_id="10001"), "")
        yield Scene(stores=stores, linking=linking, first=await stores.account("o-li"), other=other)


async def test_a_code_links_once_it_was_shown_and_confirmed(scene: Scene) -> None:
    code = await scene.code()
    assert len(code) == 6
    typed = f" {code[:3].lower()}-{code[3:]} "
    assert await scene.linking.enter(scene.other, typed) == scene.first
    assert await scene.linking.confirm(scene.first) == (LinkOutcome.UNSEEN, scene.other)
    assert not await scene.are_linked()
    outcome, who = await scene.linking.confirm(scene.first)
    assert (outcome, who and who.key) == (LinkOutcome.LINKED, scene.other.key)
    assert await scene.are_linked()
    (merge,) = await scene.stores.accounts.merges(scene.first.person)
    assert (merge.account, merge.before, merge.reason) == (scene.other.id, scene.other.person, "code")
    assert await scene.stores.rows(AUDIT) == [("onebot:10001:20001", "join", "code")]
    # It is spent.
    assert await scene.linking.confirm(scene.first) == (LinkOutcome.NOTHING, None)
    third = await scene.stores.account("o-third")
    assert await scene.linking.enter(third, code) is None


async def test_all_accounts_of_who_entered_it_come_along(scene: Scene) -> None:
    beside = await scene.stores.accounts.create_account(a_key("20002", channel="onebot"), "")
    for account in (scene.other, beside):
        await scene.stores.accounts.link_phone(account.id, b"\x01" * 32, 1, "otp")
    await scene.linking.enter(await scene.now(scene.other), await scene.code())
    assert await scene.linking.entered_by(scene.first)
    await scene.linking.confirm(scene.first)
    persons = {(await scene.now(each)).person for each in (scene.first, scene.other, beside)}
    assert persons == {scene.first.person}


async def test_nothing_of_a_code_is_stored_as_it_is(scene: Scene) -> None:
    code = await scene.code()
    (row,) = await scene.stores.rows("SELECT code_hash FROM link_code")
    assert row[0] != code.encode()
    assert len(row[0]) == 32
    assert code.encode() not in scene.stores.database.path.read_bytes()


async def test_a_code_is_entered_once(scene: Scene) -> None:
    code = await scene.code()
    thief = await scene.stores.account("o-thief")
    assert await scene.linking.enter(thief, code) == scene.first
    assert await scene.linking.enter(scene.other, code) is None
    # And the account that issued it sees who came first.
    assert await scene.linking.entered_by(scene.first) == thief
    assert await scene.linking.refuse(scene.first)
    assert await scene.linking.confirm(scene.first) == (LinkOutcome.NOTHING, None)
    assert not await scene.linking.refuse(scene.first)


async def test_a_code_lasts_five_minutes_and_its_entry_as_long(scene: Scene) -> None:
    late = await scene.code()
    scene.stores.clock.step(minutes=5)
    assert await scene.linking.enter(scene.other, late) is None
    code = await scene.code()
    scene.stores.clock.step(minutes=4)
    assert await scene.linking.enter(scene.other, code) == scene.first
    scene.stores.clock.step(minutes=4)
    assert await scene.linking.entered_by(scene.first) == scene.other
    scene.stores.clock.step(minutes=1)
    assert await scene.linking.confirm(scene.first) == (LinkOutcome.NOTHING, None)
    assert not await scene.linking.refuse(scene.first)


async def test_a_new_code_takes_the_place_of_the_old(scene: Scene) -> None:
    old, new = await scene.code(), await scene.code()
    assert await scene.linking.enter(scene.other, old) is None
    assert await scene.linking.enter(scene.other, new) == scene.first


async def test_three_codes_an_hour(scene: Scene) -> None:
    for _ in range(CODES_AN_HOUR):
        await scene.code()
        scene.stores.clock.step(minutes=15)
    assert await scene.linking.issue(scene.first) is None
    assert await scene.linking.issue(scene.other) is not None
    scene.stores.clock.step(minutes=15)
    assert await scene.linking.issue(scene.first) is not None


async def test_five_wrong_codes_lock_for_ten_minutes(scene: Scene) -> None:
    for _ in range(WRONG_TRIES):
        scene.stores.clock.step(minutes=1)
        assert await scene.linking.enter(scene.other, "222222") is None
    code = await scene.code()
    scene.stores.clock.step(minutes=4)
    assert await scene.linking.enter(scene.other, code) is None
    scene.stores.clock.step(minutes=5, seconds=59)
    assert await scene.linking.enter(scene.other, await scene.code()) is None
    scene.stores.clock.step(seconds=1)
    assert await scene.linking.enter(scene.other, await scene.code()) == scene.first
    assert ("onebot:10001:20001", "link-locked", "code") in await scene.stores.rows(AUDIT)


async def test_four_wrong_codes_do_not_lock_and_a_good_one_does_not_give_more_tries(scene: Scene) -> None:
    for _ in range(WRONG_TRIES - 1):
        assert await scene.linking.enter(scene.other, "222222") is None
    assert await scene.linking.enter(scene.other, await scene.code()) == scene.first
    assert await scene.linking.enter(scene.other, "222222") is None
    assert await scene.linking.enter(scene.other, await scene.code()) is None
    # Nobody else is locked out.
    third = await scene.stores.account("o-third")
    assert await scene.linking.enter(third, await scene.code()) == scene.first


@pytest.mark.parametrize("app_id", [PLAYGROUND, f"{PLAYGROUND}-service"])
async def test_ones_own_code_and_one_across_the_playground_are_wrong(scene: Scene, app_id: str) -> None:
    playing = await scene.stores.accounts.create_account(
        AccountKey(channel="wechat", app_id=app_id, openid="o-1"), ""
    )
    assert await scene.linking.enter(scene.first, await scene.code()) is None
    assert await scene.linking.enter(playing, await scene.code()) is None
    assert await scene.linking.enter(scene.other, await scene.code(playing)) is None


async def test_two_proven_phones_are_no_link_but_a_conflict(scene: Scene) -> None:
    await scene.stores.accounts.link_phone(scene.first.id, b"\x01" * 32, 1, "otp")
    await scene.stores.accounts.link_phone(scene.other.id, b"\x02" * 32, 1, "otp")
    await scene.linking.enter(scene.other, await scene.code())
    await scene.linking.entered_by(scene.first)
    assert await scene.linking.confirm(scene.first) == (LinkOutcome.CONFLICT, scene.other)
    assert not await scene.are_linked()
    (conflict,) = await scene.stores.accounts.conflicts()
    assert (conflict.kind, conflict.account, conflict.detail) == (
        ConflictKind.PHONES,
        scene.other.id,
        "code",
    )
