"""Work after the reply: outages cost no try, one bad job stops nobody, and nothing waits for quiet."""

import asyncio
from collections import deque
from dataclasses import dataclass, field

import pytest
from loguru import logger

import bot.worker
from bot.conversation.errors import JideError, ModelUnavailable, ModelUnpaid, StoreUnavailable
from bot.conversation.scope import AccountId, PersonId, Scope
from bot.conversation.turn import Turn
from bot.memory.consolidation import Consolidation
from bot.memory.judge import Judgement
from bot.metrics import Metrics
from bot.pacing import Pace
from bot.ports import JobTicket
from bot.worker import LEASE_SECONDS, OUTAGE_DELAY_SECONDS, RETRY_DELAY_SECONDS, SEALS_KEPT, Worker
from tests.alert_fakes import Told
from tests.story_fakes import HANG_SECONDS, NOW, WayIn, message, settle


def ticket(number: int, place: str = "") -> JobTicket:
    return JobTicket(
        id=number,
        scope=Scope(person=PersonId(number), account=AccountId(number), epoch=0, place=place),
        turn=Turn(id=number, question=f"问{number}", answer="答", at=NOW),
        tries=0,
    )


class Jobs:
    """A `JobStore`; a job put back is due again when the test says so."""

    def __init__(self) -> None:
        self.due: deque[JobTicket] = deque()
        self.put_back: list[tuple[int, str, float, bool]] = []
        self.is_away = False
        self.gives_up = False

    async def lease_jobs(self, limit: int, lease_seconds: float) -> tuple[JobTicket, ...]:
        await asyncio.sleep(0)
        if self.is_away:
            raise StoreUnavailable("away")
        assert lease_seconds == LEASE_SECONDS
        return tuple(self.due.popleft() for _ in range(min(limit, len(self.due))))

    async def finish_job(self, job: int) -> None:
        raise AssertionError("consolidation finishes its job itself")

    async def retry_job(self, job: int, error: str, delay_seconds: float, *, counts: bool) -> bool:
        self.put_back.append((job, error, delay_seconds, counts))
        return self.gives_up

    async def release_leases(self) -> int:
        raise AssertionError("the house does, at its start")

    async def backlog(self) -> int:
        return len(self.due)


class ScriptedConsolidation(Consolidation):
    """Does what the test says for each job."""

    def __init__(self) -> None:
        self.failures: dict[int, Exception] = {}
        self.gates: dict[int, asyncio.Event] = {}
        self.done: list[int] = []
        self.in_groups: list[int] = []
        self.tries: list[int] = []
        self.embeddings = 0

    async def consolidate(
        self, scope: Scope, turn: Turn, *, job: int, is_group: bool, tries: int = 0
    ) -> Judgement:
        self.tries.append(tries)
        if (gate := self.gates.get(job)) is not None:
            await gate.wait()
        if (failure := self.failures.pop(job, None)) is not None:
            raise failure
        self.done.append(job)
        if is_group:
            self.in_groups.append(job)
        return Judgement(keep=False, reason="")

    async def embed_waiting(self) -> int:
        self.embeddings += 1
        return 0


@dataclass
class Shed:
    """A worker with what it works on."""

    way: WayIn = field(default_factory=WayIn)
    jobs: Jobs = field(default_factory=Jobs)
    consolidation: ScriptedConsolidation = field(default_factory=ScriptedConsolidation)
    metrics: Metrics = field(default_factory=Metrics)
    alerts: Told = field(default_factory=Told)

    def __post_init__(self) -> None:
        self.worker = Worker(
            jobs=self.jobs,
            deliveries=self.way.deliveries,  # type: ignore[arg-type]
            consolidation=self.consolidation,
            turnstile=self.way.turnstile,
            pace=Pace(),
            metrics=self.metrics,
            alerts=self.alerts,
            clock=self.way.clock,
        )

    @property
    def failed_jobs(self) -> float | None:
        return self.metrics.registry.get_sample_value("jide_failed_jobs_total")


@pytest.fixture
def shed() -> Shed:
    return Shed()


async def test_all_due_jobs_are_done_then_what_has_no_vector_is_embedded(shed: Shed) -> None:
    shed.jobs.due.extend(ticket(number) for number in range(1, 20))
    assert await shed.worker.work_off() == 19
    assert shed.consolidation.done == list(range(1, 20))
    assert shed.consolidation.embeddings == 1


async def test_it_is_told_which_turns_are_a_groups(shed: Shed) -> None:
    shed.jobs.due.extend((ticket(1), ticket(2, "onebot:app:g1")))
    await shed.worker.work_off()
    assert shed.consolidation.in_groups == [2]


@pytest.mark.parametrize("outage", [ModelUnavailable("away"), ModelUnpaid("402"), StoreUnavailable("locked")])
async def test_an_outage_spends_no_try(shed: Shed, outage: Exception) -> None:
    shed.jobs.due.append(ticket(1))
    shed.consolidation.failures[1] = outage
    assert await shed.worker.work_off() == 0
    assert shed.jobs.put_back == [(1, type(outage).__name__, OUTAGE_DELAY_SECONDS, False)]
    assert shed.failed_jobs == 0


