"""Unsubscribing: put away at once, given back when asked for, deleted in time and from older backups too."""

import sqlite3
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from bot.conversation.message import Kind
from bot.ports import DeliveryState
from bot.secrets_file import PepperFile
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql.backup import make_backup
from bot.storage.sql.exporting import export_person
from bot.storage.sql.parking import SqlParking
from bot.storage.sql.restoring import restore
from identity.directory import Proof
from identity.model import Account
from tests.integration.living_house import QQ, WECHAT, LivingHouse, OpenHouse, neighbourhood
from tests.memory_stage import DIMENSION, GROUP, MODEL, PRIVATE, Stage, open_stage, traces, vector_of

CANARY = "金丝雀七三一九对坚果过敏"


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    async with open_stage(tmp_path / "data") as opened:
        yield opened


@pytest.fixture
async def open_house(tmp_path: Path) -> AsyncGenerator[OpenHouse]:
    async with neighbourhood(tmp_path) as opened:
        yield opened


def ledger_of(stage: Stage) -> ForgetLedger:
    return ForgetLedger(stage.folder / "forgotten.jsonl", b"p" * 32, stage.clock)


def parking_of(stage: Stage) -> SqlParking:
    return SqlParking(stage.database, stage.clock, ledger_of(stage))


async def live(stage: Stage, openid: str, words: str = CANARY, unionid: str = "") -> Account:
    account = await stage.arrive(openid, unionid)
    for where in (PRIVATE, GROUP):
        turn = await stage.say(
            account, f"记住{words}", place=where, state=DeliveryState.HELD, consolidate=True
        )
        await stage.remember(account, words, place=where, source_turn=turn.id)
    return account


async def test_nothing_that_is_parked_is_read(stage: Stage) -> None:
    account = await live(stage, "a", unionid="u")
    linked = await live(stage, "b", "另一个号说的", unionid="u")
    before = await stage.refreshed(account)
    assert linked.person == before.person
    places = await parking_of(stage).park(account.id)

    assert set(places) == {"", GROUP.place}
    after = await stage.refreshed(account)
    assert (after.person, after.epoch > before.epoch) == (before.person, True)
    assert await stage.texts(after.scope("")) == ["另一个号说的"]
    assert await stage.texts(after.scope(GROUP.place)) == ["另一个号说的"]
    assert CANARY not in str(await export_person(stage.database, after.person))
    assert [each.key.openid for each in await stage.accounts.find_accounts("a", None, 9)] == ["a"]
    assert {ticket.scope.account for ticket in await stage.jobs.lease_jobs(9, 60)} == {linked.id}
    assert await stage.deliveries.oldest_held(account.id) is None
    assert await stage.deliveries.oldest_held(linked.id) is None
    assert await stage.facts.keep(before.scope(""), [stage.fact("晚到的")], None, "", source_turn=None) == ()
    assert await stage.facts.keep(linked.scope(""), [stage.fact("照常")], None, "", source_turn=None) != ()


async def test_what_is_given_back_is_as_it_was(stage: Stage) -> None:
    account, parking = await live(stage, "a"), parking_of(stage)
    vectors = await stage.facts.vector_sheet(account.scope(""), MODEL, DIMENSION)
    await parking.park(account.id)
    assert await parking.has_parked(account.id)
    assert await parking.restore(account.id)
    fresh = await stage.refreshed(account)
    assert await stage.texts(fresh.scope("")) == [CANARY] == await stage.texts(fresh.scope(GROUP.place))
    again = await stage.facts.vector_sheet(fresh.scope(""), MODEL, DIMENSION)
    assert list(again.fact_ids) == list(vectors.fact_ids)
    assert not await parking.has_parked(account.id)
    assert not await parking.restore(account.id)


