"""Degraded is not dead."""

import asyncio
import shutil
from collections import namedtuple
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bot import probes
from bot.console.site.words import Words
from bot.conversation.errors import StoreUnavailable
from bot.health import Check, Finding, Health, InboxTally, JobTally, MemoryTally, Probe, VectorKind, Verdict
from bot.renewal import Progress, Renewal
from tests.story_fakes import NOW, HandClock

SECRET = "redis://:hunter2@host"


def saying(verdict: Verdict) -> Probe:
    async def probe() -> Finding:
        return Finding(verdict=verdict)

    return probe


async def failing() -> Finding:
    raise StoreUnavailable(SECRET)


async def hanging() -> Finding:
    await asyncio.Event().wait()
    raise AssertionError


async def status_of(*checks: Check) -> str:
    return (await Health({str(n): check for n, check in enumerate(checks)}).readiness()).status


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        ((), "ready"),
        ((Verdict.OK, Verdict.OFF), "ready"),
        ((Verdict.OK, Verdict.DEGRADED), "degraded"),
        ((Verdict.DEGRADED, Verdict.UNREADY, Verdict.OK), "unready"),
    ],
)
async def test_the_worst_finding_decides(verdicts: tuple[Verdict, ...], status: str):
    assert await status_of(*(Check(probe=saying(verdict)) for verdict in verdicts)) == status


async def test_a_probe_that_fails_is_as_bad_as_what_it_looks_at():
    assert await status_of(Check(probe=failing)) == "degraded"
    assert await status_of(Check(probe=failing, is_vital=True)) == "unready"


async def test_a_failure_is_told_without_its_words():
    found = (await Health({"redis": Check(probe=failing)}).readiness()).findings["redis"]
    assert "StoreUnavailable" in found.detail
    assert "hunter2" not in found.detail


async def test_a_probe_that_hangs_keeps_nobody_waiting():
    health = Health(
        {"a": Check(probe=hanging, is_vital=True), "b": Check(probe=saying(Verdict.OK))}, probe_seconds=0.0
    )
    readiness = await health.readiness()
    assert readiness.findings["a"].verdict is Verdict.UNREADY
    assert readiness.findings["b"].verdict is Verdict.OK


class Tallies:
    def __init__(self, *, open_since: datetime | None = None, said_at: datetime | None = None) -> None:
        self.open_since = open_since
        self.said_at = said_at

    async def write(self) -> None:
        raise StoreUnavailable("database or disk is full")

    async def inbox(self) -> InboxTally:
        return InboxTally(oldest=self.open_since, dead=0)

    async def jobs(self) -> JobTally:
        return JobTally(waiting=3, oldest=self.said_at, dead=0)

    async def memory(self) -> MemoryTally:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("age", "idle", "verdict"),
    [
        (500, 500, Verdict.UNREADY),
        # A long line of messages that is being worked off.
        (500, 1, Verdict.OK),
        # A start after a long stop.
        (86_400, 5, Verdict.OK),
        # A quiet night.
        (0, 86_400, Verdict.OK),
    ],
)
async def test_an_inbox_is_stuck_when_somebody_waits_and_nobody_is_answered(
    age: int, idle: int, verdict: Verdict
):
    tallies = Tallies(open_since=NOW - timedelta(seconds=age))
    probe = probes.inbox(tallies, HandClock(), idle_seconds=lambda: idle, stuck_seconds=240)
    assert (await probe()).verdict is verdict


async def test_an_empty_inbox_is_not_stuck():
    probe = probes.inbox(Tallies(), HandClock(), idle_seconds=lambda: 86_400, stuck_seconds=240)
    assert (await probe()).verdict is Verdict.OK


async def test_a_database_that_cannot_be_written_is_no_house():
    assert await status_of(Check(probe=probes.database(Tallies()), is_vital=True)) == "unready"


