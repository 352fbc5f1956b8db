"""Work after the reply: consolidation of turns into memory, and second chances for open messages.

Invariant: a job is finished in the transaction that stores its result, so a crash repeats it whole or
not at all; an outage of a model spends none of its tries.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from loguru import logger

from bot.alerts import Alerts, OperatorAlerts
from bot.conversation.errors import JideError, TransientError
from bot.conversation.ports import Clock
from bot.memory.consolidation import Consolidation
from bot.metrics import Metrics
from bot.pacing import Pace
from bot.ports import DeliveryStore, JobStore, JobTicket, TurnLedger
from bot.turnstile import Turnstile

LEASE_SECONDS = 120.0
"""Longer than any consolidation: one model call with its retry, one batch of embeddings."""
BATCH = 8
"""Jobs in hand at once. Each batch costs two commits, and what is kept shares one; models are asked one after
another, and all of them within the lease."""
GATHER_SECONDS = 0.05
"""Between a turn and its job: the last turns of a person are in short-term memory anyway, and where many people talk,
several jobs are leased and kept at once."""
PATIENCE_SECONDS = 5.0
"""Of each batch, while people wait for answers: a house that is always busy still remembers."""
OUTAGE_DELAY_SECONDS = 30.0
RETRY_DELAY_SECONDS = 5.0
SEALS_KEPT = timedelta(minutes=10)
"""WeChat delivers a message again within 15 seconds; a late proxy may take longer."""
PASSING_KEPT = timedelta(days=1)
"""What was said while nothing is to be remembered: as long as a talk's copy in Redis lives."""
SWEEP_SECONDS = 60.0
"""How often messages that stayed open (a store was away) are taken up again."""


class Worker:
    """Runs beside the story, woken by each turn."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        deliveries: DeliveryStore,
        consolidation: Consolidation,
        turnstile: Turnstile,
        pace: Pace,
        metrics: Metrics,
        ledger: TurnLedger | None = None,
        alerts: Alerts | None = None,
        clock: Clock,
    ) -> None:
        self._jobs = jobs
        self._deliveries = deliveries
        self._clock = clock
        self._consolidation = consolidation
        self._ledger = ledger
        self._turnstile = turnstile
        self._pace = pace
        self._metrics = metrics
        self._alerts = alerts or OperatorAlerts()
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """There may be a job."""
        self._wake.set()

    async def run(self) -> None:
        """Until cancelled. Sweeping has a loop of its own: a busy house is never idle."""
        async with asyncio.TaskGroup() as loops:
            loops.create_task(self._keep_working())
            loops.create_task(self._keep_sweeping())

    async def sweep(self) -> None:
        """Take up messages that stayed open, and drop the bytes no platform asks for any more."""
        await self._turnstile.resume_unfinished()
        await self._deliveries.purge_seals(self._clock.now() - SEALS_KEPT)
        if self._ledger is not None:
            await self._ledger.purge_passing(self._clock.now() - PASSING_KEPT)

    async def work_off(self) -> int:
        """Do all due jobs, then embed what was kept without a vector; returns how many jobs were done."""
        done = 0
        await self._pace.calm(PATIENCE_SECONDS)
        while tickets := await self._jobs.lease_jobs(BATCH, LEASE_SECONDS):
            done += await self._do_all(tickets)
            await self._pace.calm(PATIENCE_SECONDS)
        await self._consolidation.embed_waiting()
        return done

    async def _keep_working(self) -> None:
        while True:
            self._wake.clear()
            await self.work_off()
            await self._wake.wait()
            await asyncio.sleep(GATHER_SECONDS)

    async def _keep_sweeping(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            await self.sweep()
            # A job that was put back may be due.
            self.wake()

    async def _do_all(self, tickets: Sequence[JobTicket]) -> int:
        """Of different scopes each, so they need not wait for one another: what they keep shares a commit. The
        model is asked one question at a time all the same (`Consolidation`). How many were done."""
        ended = await asyncio.gather(*map(self._do, tickets), return_exceptions=True)
        for each in ended:
            if isinstance(each, BaseException):
                raise each
        return ended.count(True)

    async def _do(self, ticket: JobTicket) -> bool:
        try:
            await self._consolidation.consolidate(
                ticket.scope,
                ticket.turn,
                job=ticket.id,
                is_group=bool(ticket.scope.place),
                tries=ticket.tries,
            )
        except TransientError as error:
            logger.warning("后台任务 {} 推迟，稍后再做：{}", ticket.id, _reason(error))
            await self._jobs.retry_job(ticket.id, type(error).__name__, OUTAGE_DELAY_SECONDS, counts=False)
        except Exception as error:  # one bad job must not stop memory for everyone: this is its boundary
            self._metrics.failed_jobs.inc()
            # What the house itself raised (a judgement nobody can read) needs no traceback.
            trace = None if isinstance(error, JideError) else error
            logger.opt(exception=trace).error("后台任务 {} 失败：{}", ticket.id, _reason(error))
            is_dead = await self._jobs.retry_job(
                ticket.id, type(error).__name__, RETRY_DELAY_SECONDS, counts=True
            )
            if is_dead:
                await self._alerts.tell(
                    f"dead_letter:{type(error).__name__}",
                    "有一轮对话多次没能整理成记忆，已放弃：请看日志和 /metrics 的 dead_letter_total",
                )
        else:
            return True
        return False


def _reason(error: Exception) -> str:
    """In words where the house says why; of anything else the kind alone, since its text may quote a person."""
    return (isinstance(error, JideError) and str(error)) or type(error).__name__
