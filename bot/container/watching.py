"""What the operator sees of the house: its health, its numbers, the counts behind both.

Invariant: it only looks. A scrape costs a few small reads, and the one that is not small is made at most
once in `COUNT_SECONDS`.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable

from bot import probes
from bot.container.models import Models
from bot.conversation.errors import EmbedderUnavailable, StoreUnavailable
from bot.conversation.ports import Clock, Embedder
from bot.health import Check, Health, JobTally, MemoryTally, Readiness, Tallies
from bot.journal import Journal
from bot.metrics import Metrics
from bot.renewing import Renewing
from bot.settings import Settings

SCRAPE_SECONDS = 1.0
"""For all counts of a scrape; what is late is NaN in it. Prometheus gives a scrape ten seconds."""
COUNT_SECONDS = 60.0
"""Counting a million facts takes a tenth of a second."""
STUCK_SECONDS = 180.0
"""Beyond the longest wait for a model: two sweeps that should have taken the message up."""


class Watch:
    """`bot.console.pages.Watch`: what the pages of the console ask."""

    def __init__(
        self,
        *,
        settings: Settings,
        tallies: Tallies,
        models: Models,
        renewing: Renewing,
        metrics: Metrics,
        journal: Journal,
        ping_redis: Callable[[], Awaitable[None]] | None,
        clock: Clock,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tallies = tallies
        self._embedder: Embedder | None = models.embedder
        self._renewing = renewing
        self._metrics = metrics
        self._clock = clock
        self._monotonic = monotonic
        self._counts_again_at = -math.inf
        stuck_seconds = settings.llm.timeout_seconds + STUCK_SECONDS
        self._health = Health(
            {
                "database": Check(probe=probes.database(tallies), is_vital=True),
                "disk": Check(probe=probes.disk(settings.data_folder), is_vital=True),
                "inbox": Check(
                    probe=probes.inbox(
                        tallies, clock, idle_seconds=lambda: journal.idle_seconds, stuck_seconds=stuck_seconds
                    ),
                    is_vital=True,
                ),
                "backlog": Check(probe=probes.backlog(tallies, clock)),
                "redis": Check(probe=probes.redis(ping_redis)),
                "model": Check(probe=probes.model(models.chat_client)),
                "embedder": Check(probe=probes.embedder(models.embedder)),
                "vectors": Check(probe=probes.vectors(renewing)),
            }
        )

    async def readiness(self) -> Readiness:
        return await self._health.readiness()

    async def memory(self) -> dict[str, object]:
        """SQL beside the segments, in JSON's types. Raises StoreUnavailable."""
        memory, jobs = await self._counted()
        return {
            "facts": memory.facts,
            "facts_with_vector": memory.marked,
            "vectors": memory.vectors,
            "drift": memory.drift,
            "facts_waiting_for_vector": memory.lacking,
            "turns_waiting": jobs.waiting,
            "model": self._model_in_use(),
            "reembedding": await self._reembedding(),
            "vectors_by_model": [
                {"model": kind.model, "dimension": kind.dimension, "vectors": kind.vectors}
                for kind in memory.kinds
            ],
        }

    async def _reembedding(self) -> dict[str, object] | None:
        """None: all vectors are of the model in use."""
        progress = await self._renewing.progress()
        if progress is None:
            return None
        renewal, left = progress.renewal, progress.seconds_left
        return {
            "from": list(renewal.old_models),
            "to": progress.model,
            "facts_done": renewal.facts_done,
            "facts_left": renewal.facts_left,
            "passages_done": renewal.passages_done,
            "passages_left": renewal.passages_left,
            "per_second": round(progress.per_second, 2),
            "seconds_left": None if left is None else round(left),
        }

    async def exposition(self) -> bytes:
        """The metrics, those from the stores as of now, in Prometheus' text format."""
        await asyncio.gather(self._look_at_inbox(), self._look_at_memory())
        return self._metrics.exposition()

    async def _counted(self) -> tuple[MemoryTally, JobTally]:
        try:
            async with asyncio.timeout(SCRAPE_SECONDS):
                return await self._tallies.memory(), await self._tallies.jobs()
        except TimeoutError as error:
            raise StoreUnavailable("the counts are late") from error

    async def _look_at_inbox(self) -> None:
        age = math.nan
        try:
            async with asyncio.timeout(SCRAPE_SECONDS):
                inbox, jobs = await self._tallies.inbox(), await self._tallies.jobs()
        except (TimeoutError, StoreUnavailable):
            self._metrics.dead_letters.by_kind.clear()
        else:
            age = 0.0 if inbox.oldest is None else (self._clock.now() - inbox.oldest).total_seconds()
            self._metrics.dead_letters.by_kind.update(message=inbox.dead, job=jobs.dead)
        self._metrics.inbox_oldest_age.set(age)

    async def _look_at_memory(self) -> None:
        if self._monotonic() < self._counts_again_at:
            return
        try:
            async with asyncio.timeout(SCRAPE_SECONDS):
                memory = await self._tallies.memory()
        except (TimeoutError, StoreUnavailable):
            self._metrics.index_sql_drift.set(math.nan)
            return
        self._counts_again_at = self._monotonic() + COUNT_SECONDS
        self._metrics.index_sql_drift.set(memory.drift)

    def _model_in_use(self) -> dict[str, object] | None:
        """None: there is none, or a remote one has not told its dimension yet."""
        if self._embedder is None:
            return None
        try:
            return {"id": self._embedder.model_id, "dimension": self._embedder.dimension}
        except EmbedderUnavailable:
            return None
