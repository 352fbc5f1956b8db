"""Whoever left, parted or unsubscribed after a backup has done so still when that backup is restored."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from bot.conversation.errors import ConfigurationError, RejectedInput
from bot.secrets_file import read_peppers, replace_pepper
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql.accounts import SqlAccounts
from bot.storage.sql.backup import make_backup
from bot.storage.sql.departing import SqlDeparting
from bot.storage.sql.facts import SqlFacts
from bot.storage.sql.lineage import bind
from bot.storage.sql.link_codes import SqlLinkCodes
from bot.storage.sql.parking import SqlParking
from bot.storage.sql.phones import SqlPhones
from bot.storage.sql.restoring import Restored, restore
from bot.storage.sql.turn_window import SqlTurnWindow
from identity.directory import Directory, Proof
from identity.linking import Linking
from identity.model import Account, Decision, LinkOutcome
from identity.phone import PhoneHasher
from tests.memory_stage import START, Stage, open_stage, traces, vector_of

PHONE, OTHER_PHONE = "13800138000", "13900139000"
MINE, THEIRS = "金丝雀七三一九对坚果过敏", "另一个号说的夜莺八二"


@dataclass
class House:
    """The stores of a data folder, each with the ledger."""

    stage: Stage
    ledger: ForgetLedger
    parking: SqlParking
    departing: SqlDeparting
    linking: Linking
    directory: Directory
    window: SqlTurnWindow

    async def who(self, openid: str) -> Account:
        return await self.stage.arrive(openid)

    async def tell(self, openid: str, words: str) -> None:
        account = await self.who(openid)
        turn = await self.stage.say(account, f"记住{words}", consolidate=True)
        await self.stage.remember(account, words, source_turn=turn.id)

    async def link(self, one: str, other: str) -> None:
        first = await self.who(one)
        code = await self.linking.issue(first)
        assert code is not None
        assert await self.linking.enter(await self.who(other), code) is not None
        await self.linking.entered_by(first)
        assert (await self.linking.confirm(first))[0] is LinkOutcome.LINKED

    async def link_refused(self, openid: str, phone: str) -> None:
        with pytest.raises(RejectedInput):
            await self.directory.prove_phone(await self.who(openid), phone, Proof.CODE)

    async def reads(self, openid: str) -> set[str]:
        """What the bot recalls for somebody, and whose turns it sees."""
        scope = (await self.who(openid)).scope("")
        texts = {fact.text for fact in (await self.stage.facts.fact_sheet(scope)).facts}
        assert {
            turn.question.removeprefix("记住") for turn in (await self.window.recent(scope)).turns
        } == texts
        return texts

    async def found(self, phone: str) -> set[str]:
        return {each.key.openid for each in await self.directory.find(phone, 9)}

    async def together(self, openid: str) -> set[str]:
        person = (await self.who(openid)).person
        return {each.key.openid for each in await self.stage.accounts.accounts_of(person)}

    async def rows(self, sql: str) -> list[tuple[object, ...]]:
        return await self.stage.database.write(lambda connection: connection.execute(sql).fetchall())


@asynccontextmanager
async def living_in(folder: Path) -> AsyncGenerator[House]:
    peppers = read_peppers(folder)
    async with open_stage(folder) as stage:
        ledger = ForgetLedger(folder / "forgotten.jsonl", peppers.current, stage.clock, peppers.keys_before)
        bind(stage.database.path, ledger, 7)
        stage.facts = SqlFacts(stage.database, stage.clock, ledger)
        stage.accounts = SqlAccounts(stage.database, stage.clock, ledger)
        stage.count = len(list(folder.parent.iterdir())) * 1000
        yield House(
            stage=stage,
            ledger=ledger,
            parking=SqlParking(stage.database, stage.clock, ledger),
            departing=SqlDeparting(stage.database, stage.clock, ledger),
            linking=Linking(SqlLinkCodes(stage.database, ledger), lambda text: text, stage.clock),
            directory=Directory(
                stage.accounts, PhoneHasher(b"h" * 32), SqlPhones(stage.database, stage.clock)
            ),
            window=SqlTurnWindow(stage.database, limit=100),
        )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
async def house(folder: Path) -> AsyncGenerator[House]:
    """`a` and `b` are one person, who has a phone. `c` is another."""
    async with living_in(folder) as opened:
        for openid, words in (("a", MINE), ("b", THEIRS), ("c", "第三个人说的")):
            await opened.tell(openid, words)
        await opened.link("a", "b")
        await opened.directory.prove_phone(await opened.who("a"), PHONE, Proof.CODE)
        await opened.stage.accounts.learn_unionid((await opened.who("a")).id, "u")
        yield opened


def back_up(house: House, name: str = "b") -> Path:
    archive = house.stage.folder.parent / f"{name}.tar.gz"
    make_backup(house.stage.folder, archive, START)
    return archive


@asynccontextmanager
async def restored(
    house: House, archive: Path, keep: timedelta | None = None
) -> AsyncGenerator[tuple[House, Restored]]:
    """On another machine, beside the ledger as it is now."""
    folder = house.stage.folder
    other = folder.parent / f"restored {archive.stem}"
    other.mkdir()
    for name in ("forgotten.jsonl", "pepper", "pepper.old"):
        if (folder / name).exists():
            (other / name).write_bytes((folder / name).read_bytes())
    peppers = read_peppers(other)
    ledger = ForgetLedger(other / "forgotten.jsonl", peppers.current, house.stage.clock, peppers.keys_before)
    done = await asyncio.to_thread(restore, archive, other, ledger, house.stage.clock.now(), keep=keep)
    async with living_in(other) as opened:
        opened.stage.clock.time = house.stage.clock.time
        yield opened, done


async def test_who_left_for_good_stays_a_stranger(house: House) -> None:
    await house.linking.issue(await house.who("b"))
    archive = back_up(house)
    await house.departing.depart((await house.who("a")).person)
    async with restored(house, archive) as (after, done):
        assert (done.replay.left, done.replay.parted) == (2, 0)
        assert done.replay.receipt.facts == done.replay.receipt.turns == 2
        for openid in ("a", "b"):
            assert await after.together(openid) == {openid}
            assert await after.reads(openid) == set()
            left = await after.who(openid)
            assert (left.unionid, left.is_greeted) == ("", False)
        assert await after.found(PHONE) == set()
        for table in ("phone_link", "merge", "conflict", "link_code", "job WHERE account_id < 3"):
            assert await after.rows(f"SELECT * FROM {table}") == [], table
        assert await after.reads("c") == {"第三个人说的"}
        assert traces(after.stage.folder, MINE, vector_of(MINE)) == set()
        # The number is anybody's now, and the unionid joins nobody to who they were.
        await after.directory.prove_phone(await after.who("c"), PHONE, Proof.CODE)
        assert await after.together("c") == {"c"}
        await after.stage.accounts.learn_unionid((await after.who("c")).id, "u")
        assert await after.together("c") == {"c"}


async def test_of_a_copy_from_before_they_parted_only_who_left_is_taken(house: House) -> None:
    archive = back_up(house)
    await house.stage.accounts.part((await house.who("b")).id)
    await house.departing.depart((await house.who("a")).person)
    async with restored(house, archive) as (after, _):
        assert await after.reads("a") == set()
        assert await after.reads("b") == {THEIRS}
        assert await after.found(PHONE) == set()


async def test_a_conflict_of_who_left_is_gone_and_that_of_others_stays(house: House) -> None:
    for openid, phone in (("c", OTHER_PHONE), ("d", "13700137000")):
        await house.directory.prove_phone(await house.who(openid), phone, Proof.CODE)
    await house.link_refused("c", PHONE)
    await house.link_refused("d", OTHER_PHONE)
    archive = back_up(house)
    await house.departing.depart((await house.who("a")).person)
    async with restored(house, archive) as (after, _):
        (left,) = await after.stage.accounts.conflicts()
        assert {left.first, left.second} == {(await after.who(openid)).person for openid in "cd"}


async def test_who_unlinked_stays_unlinked(house: House) -> None:
    archive = back_up(house)
    await house.stage.accounts.part((await house.who("b")).id)
    stays = (await house.who("a")).person
    async with restored(house, archive) as (after, done):
        assert (done.replay.left, done.replay.parted, done.replay.forgettings) == (0, 1, 0)
        assert (await after.who("a")).person == stays, "who parted goes, the other stays who they were"
        assert await after.reads("a") == {MINE}
        assert await after.reads("b") == {THEIRS}
        assert await after.found(PHONE) == {"a"}
        assert (await after.who("a")).unionid == "u"


async def test_who_unlinked_took_their_phone_along(house: House) -> None:
    archive = back_up(house)
    await house.stage.accounts.part((await house.who("a")).id)
    async with restored(house, archive) as (after, _):
        assert await after.found(PHONE) == {"a"}
        assert await after.together("b") == {"b"}


async def test_who_unlinked_and_linked_again_is_linked(house: House) -> None:
    archive = back_up(house)
    await house.stage.accounts.part((await house.who("b")).id)
    await house.link("a", "b")
    async with restored(house, archive) as (after, done):
        assert done.replay.parted == 0
        assert await after.reads("b") == {MINE, THEIRS}


async def test_a_link_from_after_the_backup_is_not_made_again(house: House) -> None:
    archive = back_up(house)
    await house.stage.accounts.part((await house.who("b")).id)
    await house.link("b", "c")
    async with restored(house, archive) as (after, _):
        assert [await after.together(openid) for openid in "abc"] == [{"a"}, {"b"}, {"c"}]


async def test_a_merge_that_an_admin_took_back_stays_taken_back(house: House) -> None:
    await house.link("c", "a")
    archive = back_up(house)
    merges = await house.stage.accounts.merges((await house.who("a")).person)
    for merge in reversed(merges[-2:]):
        assert await house.stage.accounts.undo_merge(merge.id) is not None
    assert await house.together("a") == {"a", "b"}
    async with restored(house, archive) as (after, done):
        assert done.replay.parted in (1, 2)
        assert await after.reads("a") == await after.reads("b") == {MINE, THEIRS}
        assert await after.reads("c") == {"第三个人说的"}
        (newest, *_) = reversed(await after.stage.accounts.merges((await after.who("c")).person))
        assert newest.reason == "unlink", "and can itself be taken back"


async def test_who_an_admin_kept_apart_is_not_asked_about_again(house: House) -> None:
    await house.directory.prove_phone(await house.who("c"), OTHER_PHONE, Proof.CODE)
    await house.link_refused("c", PHONE)
    (conflict,) = await house.stage.accounts.conflicts()
    archive = back_up(house)
    await house.stage.accounts.decide(conflict.id, Decision.KEEP)
    async with restored(house, archive) as (after, _):
        assert await after.stage.accounts.conflicts() == ()
        await after.link_refused("c", PHONE)
        assert await after.stage.accounts.conflicts() == ()
        assert await after.together("c") == {"c"}


async def test_who_forgot_after_parting_takes_nothing_from_the_other(house: House) -> None:
    for openid in ("a", "b"):
        await house.tell(openid, "都说过的")
    archive = back_up(house)
    await house.stage.accounts.part((await house.who("b")).id)
    scope = (await house.who("a")).scope("")
    meant = [fact.id for fact in (await house.stage.facts.fact_sheet(scope)).facts if "都" in fact.text]
    await house.stage.facts.forget_facts(scope, meant)
    async with restored(house, archive) as (after, _):
        assert await after.reads("a") == {MINE}
        assert await after.reads("b") == {THEIRS, "都说过的"}


async def test_what_was_put_away_is_put_away_again_and_can_be_had_back(house: House) -> None:
    archive = back_up(house)
    parked_at = house.stage.clock.now()
    await house.parking.park((await house.who("a")).id)
    house.stage.clock.advance(days=6)
    async with restored(house, archive, keep=timedelta(days=7)) as (after, done):
        assert done.replay.parked == 1
        account = await after.who("a")
        assert await after.reads("a") == await after.reads("b") == {THEIRS}
        assert await after.parking.overdue(parked_at) == (account.id,), "its time runs from when they left"
        assert await after.parking.overdue(parked_at - timedelta(seconds=1)) == ()
        assert await after.parking.restore(account.id)
        assert await after.reads("b") == {MINE, THEIRS}


async def test_who_asked_for_it_again_has_it(house: House) -> None:
    archive = back_up(house)
    account = await house.who("a")
    await house.parking.park(account.id)
    await house.parking.restore(account.id)
    async with restored(house, archive) as (after, done):
        assert done.replay.parked == 0
        assert await after.reads("a") == {MINE, THEIRS}
    await house.parking.park(account.id)
    other = archive.rename(archive.with_name("again.tar.gz"))
    async with restored(house, other) as (after, done):
        assert done.replay.parked == 1
        assert await after.reads("a") == {THEIRS}


async def test_what_is_overdue_by_now_is_deleted_and_stays_so_in_every_copy(house: House) -> None:
    oldest = back_up(house)
    await house.parking.park((await house.who("a")).id)
    newer = back_up(house, "newer")
    house.stage.clock.advance(days=7)
    async with restored(house, newer, keep=timedelta(days=7)) as (after, _):
        assert await after.reads("b") == {THEIRS}
        assert traces(after.stage.folder, MINE, vector_of(MINE)) == set()
        assert not await after.parking.restore((await after.who("a")).id)
        lines = [json.loads(line) for line in after.ledger.path.read_text().splitlines()]
        assert [line.get("act", "done") for line in lines] == ["parked", "done", "discarded", "done"]
        # What was deleted there is deleted also where the parking is not known: as before it was noted.
        named = [line for line in lines if line.get("act") != "parked"]
        after.ledger.path.write_text("".join(f"{json.dumps(line)}\n" for line in named))
        (house.stage.folder / "forgotten.jsonl").write_bytes(after.ledger.path.read_bytes())
    async with restored(house, oldest) as (after, _):
        assert await after.reads("b") == {THEIRS}
        assert traces(after.stage.folder, MINE, vector_of(MINE)) == set()


async def test_what_was_had_back_and_then_forgotten_is_gone_from_what_the_copy_has_parked(
    house: House,
) -> None:
    account = await house.who("a")
    await house.parking.park(account.id)
    archive = back_up(house)
    await house.parking.restore(account.id)
    scope = (await house.who("a")).scope("")
    (meant,) = [fact.id for fact in (await house.stage.facts.fact_sheet(scope)).facts if fact.text == MINE]
    await house.stage.facts.forget_facts(scope, [meant])
    async with restored(house, archive) as (after, _):
        assert await after.reads("a") == {THEIRS}
        assert traces(after.stage.folder, MINE, vector_of(MINE)) == set()


@pytest.mark.parametrize("when", ["before the second time", "after it"])
async def test_what_was_put_away_later_outlives_what_is_overdue(house: House, when: str) -> None:
    account, first = await house.who("a"), house.stage.clock.now()
    await house.parking.park(account.id)
    house.stage.clock.advance(days=1)
    await house.tell("a", "回来后说的")
    archive = back_up(house)
    await house.parking.park(account.id)
    if when == "after it":
        archive = back_up(house, "later")
    await house.parking.discard(account.id, first)
    async with restored(house, archive) as (after, _):
        assert await after.reads("a") == {THEIRS}
        assert await after.parking.restore(account.id)
        assert await after.reads("a") == {THEIRS, "回来后说的"}
        assert traces(after.stage.folder, MINE, vector_of(MINE)) == set()


async def test_who_declined_has_nothing_left_in_copies_of_another_past(house: House) -> None:
    """There it is put away under another name than the one that was deleted."""
    oldest = back_up(house, "oldest")
    account = await house.who("d")
    await house.tell("d", "放弃的时间里说的")
    await house.parking.park(account.id)
    await house.parking.restore(account.id)
    await house.parking.park(account.id)
    abandoned = back_up(house, "abandoned")
    async with restored(house, oldest) as (after, _):
        other = await after.who("d")
        await after.tell("d", "之后说的")
        await after.parking.park(other.id)
        await after.parking.discard(other.id)
        async with restored(after, abandoned) as (last, _):
            assert not await last.parking.has_parked(account.id)
            assert traces(last.stage.folder, "放弃的时间里说的") == set()


async def test_who_cleared_everything_has_nothing_left_in_copies_of_another_past(house: House) -> None:
    oldest = back_up(house, "oldest")
    account = await house.who("d")
    await house.tell("d", "放弃的时间里说的")
    await house.parking.park(account.id)
    abandoned = back_up(house, "abandoned")
    async with restored(house, oldest) as (after, _):
        await after.tell("d", "之后说的")
        await after.stage.facts.clear_person((await after.who("d")).person)
        async with restored(after, abandoned) as (last, _):
            assert not await last.parking.has_parked(account.id)
            assert traces(last.stage.folder, "放弃的时间里说的") == set()


async def test_under_three_peppers_the_order_of_the_lines_decides(house: House) -> None:
    archive = back_up(house)
    folder = house.stage.folder
    await house.stage.accounts.part((await house.who("b")).id)
    for step in ("link", "part", "link"):
        peppers = replace_pepper(folder)
        ledger = ForgetLedger(house.ledger.path, peppers.current, house.stage.clock, peppers.keys_before)
        house.stage.accounts = SqlAccounts(house.stage.database, house.stage.clock, ledger)
        house.linking = Linking(
            SqlLinkCodes(house.stage.database, ledger), lambda text: text, house.stage.clock
        )
        if step == "part":
            await house.stage.accounts.part((await house.who("b")).id)
        else:
            await house.link("a", "b")
    keys = {json.loads(line)["key"] for line in house.ledger.path.read_text().splitlines() if "key" in line}
    assert len(keys) == 4
    async with restored(house, archive) as (after, _):
        assert await after.reads("a") == await after.reads("b") == {MINE, THEIRS}


async def test_accounts_that_the_copy_does_not_know_and_a_second_replay_change_nothing(house: House) -> None:
    archive = back_up(house)
    await house.tell("late", "备份之后才来的")
    await house.link("late", "a")
    await house.stage.accounts.part((await house.who("b")).id)
    await house.parking.park((await house.who("late")).id)
    await house.departing.depart((await house.who("late")).person)
    async with restored(house, archive) as (after, done):
        assert done.replay.entries == 3
        before = after.stage.dump()
        again = bind(after.stage.database.path, after.ledger, 7)
        assert (again.entries, after.stage.dump()) == (0, before)
        assert await after.together("a") == {"a"}
        assert await after.reads("b") == {THEIRS}


async def test_a_ledger_from_before_acts_were_noted_is_read(house: House) -> None:
    archive = back_up(house)
    account = await house.who("a")
    await house.stage.facts.clear_person(account.person)
    lines = [json.loads(line) for line in house.ledger.path.read_text().splitlines()]
    assert lines[0].pop("v") == 2
    house.ledger.path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    await house.stage.accounts.part(account.id)
    async with restored(house, archive) as (after, done):
        assert (done.replay.entries, done.replay.forgettings, done.replay.parted) == (2, 1, 1)
        assert await after.reads("a") == await after.reads("b") == set()


async def test_a_newer_ledger_is_not_half_understood(house: House) -> None:
    archive = back_up(house)
    house.ledger.path.write_text('{"n":1,"after":0,"at":"","key":"k","v":3,"act":"sold"}\n{"done":1}\n')
    with pytest.raises(ConfigurationError, match="更新的程序"):
        async with restored(house, archive):
            pass


async def test_no_name_is_in_the_ledger(house: House) -> None:
    account = await house.stage.arrive("o-QSECRETQ")
    for _ in range(2):
        await house.parking.park(account.id)
    await house.link("a", "o-QSECRETQ")
    await house.stage.accounts.part(account.id)
    await house.departing.depart((await house.who("o-QSECRETQ")).person)
    written = house.ledger.path.read_text()
    assert "SECRET" not in written and "wechat" not in written and '"left"' in written