@pytest.mark.parametrize("fault", [JideError("nonsense"), ValueError("我的暗号")])
async def test_a_fault_spends_one_and_stops_nobody(shed: Shed, fault: Exception) -> None:
    shed.jobs.due.extend((ticket(1), ticket(2)))
    shed.consolidation.failures[1] = fault
    assert await shed.worker.work_off() == 1
    assert shed.jobs.put_back == [(1, type(fault).__name__, RETRY_DELAY_SECONDS, True)]
    assert shed.consolidation.done == [2]
    assert shed.failed_jobs == 1


@pytest.mark.parametrize(
    ("failure", "said", "hidden"),
    [
        (JideError("模型的判断读不懂"), "模型的判断读不懂", "JideError"),
        (ModelUnavailable("模型没有回答"), "模型没有回答", "ModelUnavailable"),
        (JideError(), "JideError", "None"),
        (ValueError("我住在桂花巷"), "失败：ValueError", "失败：我住在桂花巷"),
    ],
)
async def test_the_log_names_the_reason_in_words(
    shed: Shed, failure: Exception, said: str, hidden: str
) -> None:
    lines: list[str] = []
    sink = logger.add(lines.append, format="{message}", level="WARNING")
    try:
        shed.jobs.due.append(ticket(1))
        shed.consolidation.failures[1] = failure
        await shed.worker.work_off()
    finally:
        logger.remove(sink)
    text = "".join(lines)
    assert said in text and hidden not in text


async def test_the_operator_is_told_of_a_dead_letter_alone(shed: Shed) -> None:
    for gives_up, told in ((False, 0), (True, 1)):
        shed.jobs.gives_up = gives_up
        shed.jobs.due.append(ticket(1))
        shed.consolidation.failures[1] = ValueError("不说出去")
        await shed.worker.work_off()
        assert len(shed.alerts.texts) == told
    assert "不说出去" not in shed.alerts.texts[0]


async def test_cancelling_is_no_fault_of_the_job(shed: Shed) -> None:
    shed.jobs.due.append(ticket(1))
    shed.consolidation.gates[1] = asyncio.Event()
    work = asyncio.create_task(shed.worker.work_off())
    await settle()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert shed.jobs.put_back == [], "the lease lapses, and the job is done after the next start"


async def test_a_new_turn_wakes_it(shed: Shed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot.worker, "GATHER_SECONDS", 0)
    running = asyncio.create_task(shed.worker.run())
    await settle()
    shed.jobs.due.append(ticket(1))
    await settle()
    assert shed.consolidation.done == []
    shed.worker.wake()
    await settle()
    assert shed.consolidation.done == [1]
    await _end(running)


async def test_a_wake_during_work_is_not_lost(shed: Shed) -> None:
    shed.consolidation.gates[1] = asyncio.Event()
    shed.jobs.due.append(ticket(1))
    running = asyncio.create_task(shed.worker.run())
    await settle()
    shed.jobs.due.append(ticket(2))
    shed.worker.wake()
    shed.consolidation.gates[1].set()
    await settle()
    assert shed.consolidation.done == [1, 2]
    await _end(running)


async def test_a_sweep_takes_up_open_messages_and_drops_old_seals(shed: Shed) -> None:
    await shed.way.inbox.admit(message("1"))
    await shed.worker.sweep()
    await shed.way.turnstile.drain()
    assert shed.way.story.resumed == ["1"]
    assert shed.way.deliveries.purged_before == [NOW - SEALS_KEPT]


async def test_a_busy_house_is_swept_too(shed: Shed, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that never ends: the worker is never idle, and messages left open must not wait for that."""
    monkeypatch.setattr(bot.worker, "SWEEP_SECONDS", 0.01)
    await shed.way.inbox.admit(message("1"))
    shed.consolidation.gates[1] = asyncio.Event()
    shed.jobs.due.append(ticket(1))
    running = asyncio.create_task(shed.worker.run())
    async with asyncio.timeout(HANG_SECONDS):
        while not shed.way.story.resumed:
            shed.worker.wake()
            await asyncio.sleep(0)
    assert shed.consolidation.done == []
    await _end(running)


async def test_a_job_put_back_is_taken_up_after_a_sweep(shed: Shed, monkeypatch: pytest.MonkeyPatch) -> None:
    running = asyncio.create_task(shed.worker.run())
    await settle()
    await _end(running)
    monkeypatch.setattr(bot.worker, "SWEEP_SECONDS", 0.01)
    running = asyncio.create_task(shed.worker.run())
    await settle()
    shed.jobs.due.append(ticket(1))
    async with asyncio.timeout(HANG_SECONDS):
        while not shed.consolidation.done:
            await asyncio.sleep(0)
    await _end(running)


async def test_a_store_that_is_away_ends_the_run_for_the_supervisor_to_restart(shed: Shed) -> None:
    shed.jobs.is_away = True
    async with asyncio.timeout(HANG_SECONDS):
        with pytest.raises(ExceptionGroup) as caught:
            await shed.worker.run()
    assert caught.group_contains(StoreUnavailable)


async def _end(running: "asyncio.Task[None]") -> None:
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
