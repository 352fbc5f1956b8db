"""Turns by their time: a window is half-open, a scope sees its own, and what was forgotten is in none."""

import sqlite3
from collections.abc import AsyncGenerator, Callable
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import pytest

from bot.conversation.scope import Scope
from bot.storage.sql import turn_log
from bot.storage.sql.turn_log import SqlTurnLog
from tests.memory_stage import GROUP, START, Stage, open_stage

HOUR = timedelta(hours=1)
T = TypeVar("T")


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    async with open_stage(tmp_path) as made:
        yield made


async def questions(
    stage: Stage, scope: Scope, first_hour: int, end_hour: int, limit: int = 100
) -> list[str]:
    log = SqlTurnLog(stage.database)
    found = await log.between(scope, START + first_hour * HOUR, START + end_hour * HOUR, limit)
    return [turn.question for turn in found]


async def test_a_window_is_half_open_and_in_order(stage: Stage) -> None:
    account = await stage.arrive("a")
    for hour in range(5):
        await stage.say(account, str(hour))
        stage.clock.advance(hours=1)
    scope = account.scope("")
    assert await questions(stage, scope, 1, 3) == ["1", "2"]
    assert await questions(stage, scope, 0, 9, limit=2) == ["3", "4"]
    assert await questions(stage, scope, 6, 9) == []


async def test_times_are_newest_first(stage: Stage) -> None:
    account = await stage.arrive("a")
    for _ in range(3):
        await stage.say(account, "在吗")
        stage.clock.advance(hours=1)
    times = await SqlTurnLog(stage.database).times(account.scope(""), 2)
    assert times == (START + 2 * HOUR, START + HOUR)


async def test_a_scope_sees_its_own_alone(stage: Stage) -> None:
    one, other = await stage.arrive("a"), await stage.arrive("b")
    await stage.say(one, "私下的")
    await stage.say(one, "群里的", place=GROUP)
    await stage.say(other, "别人的")
    assert await questions(stage, one.scope(""), 0, 1) == ["私下的"]
    assert await questions(stage, one.scope(GROUP.place), 0, 1) == ["群里的"]
    assert len(await SqlTurnLog(stage.database).times(one.scope(""), 9)) == 1


async def test_the_accounts_of_one_person_are_one(stage: Stage) -> None:
    first, second = await stage.arrive("a", "union"), await stage.arrive("b", "union")
    await stage.say(first, "一")
    stage.clock.advance(hours=1)
    await stage.say(second, "二")
    assert first.person == second.person
    assert await questions(stage, first.scope(""), 0, 2) == ["一", "二"]


async def test_what_was_cleared_is_in_no_window(stage: Stage) -> None:
    account = await stage.arrive("a")
    await stage.say(account, "一")
    before = account.scope("")
    await stage.facts.clear_person(account.person)
    for scope in (before, (await stage.refreshed(account)).scope("")):
        assert await questions(stage, scope, 0, 1) == []
        assert await SqlTurnLog(stage.database).times(scope, 9) == ()


async def test_a_long_life_of_talk_is_looked_through_in_a_thread(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = await stage.arrive("a", "union"), await stage.arrive("b", "union")
    for hour in range(5):
        await stage.say(first if hour % 2 else second, str(hour))
        stage.clock.advance(hours=1)
    scope, log = first.scope(""), SqlTurnLog(stage.database)
    in_thread: list[object] = []
    view = stage.database.view

    async def counted(look: Callable[[sqlite3.Connection], T]) -> T:
        in_thread.append(look)
        return await view(look)

    monkeypatch.setattr(stage.database, "view", counted)
    at_once = await questions(stage, scope, 1, 4), await log.times(scope, 3)
    assert not in_thread
    monkeypatch.setattr(turn_log, "FEW_TURNS", 4)
    assert (await questions(stage, scope, 1, 4), await log.times(scope, 3)) == at_once
    assert at_once[0] == ["1", "2", "3"]
    assert len(in_thread) == 2
