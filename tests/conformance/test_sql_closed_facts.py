"""Closed facts: what was contradicted or has expired, in its own scope alone, and nothing that still holds."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.conversation.scope import Scope
from bot.storage.sql.closed_facts import SqlClosedFacts
from tests.memory_stage import GROUP, MODEL, Stage, open_stage, vectors_of


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    async with open_stage(tmp_path) as made:
        yield made


async def closed(stage: Stage, scope: Scope, limit: int = 9) -> list[str]:
    found = await SqlClosedFacts(stage.database, stage.clock).closed_facts(scope, limit)
    return [fact.text for fact in found]


async def test_what_was_contradicted_and_what_has_expired(stage: Stage) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    (old,) = await stage.remember(account, "我喝咖啡")
    stage.clock.advance(hours=1)
    expiring = stage.fact("我这周感冒了", expires_at=stage.clock.now() + timedelta(days=7))
    await stage.facts.keep(scope, [expiring], vectors_of([expiring.text]), MODEL, source_turn=None)
    (new,) = await stage.remember(account, "我不喝咖啡了")
    assert await closed(stage, scope) == []
    await stage.facts.supersede(scope, [old], new)
    assert await closed(stage, scope) == ["我喝咖啡"]
    stage.clock.advance(days=8)
    assert await closed(stage, scope) == ["我这周感冒了", "我喝咖啡"]
    assert await closed(stage, scope, limit=1) == ["我这周感冒了"]
    assert await stage.texts(scope) == ["我不喝咖啡了"]


async def test_of_its_own_scope_alone(stage: Stage) -> None:
    one, other = await stage.arrive("a"), await stage.arrive("b")
    (old,) = await stage.remember(one, "我喝咖啡", place=GROUP)
    (new,) = await stage.remember(one, "我不喝咖啡了", place=GROUP)
    await stage.facts.supersede(one.scope(GROUP.place), [old], new)
    assert await closed(stage, one.scope(GROUP.place)) == ["我喝咖啡"]
    assert await closed(stage, one.scope("")) == await closed(stage, other.scope(GROUP.place)) == []


async def test_what_is_forgotten_is_not_told(stage: Stage) -> None:
    account = await stage.arrive("a")
    (old,) = await stage.remember(account, "我喝咖啡")
    (new,) = await stage.remember(account, "我不喝咖啡了")
    await stage.facts.supersede(account.scope(""), [old], new)
    await stage.facts.clear_person(account.person)
    assert await closed(stage, (await stage.refreshed(account)).scope("")) == []