async def test_it_comes_beside_what_was_said_since(stage: Stage) -> None:
    account, parking = await live(stage, "a"), parking_of(stage)
    await parking.park(account.id)
    fresh = await stage.refreshed(account)
    await stage.remember(fresh, "回来后说的")
    await parking.park(account.id)
    fresh = await stage.refreshed(account)
    await stage.remember(fresh, "又回来说的")
    await parking.restore(account.id)
    fresh = await stage.refreshed(account)
    assert sorted(await stage.texts(fresh.scope(""))) == sorted([CANARY, "回来后说的", "又回来说的"])
    waiting = [scope.account for scope in await stage.facts.scopes_without_vector(9, MODEL)]
    assert waiting == [account.id], "what has moved is embedded anew"


async def test_parked_words_are_shown_to_no_embedder(stage: Stage) -> None:
    account = await stage.arrive("a")
    await stage.facts.keep(account.scope(""), [stage.fact(CANARY)], None, "", source_turn=None)
    assert await stage.facts.scopes_without_vector(9, MODEL) != ()
    await parking_of(stage).park(account.id)
    assert await stage.facts.scopes_without_vector(9, MODEL) == ()


async def test_discarded_is_gone_to_the_byte_and_nobody_else(stage: Stage) -> None:
    account, parking = await live(stage, "a"), parking_of(stage)
    other = await live(stage, "b", "别人的话")
    await parking.park(account.id)
    assert traces(stage.folder, CANARY) != set()
    receipt = await parking.discard(account.id)
    assert (receipt.facts, receipt.turns, receipt.vectors) == (2, 2, 2)
    assert traces(stage.folder, CANARY, vector_of(CANARY)) == set()
    assert await stage.texts((await stage.refreshed(other)).scope("")) == ["别人的话"]
    assert not await parking.has_parked(account.id)


async def test_clearing_a_person_takes_what_is_parked_along(stage: Stage) -> None:
    account, parking = await live(stage, "a"), parking_of(stage)
    await parking.park(account.id)
    await stage.facts.clear_person(account.person)
    assert traces(stage.folder, CANARY, vector_of(CANARY)) == set()
    assert not await parking.restore(account.id)


@pytest.mark.parametrize("has_come_back", [False, True])
async def test_an_older_backup_does_not_bring_it_back(
    stage: Stage, tmp_path: Path, has_come_back: bool
) -> None:
    account, parking = await live(stage, "a"), parking_of(stage)
    whole, between = tmp_path / "1.tar.gz", tmp_path / "2.tar.gz"
    make_backup(stage.folder, whole, stage.clock.now())
    await parking.park(account.id)
    stage.clock.advance(seconds=1)
    if has_come_back:
        fresh = await stage.refreshed(account)
        turn = await stage.say(fresh, "回来后说的")
        await stage.remember(fresh, "回来后说的", source_turn=turn.id)
    make_backup(stage.folder, between, stage.clock.now())
    await parking.discard(account.id)

    for number, archive in enumerate((whole, between)):
        other = tmp_path / f"other {number}"
        other.mkdir()
        copied = other / "forgotten.jsonl"
        copied.write_bytes(ledger_of(stage).path.read_bytes())
        restore(archive, other, ForgetLedger(copied, b"p" * 32, stage.clock), stage.clock.now())
        assert traces(other, CANARY, vector_of(CANARY)) == set(), archive
        with sqlite3.connect(other / "jide.db") as connection:
            kept = [row[0] for row in connection.execute("SELECT text FROM fact")]
        connection.close()
        assert kept == (["回来后说的"] if has_come_back and archive == between else [])


async def told(living: LivingHouse) -> None:
    await living.greet("li", channel=WECHAT)
    await living.say(f"记住我{CANARY}", channel=WECHAT)
    await living.house.worker.work_off()
    assert CANARY in "".join(await living.facts(channel=WECHAT))


async def happens(living: LivingHouse, kind: Kind) -> str:
    return await living.say("", kind=kind, channel=WECHAT)


