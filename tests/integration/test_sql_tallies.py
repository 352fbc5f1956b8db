"""The operator's counts, against a real database."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.storage.sql.tallies import SqlTallies
from tests.memory_stage import MODEL, START, Stage, open_stage


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with open_stage(tmp_path) as stage:
        yield stage


def tallies_of(stage: Stage) -> SqlTallies:
    return SqlTallies(stage.database, stage.clock)


async def test_an_empty_database(stage: Stage) -> None:
    tallies = tallies_of(stage)
    inbox, jobs, memory = await tallies.inbox(), await tallies.jobs(), await tallies.memory()
    assert (inbox.oldest, inbox.dead) == (None, 0)
    assert (jobs.waiting, jobs.oldest, jobs.dead) == (0, None, 0)
    assert (memory.facts, memory.marked, memory.vectors, memory.lacking, memory.drift) == (0, 0, 0, 0, 0)


async def test_dead_letters_are_counted_whenever_they_die(stage: Stage) -> None:
    """Also those before the first look, and those that were open at it."""
    li, tallies = await stage.arrive("li"), tallies_of(stage)
    entries: list[int] = []
    for _ in range(6):
        stage.clock.advance(seconds=1)
        entries.append((await stage.inbox.admit(stage.message(li, "话"))).inbox_id)

    async def kill(entry: int) -> None:
        for _ in range(3):
            await stage.inbox.refuse(entry, "ValueError")

    async def close(entry: int) -> None:
        await stage.inbox.close(entry, account=li.id, delivery=None)

    await kill(entries[0])
    await close(entries[1])
    await kill(entries[4])
    first = await tallies.inbox()
    assert (first.dead, first.oldest) == (2, START + timedelta(seconds=3))
    assert (await tallies.inbox()).dead == 2
    await kill(entries[2])
    assert (await tallies.inbox()).dead == 3
    await close(entries[3])
    await close(entries[5])
    last = await tallies.inbox()
    assert (last.dead, last.oldest) == (3, None)
    assert (await tallies_of(stage).inbox()).dead == 3, "a new process counts the same"


async def test_jobs_that_wait_and_jobs_that_died(stage: Stage) -> None:
    li, tallies = await stage.arrive("li"), tallies_of(stage)
    await stage.say(li, "一", consolidate=True)
    stage.clock.advance(minutes=1)
    await stage.say(li, "二", consolidate=True)
    jobs = await tallies.jobs()
    assert (jobs.waiting, jobs.oldest, jobs.dead) == (2, START, 0)
    for _ in range(5):
        (ticket,) = await stage.jobs.lease_jobs(1, 60)
        await stage.jobs.retry_job(ticket.id, "ValueError", 0, counts=True)
    jobs = await tallies.jobs()
    assert (jobs.waiting, jobs.oldest, jobs.dead) == (1, START + timedelta(minutes=1), 1)


async def test_facts_beside_vectors(stage: Stage) -> None:
    li, zhang = await stage.arrive("li"), await stage.arrive("zhang")
    tallies = tallies_of(stage)
    await stage.remember(li, "爱喝茶", "住在北京")
    await stage.facts.keep(zhang.scope(""), [stage.fact("爱喝酒")], None, "", source_turn=None)
    memory = await tallies.memory()
    assert (memory.facts, memory.marked, memory.lacking, memory.vectors, memory.drift) == (3, 2, 1, 2, 0)
    (kind,) = memory.kinds
    assert (kind.model, kind.vectors) == (MODEL, 2)
    await stage.database.write(
        lambda connection: connection.execute("DELETE FROM fact WHERE id = 1").rowcount
    )
    assert (await tallies.memory()).drift == 1


async def test_a_write_can_be_seen_to_work(stage: Stage) -> None:
    tallies = tallies_of(stage)
    await tallies.write()
    stage.clock.advance(seconds=1)
    await tallies.write()
    rows = await stage.database.write(
        lambda connection: connection.execute("SELECT name, value FROM stamp WHERE name = 'probe'").fetchall()
    )
    assert rows == [("probe", int((START + timedelta(seconds=1)).timestamp() * 1000))]
