"""/注销 while another account of the person is at work: nothing of that is written back."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from bot.conversation.message import Kind
from bot.ports import DeliveryState
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql.departing import SqlDeparting
from identity.directory import Proof
from identity.model import Account
from tests.integration.living_house import QQ, WECHAT, LivingHouse, OpenHouse, neighbourhood
from tests.memory_stage import GROUP, Stage, open_stage, traces, vector_of

SAID = "金丝雀七三一九对坚果过敏"
PHONE = "13800138000"


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    async with open_stage(tmp_path / "data") as opened:
        yield opened


@pytest.fixture
async def open_house(tmp_path: Path) -> AsyncGenerator[OpenHouse]:
    async with neighbourhood(tmp_path) as opened:
        yield opened


async def linked(open_house: OpenHouse) -> LivingHouse:
    """One person on both channels."""
    living = await open_house()
    living.model.answer_with(lambda _: "好的。")
    for channel in (WECHAT, QQ):
        await living.greet("li", channel=channel)
        await living.house.directory.prove_phone(await living.account("li", channel), PHONE, Proof.IMPORT)
    await living.say(f"记住我{SAID}", channel=WECHAT)
    await living.house.worker.work_off()
    assert SAID in "".join(await living.facts(channel=QQ))
    return living


async def leaves(living: LivingHouse) -> None:
    await living.say("/注销", channel=WECHAT)
    assert "已注销" in await living.say("确认", channel=WECHAT)


async def test_an_answer_under_way_on_a_linked_account_becomes_no_turn(open_house: OpenHouse) -> None:
    living = await linked(open_house)
    before = await living.account("li", QQ)
    async with living.thinking() as asked:
        answering = asyncio.create_task(living.say("夜莺八二要带伞吗", channel=QQ))
        await asked.wait()
        await leaves(living)
    assert "清除" in await answering
    await living.house.worker.work_off()
    after = await living.account("li", QQ)
    assert after.person != before.person
    assert await living.facts(channel=QQ) == [] == await living.facts(channel=WECHAT)
    assert await living.recent(channel=QQ) == ()
    assert living.tables_with("夜莺八二") == living.tables_with(SAID) == set()
    assert living.count("phone_link") == living.count("merge") == living.count("job") == 0


async def test_what_is_said_afterwards_is_a_strangers_and_kept(open_house: OpenHouse) -> None:
    living = await linked(open_house)
    await leaves(living)
    await living.say("记住我喜欢爬山", channel=QQ)
    assert "爬山" in "".join(await living.facts(channel=QQ))
    assert await living.facts(channel=WECHAT) == []


async def test_a_linked_account_that_left_behind_something_loses_that_too(open_house: OpenHouse) -> None:
    living = await linked(open_house)
    await living.say("记住我喜欢夜莺八二", channel=QQ)
    await living.say("", kind=Kind.UNFOLLOW, channel=QQ)
    await leaves(living)
    assert living.tables_with("夜莺八二") == set()
    assert traces(living.house.settings.data_folder, "夜莺八二") == set()


async def pair(stage: Stage) -> tuple[Account, Account]:
    one, other = await stage.arrive("a", "u"), await stage.arrive("b", "u")
    for account in (one, other):
        turn = await stage.say(account, f"记住{SAID}", consolidate=True)
        await stage.remember(account, SAID, source_turn=turn.id)
        await stage.say(account, f"群里的{SAID}", place=GROUP, state=DeliveryState.HELD)
    return await stage.refreshed(one), await stage.refreshed(other)


async def test_no_work_from_before_is_stored_under_any_account(stage: Stage) -> None:
    one, other = await pair(stage)
    tickets = await stage.jobs.lease_jobs(9, 60)
    assert {ticket.scope.account for ticket in tickets} <= {one.id, other.id} and tickets
    receipt = await SqlDeparting(stage.database, stage.clock).depart(one.person)
    assert (receipt.facts, receipt.turns, receipt.jobs) == (2, 4, 2)
    for ticket in tickets:
        kept = await stage.facts.keep(
            ticket.scope, [stage.fact(SAID)], None, "", source_turn=None, job=ticket.id
        )
        assert kept == ()
    for account in (one, other):
        for place in ("", GROUP.place):
            scope = account.scope(place)
            assert await stage.facts.keep(scope, [stage.fact(SAID)], None, "", source_turn=None) == ()
        after = await stage.refreshed(account)
        assert after.epoch > account.epoch and await stage.texts(after.scope("")) == []
    assert traces(stage.folder, SAID, vector_of(SAID)) == set()
    assert await stage.jobs.lease_jobs(9, 60) == ()


async def test_memory_and_links_are_one_line_of_the_ledger_and_one_transaction(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two, a message on the other account would be stored for who has left."""
    one, other = await pair(stage)
    ledger = ForgetLedger(stage.folder / "forgotten.jsonl", b"p" * 32, stage.clock)
    before = stage.dump()

    def fails(*_: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch, pytest.raises(RuntimeError):
        patch.setattr("bot.storage.sql.departing.make_newcomers", fails)
        await SqlDeparting(stage.database, stage.clock, ledger).depart(one.person)
    assert stage.dump() == before
    assert ledger.read().effective(0) == (), "what was noted of it never happened"
    await SqlDeparting(stage.database, stage.clock, ledger).depart(one.person)
    _, line, done = [json.loads(each) for each in ledger.path.read_text().splitlines()]
    assert (line["act"], len(line["accounts"]), len(line["who"])) == ("left", 2, 2)
    assert done == {"done": line["n"]}
    assert (await stage.refreshed(other)).person not in (one.person, (await stage.refreshed(one)).person)


async def test_nobody_leaves_twice(stage: Stage) -> None:
    one, _ = await pair(stage)
    departing = SqlDeparting(stage.database, stage.clock)
    assert (await departing.depart(one.person)).total > 0
    assert (await departing.depart(one.person)).total == 0
