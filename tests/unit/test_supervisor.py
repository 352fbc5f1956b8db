"""Background work that fails begins again, alone, and ends when it is told to."""

import asyncio
from collections.abc import AsyncIterator

import pytest

import bot.supervisor
from bot.supervisor import Supervisor
from tests.story_fakes import HANG_SECONDS, settle


@pytest.fixture
async def supervisor(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Supervisor]:
    monkeypatch.setattr(bot.supervisor, "RESTART_SECONDS", 0.0)
    supervisor = Supervisor()
    yield supervisor
    await supervisor.stop()


class Work:
    """Fails or ends as often as told, then runs until cancelled."""

    def __init__(self, *endings: Exception | None) -> None:
        self.endings = list(endings)
        self.starts = 0
        self.is_cancelled = False
        self.is_steady = asyncio.Event()

    async def __call__(self) -> None:
        self.starts += 1
        await asyncio.sleep(0)
        if self.endings:
            if (ending := self.endings.pop(0)) is not None:
                raise ending
            return
        self.is_steady.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.is_cancelled = True
            raise


async def steady(work: Work) -> None:
    async with asyncio.timeout(HANG_SECONDS):
        await work.is_steady.wait()


async def test_work_that_fails_or_ends_begins_again(supervisor: Supervisor) -> None:
    work = Work(RuntimeError("one"), ExceptionGroup("two", [OSError()]), None)
    supervisor.start("work", work)
    await steady(work)
    assert work.starts == 4


async def test_its_siblings_do_not_notice(supervisor: Supervisor) -> None:
    calm, wild = Work(), Work(*[RuntimeError("again")] * 20)
    supervisor.start("calm", calm)
    supervisor.start("wild", wild)
    await steady(wild)
    assert wild.starts == 21
    assert calm.starts == 1
    assert not calm.is_cancelled


async def test_stopping_cancels_and_waits(supervisor: Supervisor) -> None:
    works = [Work(), Work()]
    for number, work in enumerate(works):
        supervisor.start(str(number), work)
    await asyncio.gather(*map(steady, works))
    await supervisor.stop()
    assert all(work.is_cancelled for work in works)
    await settle()
    assert [work.starts for work in works] == [1, 1]


async def test_stopping_ends_a_pause_before_a_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot.supervisor, "RESTART_SECONDS", 3600.0)
    supervisor, work = Supervisor(), Work(RuntimeError("once"))
    supervisor.start("work", work)
    await settle()
    async with asyncio.timeout(HANG_SECONDS):
        await supervisor.stop()
    assert work.starts == 1


async def test_stopping_twice_is_harmless(supervisor: Supervisor) -> None:
    await supervisor.stop()
    await supervisor.stop()
