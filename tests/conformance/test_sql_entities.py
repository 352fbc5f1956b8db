"""What a conversation named is kept once a minute, read by its scope alone, and gone with what it came from."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.conversation.message import Conversation
from bot.conversation.scope import Scope
from bot.memory.entities import EntityType, SeenEntity, live_entities
from bot.memory.fact import FactKind
from bot.memory.naming import promise_facts, promised_in
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql import entities as entity_store
from bot.storage.sql.entities import SqlEntities
from bot.storage.sql.exporting import export_person
from bot.storage.sql.facts import SqlFacts
from bot.storage.sql.replaying import replay
from identity.model import Account
from tests.memory_stage import GROUP, PRIVATE, Stage, open_stage, traces

CANARY = "SF7700112233445"


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    async with open_stage(tmp_path) as made:
        yield made


def seen(stage: Stage, value: str, context: str = "") -> SeenEntity:
    return SeenEntity(
        type=EntityType.ORDER_ID,
        value=value,
        normalised=value.upper(),
        seen_at=stage.clock.now(),
        context=context or f"单号{value}",
    )


async def name(
    stage: Stage,
    account: Account,
    *values: str,
    place: Conversation = PRIVATE,
    turn: int | None = None,
    scope: Scope | None = None,
) -> None:
    named = [seen(stage, value) for value in values]
    scope = scope or account.scope(place.place)
    await stage.facts.keep(scope, (), None, "", source_turn=turn, entities=named)


async def values(stage: Stage, scope: Scope, limit: int = 100) -> list[str]:
    return [each.value for each in await SqlEntities(stage.database).seen(scope, limit)]


async def test_what_was_named_comes_back_whole_and_in_order(stage: Stage) -> None:
    account = await stage.arrive("a")
    named = seen(stage, "SF1", "单号SF1，红色的")
    await stage.facts.keep(account.scope(""), (), None, "", source_turn=None, entities=[named])
    stage.clock.advance(seconds=61)
    await name(stage, account, "SF3", "SF2")
    store = SqlEntities(stage.database)
    assert (await store.seen(account.scope(""), 10))[0] == named
    assert await values(stage, account.scope("")) == ["SF1", "SF3", "SF2"]
    assert await values(stage, account.scope(""), 2) == ["SF3", "SF2"], "the newest"


async def test_the_same_within_a_minute_is_one(stage: Stage) -> None:
    account = await stage.arrive("a")
    await name(stage, account, "SF1", "sf1")
    stage.clock.advance(seconds=60)
    await name(stage, account, "SF1", "SF2")
    assert await values(stage, account.scope("")) == ["SF1", "SF2"]
    stage.clock.advance(seconds=1)
    await name(stage, account, "SF1")
    assert await values(stage, account.scope("")) == ["SF1", "SF2", "SF1"]


async def test_each_scope_sees_its_own(stage: Stage) -> None:
    account, other = await stage.arrive("a"), await stage.arrive("b")
    await name(stage, account, "SF1")
    await name(stage, account, "SF2", place=GROUP)
    await name(stage, other, "SF3", place=GROUP)
    assert await values(stage, account.scope("")) == ["SF1"]
    assert await values(stage, account.scope(GROUP.place)) == ["SF2"]
    assert await values(stage, other.scope("")) == []


async def test_facts_and_job_and_what_was_named_go_together(stage: Stage) -> None:
    account = await stage.arrive("a")
    turn = await stage.say(account, "我的单号SF1", consolidate=True)
    (ticket,) = await stage.jobs.lease_jobs(1, 60)
    for _ in range(2):
        await stage.facts.keep(
            account.scope(""),
            [stage.fact("我的单号SF1")],
            None,
            "",
            source_turn=turn.id,
            job=ticket.id,
            entities=[seen(stage, "SF1")],
        )
        stage.clock.advance(hours=1)
    assert await values(stage, account.scope("")) == ["SF1"], "the job was finished once"
    assert await stage.texts(account.scope("")) == ["我的单号SF1"]


async def test_only_the_newest_are_kept(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    account = await stage.arrive("a")
    await name(stage, account, *(f"SF{number}" for number in range(entity_store.KEPT + 5)))
    kept = await values(stage, account.scope(""), 1_000)
    assert len(kept) == entity_store.KEPT and kept[0] == "SF5"


async def test_what_a_later_fact_closed_is_over_and_what_was_named_since_is_not(stage: Stage) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    turn = await stage.say(account, "我的单号SF1")
    old = stage.fact("我的单号SF1")
    await stage.facts.keep(scope, [old], None, "", source_turn=turn.id, entities=[seen(stage, "SF1")])
    stage.clock.advance(hours=1)
    (held,) = (await stage.facts.fact_sheet(scope)).facts
    later = await stage.say(account, "单号改成SF2")
    new = replace(stage.fact("单号改成SF2"), closes=(held.id,))
    await stage.facts.keep(scope, [new], None, "", source_turn=later.id, entities=[seen(stage, "SF2")])
    named = await SqlEntities(stage.database).seen(scope, 10)
    assert [(each.value, each.is_over) for each in named] == [("SF1", True), ("SF2", False)]
    assert [each.value for each in live_entities(named)] == ["SF2"]
    stage.clock.advance(hours=1)
    await name(stage, account, "SF1")
    again = await SqlEntities(stage.database).seen(scope, 10)
    assert {each.value for each in live_entities(again)} == {"SF1", "SF2"}, "named anew"


async def test_clearing_a_person_leaves_no_byte_and_bars_what_is_under_way(stage: Stage) -> None:
    account = await stage.arrive("a")
    before = account.scope("")
    await name(stage, account, CANARY)
    await name(stage, account, CANARY, place=GROUP)
    await stage.database.quiesce_and_checkpoint()
    assert traces(stage.folder, CANARY)
    await stage.facts.clear_person(account.person)
    assert traces(stage.folder, CANARY) == set()
    await name(stage, account, CANARY, scope=before)
    fresh = await stage.refreshed(account)
    assert await values(stage, fresh.scope("")) == [] == await values(stage, before)


async def test_clearing_a_place_leaves_private_as_it_is(stage: Stage) -> None:
    account = await stage.arrive("a")
    await name(stage, account, "SF1")
    await name(stage, account, CANARY, place=GROUP)
    await stage.facts.clear_place(GROUP.place)
    assert traces(stage.folder, CANARY) == set()
    fresh = await stage.refreshed(account)
    assert await values(stage, fresh.scope("")) == ["SF1"]


async def test_forgetting_a_fact_takes_what_its_turns_named_and_what_it_names(stage: Stage) -> None:
    account = await stage.arrive("a")
    turn = await stage.say(account, f"我的单号{CANARY}")
    (fact,) = await stage.remember(account, f"我的单号{CANARY}", source_turn=turn.id)
    await name(stage, account, CANARY, "SF2", turn=turn.id)
    stage.clock.advance(hours=1)
    later = await stage.say(account, "还有 SF3")
    await name(stage, account, CANARY, "SF3", turn=later.id)
    await stage.facts.forget_facts(account.scope(""), [fact])
    assert await values(stage, account.scope("")) == ["SF3"]
    assert traces(stage.folder, CANARY) == set()


async def test_a_promise_comes_back_as_one_and_goes_with_its_turn(stage: Stage) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    turn = await stage.say(account, "杯子碎了", f"给您补发一个，单号{CANARY}")
    promised = promised_in(turn.answer, stage.clock.now())
    (fact,) = await stage.facts.keep(
        scope, promise_facts(promised), None, "", source_turn=turn.id, entities=promised
    )
    assert await SqlEntities(stage.database).seen(scope, 10) == promised
    assert [each.kind for each in (await stage.facts.fact_sheet(scope)).facts] == [FactKind.PROMISE]
    await stage.facts.forget_facts(scope, [fact])
    assert await values(stage, scope) == []
    assert traces(stage.folder, CANARY) == set()


async def test_others_keep_what_they_named(stage: Stage) -> None:
    account, other = await stage.arrive("a"), await stage.arrive("b")
    (fact,) = await stage.remember(account, "我的单号SF1234")
    await name(stage, other, "SF1234")
    await stage.facts.forget_facts(account.scope(""), [fact])
    await stage.facts.clear_person(account.person)
    assert await values(stage, other.scope("")) == ["SF1234"]


async def test_an_older_copy_forgets_it_again(stage: Stage, tmp_path: Path) -> None:
    ledger = ForgetLedger(tmp_path / "forgotten.jsonl", b"pepper", stage.clock)
    account = await stage.arrive("a")
    turn = await stage.say(account, "那单是SF1的")
    (fact,) = await stage.remember(account, "那单是SF1的", source_turn=turn.id)
    await name(stage, account, "SF1", turn=turn.id)
    async with open_stage(tmp_path / "copy") as copy:
        again = await copy.arrive("a")
        told = await copy.say(again, "那单是SF1的")
        await name(copy, again, "SF1", turn=told.id)
        await SqlFacts(stage.database, stage.clock, ledger).forget_facts(account.scope(""), [fact])
        await copy.database.write(lambda connection: replay(connection, ledger))
        assert await values(copy, again.scope("")) == [], "though its fact was not taken yet"


async def test_the_export_names_it(stage: Stage) -> None:
    account = await stage.arrive("a")
    await name(stage, account, "SF1")
    document = await export_person(stage.database, account.person)
    assert document["entities"] == [
        {
            "channel": "wechat",
            "place": "",
            "type": "order_id",
            "value": "SF1",
            "context": "单号SF1",
            "seen_at": "2026-01-02T03:04:05+00:00",
        }
    ]


async def test_a_scope_of_another_person_covers_nothing(stage: Stage) -> None:
    account, other = await stage.arrive("a"), await stage.arrive("b")
    await name(stage, account, "SF1")
    assert await values(stage, replace(other.scope(""), person=account.person)) == []


async def test_a_turn_that_was_forgotten_meanwhile_names_nothing(stage: Stage) -> None:
    """A try at its consolidation that fails keeps what rules find, outside the job."""
    account = await stage.arrive("a")
    turn = await stage.say(account, f"我的单号{CANARY}", consolidate=True)
    await stage.facts.forget_facts(account.scope(""), (), (CANARY,))
    await name(stage, account, CANARY, turn=turn.id)
    assert await values(stage, account.scope("")) == []