async def test_who_comes_back_is_asked_and_gets_it_again(open_house: OpenHouse) -> None:
    living = await open_house(has_model=False)
    assert "恢复" not in await happens(living, Kind.FOLLOW)
    await told(living)
    assert await happens(living, Kind.UNFOLLOW) == ""
    assert await living.facts(channel=WECHAT) == []
    assert await living.recent(channel=WECHAT) == ()
    assert "要恢复之前的记忆吗" in await happens(living, Kind.FOLLOW)
    assert CANARY not in await living.say("你都记得我什么", channel=WECHAT)
    assert "恢复了" in await living.say("恢复", channel=WECHAT)
    assert CANARY in "".join(await living.facts(channel=WECHAT))
    assert CANARY in await living.say("你都记得我什么", channel=WECHAT)
    assert "恢复了" not in await living.say("恢复", channel=WECHAT)


async def test_who_does_not_want_it_has_it_deleted(open_house: OpenHouse) -> None:
    living = await open_house(has_model=False)
    await told(living)
    await happens(living, Kind.UNFOLLOW)
    await happens(living, Kind.FOLLOW)
    assert "已经删除" in await living.say("不用", channel=WECHAT)
    assert "要恢复" not in await happens(living, Kind.FOLLOW)
    assert traces(living.house.settings.data_folder, CANARY) == set()


async def test_what_is_overdue_is_deleted(open_house: OpenHouse) -> None:
    living = await open_house(has_model=False)
    await told(living)
    await happens(living, Kind.UNFOLLOW)
    living.clock.advance(days=7, seconds=-1)
    assert await living.house.leaving.sweep() == 0
    living.clock.advance(seconds=1)
    assert await living.house.leaving.sweep() == 1
    assert traces(living.house.settings.data_folder, CANARY) == set()
    assert "要恢复" not in await happens(living, Kind.FOLLOW)


async def test_a_revocation_deletes_at_once_what_was_parked(open_house: OpenHouse) -> None:
    living = await open_house(has_model=False)
    await told(living)
    await happens(living, Kind.UNFOLLOW)
    await happens(living, Kind.REVOKE)
    assert traces(living.house.settings.data_folder, CANARY) == set()


async def test_a_bot_that_leaves_a_group_leaves_its_memory(open_house: OpenHouse) -> None:
    living = await open_house(has_model=False)
    await told(living)
    await living.say("", kind=Kind.UNFOLLOW, channel=WECHAT, group="g")
    assert CANARY in "".join(await living.facts(channel=WECHAT))


async def test_kept_for_no_days_it_is_gone_when_they_leave(open_house: OpenHouse, tmp_path: Path) -> None:
    living = await open_house(has_model=False, keep_after_leaving_days=0)
    folder = living.house.settings.data_folder
    await told(living)
    await living.greet("li")
    await living.say("记住我喜欢爬山")
    for channel in (WECHAT, QQ):
        await living.house.directory.prove_phone(
            await living.account(channel=channel), "13800138000", Proof.IMPORT
        )
    archive, other = tmp_path / "older.tar.gz", tmp_path / "restored"
    make_backup(folder, archive, living.clock.now())
    assert traces(folder, CANARY) != set()

    await happens(living, Kind.UNFOLLOW)
    assert traces(folder, CANARY) == set(), "no sweep is waited for"
    assert await living.facts() == ["我喜欢爬山"], "another account's"
    assert "要恢复" not in await happens(living, Kind.FOLLOW)
    assert await living.facts(channel=WECHAT) == ["我喜欢爬山"]

    other.mkdir()
    copied = other / "forgotten.jsonl"
    copied.write_bytes((folder / "forgotten.jsonl").read_bytes())
    pepper = PepperFile(folder).read().current
    restore(archive, other, ForgetLedger(copied, pepper, living.clock), living.clock.now())
    assert traces(other, CANARY) == set() != traces(other, "喜欢爬山")


async def test_kept_for_no_days_a_crash_in_between_is_made_good_by_the_next_sweep(
    open_house: OpenHouse,
) -> None:
    living = await open_house(has_model=False, keep_after_leaving_days=0)
    await told(living)
    await living.house.stores.parking.park((await living.account(channel=WECHAT)).id)
    assert traces(living.house.settings.data_folder, CANARY) != set()
    assert await living.house.leaving.sweep() == 1
    assert traces(living.house.settings.data_folder, CANARY) == set()
