"""A fact that is told again, contradicted or denied, in the store: who sees it, and what is kept of it."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.conversation.scope import Scope
from bot.memory.fact import NewFact
from bot.storage.sql.closed_facts import SqlClosedFacts
from bot.storage.sql.exporting import export_person
from bot.storage.sql.turn_log import SqlTurnLog
from tests.memory_stage import DIMENSION, GROUP, MODEL, START, Stage, open_stage, vectors_of


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    async with open_stage(tmp_path) as opened:
        yield opened


async def keep(
    stage: Stage, scope: Scope, *facts: NewFact, source_turn: int | None = None
) -> tuple[int, ...]:
    stage.clock.advance(days=1)
    said = [replace(fact, said_at=stage.clock.now()) for fact in facts]
    vectors = vectors_of([fact.text for fact in facts])
    return await stage.facts.keep(scope, said, vectors, MODEL, source_turn=source_turn)


async def texts(stage: Stage, scope: Scope) -> list[str]:
    return [fact.text for fact in (await stage.facts.fact_sheet(scope)).facts]


async def test_a_contradiction_closes_in_the_transaction_that_keeps_it(stage: Stage) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    (old,) = await keep(stage, scope, stage.fact("我住在杭州"))
    (new,) = await keep(stage, scope, replace(stage.fact("我搬到上海了"), closes=(old,)))
    assert await texts(stage, scope) == ["我搬到上海了"]
    assert (await stage.facts.vector_sheet(scope, MODEL, DIMENSION)).fact_ids.tolist() == [new]
    (closed,) = await SqlClosedFacts(stage.database, stage.clock).closed_facts(scope, 9)
    assert closed.text == "我住在杭州"
    exported = {fact["text"]: fact for fact in (await export_person(stage.database, account.person))["facts"]}
    assert exported["我住在杭州"]["valid_to"] == exported["我搬到上海了"]["said_at"]
    assert exported["我搬到上海了"]["valid_to"] is None


async def test_what_is_said_again_after_a_contradiction_holds_again(stage: Stage) -> None:
    scope = (await stage.arrive("a")).scope("")
    (first,) = await keep(stage, scope, stage.fact("我住在杭州"))
    (second,) = await keep(stage, scope, replace(stage.fact("我住在上海"), closes=(first,)))
    await keep(stage, scope, replace(stage.fact("我住在杭州"), closes=(second,)))
    assert await texts(stage, scope) == ["我住在杭州"]


@pytest.mark.parametrize("text", ["我的鞋码是42", "我鞋子穿42码"])
async def test_what_is_told_again_raises_the_fact_and_adds_none(stage: Stage, text: str) -> None:
    scope = (await stage.arrive("a")).scope("")
    (held,) = await keep(stage, scope, stage.fact("我的鞋码是42"))
    again = replace(stage.fact(text), importance=0.9, repeats=held)
    assert await keep(stage, scope, again) == ()
    (fact,) = (await stage.facts.fact_sheet(scope)).facts
    assert (fact.id, fact.importance) == (held, 0.9)
    assert (fact.said_at, fact.last_said_at) == (START + timedelta(days=1), START + timedelta(days=2))
    assert (await stage.facts.vector_sheet(scope, MODEL, DIMENSION)).fact_ids.tolist() == [held]


async def test_the_other_words_are_found_by_who_forgets_them_and_by_nobody_else(stage: Stage) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    (held,) = await keep(stage, scope, stage.fact("我的鞋码是42"))
    turn = await stage.say(account, "我鞋子穿42码")
    for _ in range(2):
        await keep(stage, scope, replace(stage.fact("我鞋子穿42码"), repeats=held), source_turn=turn.id)
    assert await stage.facts.without_vector(scope, MODEL, 9) == ()
    words = [fact.id for fact in await stage.facts.held_facts(scope) if fact.text == "我鞋子穿42码"]
    assert len(words) == 1
    receipt = await stage.facts.forget_facts(scope, words)
    assert (receipt.facts, receipt.turns) == (1, 1)
    assert await texts(stage, scope) == ["我的鞋码是42"]


async def test_a_life_that_ends_is_prolonged(stage: Stage) -> None:
    scope = (await stage.arrive("a")).scope("")
    later = START + timedelta(days=90)
    (held,) = await keep(stage, scope, stage.fact("我有单没到", expires_at=START + timedelta(days=30)))
    await keep(stage, scope, replace(stage.fact("我有一单没到", expires_at=later), repeats=held))
    stage.clock.time = START + timedelta(days=60)
    assert await texts(stage, scope) == ["我有单没到"]


async def test_what_it_repeats_may_be_gone_or_anothers(stage: Stage) -> None:
    scope = (await stage.arrive("a")).scope("")
    (theirs,) = await keep(stage, (await stage.arrive("b")).scope(""), stage.fact("我的鞋码是42"))
    (mine,) = await keep(stage, scope, stage.fact("我的鞋码是42"))
    await stage.facts.forget_facts(scope, [mine])
    for other in (mine, theirs):
        assert len(await keep(stage, scope, replace(stage.fact(f"我穿42码的鞋{other}"), repeats=other))) == 1


async def test_nothing_of_anyone_else_or_elsewhere_is_closed(stage: Stage) -> None:
    one, stranger = await stage.arrive("a"), await stage.arrive("b")
    (theirs,) = await keep(stage, stranger.scope(""), stage.fact("我住在杭州"))
    (elsewhere,) = await keep(stage, one.scope(GROUP.place), stage.fact("我住在杭州"))
    await keep(stage, one.scope(""), replace(stage.fact("我搬到上海了"), closes=(theirs, elsewhere)))
    assert await stage.facts.withdraw(one.scope(""), [theirs, elsewhere], stage.clock.now()) == 0
    assert await texts(stage, stranger.scope("")) == ["我住在杭州"]
    assert await texts(stage, one.scope(GROUP.place)) == ["我住在杭州"]


async def test_what_is_denied_is_closed_on_every_account_of_the_person(stage: Stage) -> None:
    one, other = await stage.arrive("a", "union"), await stage.arrive("b", "union")
    (held,) = await keep(stage, one.scope(""), stage.fact("我的鞋码是42"))
    await keep(stage, other.scope(""), stage.fact("我的鞋码是42"))
    before = await stage.facts.version(one.scope(""))
    assert await stage.facts.withdraw(one.scope(""), [held], stage.clock.now()) == 2
    assert await texts(stage, one.scope("")) == []
    assert await stage.facts.newer_facts(one.scope(""), before, held) is None
    assert await stage.facts.withdraw(one.scope(""), [held], stage.clock.now()) == 0


async def test_the_turn_before_is_of_the_account_and_the_place(stage: Stage) -> None:
    account, stranger = await stage.arrive("a"), await stage.arrive("b")
    log = SqlTurnLog(stage.database)
    first = await stage.say(account, "我想买鞋", "您的鞋码是42，对吗？")
    await stage.say(stranger, "你好", "在的")
    await stage.say(account, "大家好", "您好", place=GROUP)
    last = await stage.say(account, "对")
    assert await log.before(account.scope(""), last.id) == first
    assert await log.before(account.scope(""), first.id) is None