async def test_an_old_backlog_degrades():
    fresh = await probes.backlog(Tallies(said_at=NOW), HandClock())()
    old = await probes.backlog(Tallies(said_at=NOW - timedelta(minutes=61)), HandClock())()
    assert (fresh.verdict, old.verdict) == (Verdict.OK, Verdict.DEGRADED)
    assert "3 轮" in fresh.detail and "61 分钟" in old.detail


@pytest.mark.parametrize(
    ("free", "verdict"), [(1000, Verdict.UNREADY), (100 << 20, Verdict.DEGRADED), (1 << 40, Verdict.OK)]
)
async def test_disk(free: int, verdict: Verdict, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(0, 0, free))
    assert (await probes.disk(tmp_path)()).verdict is verdict


async def test_a_data_folder_that_is_gone(tmp_path: Path):
    assert (await probes.disk(tmp_path / "没有")()).verdict is Verdict.UNREADY


class State:
    is_resting = is_away = True


async def test_what_has_a_substitute_degrades_and_what_is_not_configured_does_not():
    async def ping() -> None:
        raise StoreUnavailable("away")

    away = [probes.redis(ping), probes.model(State()), probes.embedder(State())]
    for probe in away:
        assert await status_of(Check(probe=probe)) == "degraded"
    for probe in (probes.redis(None), probes.model(None), probes.embedder(None)):
        assert (await probe()).verdict is Verdict.OFF


async def test_whatever_is_told_can_be_told_in_every_language(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def ping() -> None:
        raise StoreUnavailable("away")

    class Renewing:
        async def progress(self) -> Progress:
            left = Renewal(
                old_models=("old",),
                facts_done=1,
                facts_left=2,
                passages_done=3,
                passages_left=4,
                is_begun=True,
            )
            return Progress(model="new", renewal=left, per_second=1.5)

    free = iter((1000, 100 << 20, 70_000 << 20))
    usage = namedtuple("usage", "total used free")
    stuck = Tallies(open_since=NOW - timedelta(seconds=500))
    told = [
        *(probes.model(None), probes.model(State()), probes.embedder(None), probes.embedder(State())),
        *(probes.redis(None), probes.redis(ping), hanging, probes.vectors(Renewing())),
        probes.inbox(stuck, HandClock(), idle_seconds=lambda: 500, stuck_seconds=240),
        probes.backlog(Tallies(said_at=NOW), HandClock()),
        probes.backlog(Tallies(said_at=NOW - timedelta(minutes=61)), HandClock()),
        probes.disk(tmp_path / "没有"),
    ]
    checks = {str(number): Check(probe=probe) for number, probe in enumerate(told)}
    found = [await check.probe() for check in checks.values() if check.probe not in (hanging, told[5])]
    found += (
        await Health({"a": Check(probe=told[5]), "b": Check(probe=hanging)}, probe_seconds=0.1).readiness()
    ).findings.values()
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: usage(0, 0, next(free)))
        found += [await probes.disk(tmp_path)() for _ in range(3)]
    words = Words()
    said = {
        language: [words.say(language, "overview", f"found_{each.said}", **each.values) for each in found]
        for language in ("zh", "en")
    }
    assert len({each.said for each in found}) == 14
    assert not [each for each in said["en"] if not each.isascii() and "没有" not in each]
    assert said["zh"][-1] == "剩 68 GB"
    alike = [each.detail == words for each, words in zip(found[:-1], said["zh"], strict=False)]
    assert alike.count(False) == 1, "but for the vectors, of which the page tells less"


def test_drift_counts_too_many_as_well_as_too_few():
    def drift(marked: int, *vectors: int) -> int:
        kinds = tuple(VectorKind(model="m", dimension=3, vectors=count) for count in vectors)
        return MemoryTally(facts=9, marked=marked, lacking=0, kinds=kinds).drift

    assert (drift(5, 3, 2), drift(5, 4), drift(5, 6), drift(0)) == (0, 1, 1, 0)
