"""Vectors of another model: everything is embedded anew beside what is there, people who write first.

Invariant: old vectors stay until the new ones of all that is searched together are whole; a query's vector is compared with
those of its own model alone (`VectorsOfAnotherModel`), so words serve meanwhile. Every batch is small, committed, and
gives way to answers; a run that was cut off goes on where it stopped.
"""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence

from loguru import logger

from bot.conversation.errors import EmbedderUnavailable, ModelRefused, StoreUnavailable
from bot.conversation.ports import Embedder, Matrix
from bot.conversation.scope import AccountId, Scope
from bot.knowledge.splitting import searchable_text
from bot.metrics import Metrics
from bot.pacing import Pace
from bot.renewal import FactVectors, Kind, Progress, VectorStore, duration

FIRST_BATCH = 4
LARGEST_BATCH = 64
BATCH_SECONDS = 0.4
"""What a batch may take, so that it grows with a quick model: a job that also wants vectors waits no longer."""
BUSY_SECONDS = 0.1
"""The same while messages are being worked on: the next one finds the machine free the sooner."""
PATIENCE_SECONDS = 0.5
"""Before each batch, while messages are being worked on: a house that is always busy changes its model too."""
SCOPES_AT_ONCE = 1000
"""Read ahead; 50 ms each where a hundred thousand are left."""
PREFERRED_SCOPES = 1000
IDLE_SECONDS = 60.0
"""Between two looks for documents without vectors, and after an outage."""
LOG_SECONDS = 30.0


class Renewing:
    """Runs beside the story; also under `jide reindex`."""

    def __init__(
        self,
        *,
        vectors: VectorStore,
        facts: FactVectors,
        embedder: Embedder | None,
        pace: Pace,
        metrics: Metrics,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._vectors = vectors
        self._facts = facts
        self._embedder = embedder
        self._pace = pace
        self._metrics = metrics
        self._monotonic = monotonic
        self._wake = asyncio.Event()
        self._begun: Kind | None = None
        self._is_told = False
        self._batch = FIRST_BATCH
        self._seconds_each = 0.0
        self._is_quiet = True
        self._is_library_done = False
        """Until all else is done too: a look through the documents is no matter of an index."""
        self._preferred: OrderedDict[tuple[AccountId, str], Scope] = OrderedDict()
        self._line: deque[Scope] = deque()
        self._beyond = 0
        self._current: Scope | None = None
        self._refused: set[int] = set()
        """Facts whose text the embedder declined: they stay without a vector."""
        self._refused_passages: set[int] = set()
        self.facts_done = self.passages_done = 0
        self._seconds = 0.0
        self._log_at = 0.0

    def prefer(self, scope: Scope) -> None:
        """Somebody writes who is only understood by words as yet."""
        self._preferred[scope.account, scope.place] = scope
        if len(self._preferred) > PREFERRED_SCOPES:
            self._preferred.popitem(last=False)
        self._wake.set()

    def wake(self) -> None:
        """There may be something to do: the model may be known now."""
        self._wake.set()

    async def progress(self) -> Progress | None:
        """None: nothing is to be made anew, or the model is not known yet. Raises StoreUnavailable."""
        kind = self._kind()
        renewal = await self._vectors.renewal(kind) if kind is not None else None
        if kind is None or renewal is None:
            return None
        done = self.facts_done + self.passages_done
        return Progress(
            model=kind[0], renewal=renewal, per_second=done / self._seconds if self._seconds else 0.0
        )

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            self._wake.clear()
            try:
                while await self.step():
                    pass
            except (EmbedderUnavailable, StoreUnavailable) as error:
                logger.warning("重做向量先停下，稍后再做：{}", type(error).__name__)
            try:
                async with asyncio.timeout(IDLE_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def step(self) -> bool:
        """One batch; whether there is more to do. Raises EmbedderUnavailable or StoreUnavailable."""
        kind = self._kind()
        if kind is None:
            return False
        await self._begin(kind)
        self._is_quiet = await self._pace.quiet(PATIENCE_SECONDS)
        began = self._monotonic()
        has_passages = not self._is_library_done and await self._renew_passages(kind)
        if has_passages or await self._renew_facts(kind):
            self._seconds += self._monotonic() - began
            await self._tell_progress()
            return True
        await self._finish(kind)
        return False

    async def _begin(self, kind: Kind) -> None:
        if self._begun == kind:
            return
        await self._vectors.begin(kind)
        self._begun = kind
        self._refused.clear()
        self._refused_passages.clear()
        self._is_library_done = False
        progress = await self.progress()
        if progress is not None:
            self._is_told = True
            self._log_at = self._monotonic() + LOG_SECONDS
            logger.info(
                "向量模型换成了 {}（原来 {}），要重做记忆 {} 条、资料 {} 段；其间照常回答，没做完的先按关键词回忆",
                kind[0],
                "、".join(progress.renewal.old_models) or "还没有",
                progress.renewal.facts_left,
                progress.renewal.passages_left,
            )

    async def _renew_passages(self, kind: Kind) -> bool:
        beyond = max(self._refused_passages, default=0)
        passages = await self._vectors.passages_to_renew(kind, beyond, self._limit)
        if not passages:
            self._is_library_done = not await self._vectors.change_over_passages(kind, self._refused_passages)
            return not self._is_library_done
        texts = [searchable_text(each.heading, each.text) for each in passages]
        ids, matrix = await self._embed([each.id for each in passages], texts, self._refused_passages)
        if ids:
            await self._vectors.add_passage_vectors(ids, matrix, kind)
        self.passages_done += len(ids)
        self._metrics.reembedded.labels("passage").inc(len(ids))
        return True

    async def _renew_facts(self, kind: Kind) -> bool:
        scope = self._current or await self._next(kind)
        if scope is None:
            return False
        self._current = scope
        limit = self._limit
        owner, facts = await self._vectors.facts_to_renew(scope, kind, limit, self._refused)
        if not facts:
            self._current = None
            await self._vectors.change_over(scope, kind, self._refused)
            return True
        ids, matrix = await self._embed(
            [each.id for each in facts], [each.text for each in facts], self._refused
        )
        if ids:
            await self._facts.add_vectors(owner, ids, matrix, kind[0])
        self.facts_done += len(ids)
        self._metrics.reembedded.labels("fact").inc(len(ids))
        if len(facts) < limit and await self._vectors.change_over(scope, kind, self._refused):
            self._current = None
        elif self._preferred:
            # Whoever writes now comes before the rest of one with thousands.
            self._current = None
            self._line.appendleft(scope)
        return True

    async def _next(self, kind: Kind) -> Scope | None:
        if self._preferred:
            return self._preferred.popitem(last=False)[1]
        while not self._line:
            found = await self._vectors.stale_scopes(kind, self._beyond, SCOPES_AT_ONCE)
            if not found and not self._beyond:
                return None
            # Once more from the start: an account may have come back meanwhile.
            self._beyond = found[-1][0] if found else 0
            self._line.extend(scope for _, scope in found)
        return self._line.popleft()

    async def _embed(
        self, ids: Sequence[int], texts: Sequence[str], refused: set[int]
    ) -> tuple[list[int], Matrix]:
        """The ids that got a vector, with theirs. Those whose text is declined are noted."""
        assert self._embedder is not None
        began = self._monotonic()
        try:
            matrix = await self._embedder.embed_passages(texts)
        except EmbedderUnavailable as error:
            if not isinstance(error.__cause__, ModelRefused):
                raise
            if len(texts) == 1:
                refused.add(ids[0])
                return [], await self._embedder.embed_passages([])
            # One of them is declined: each by itself.
            self._batch = 1
            return await self._embed(ids[:1], texts[:1], refused)
        seconds = self._monotonic() - began
        self._seconds_each = seconds / len(texts)
        if seconds > BATCH_SECONDS:
            self._batch = max(1, self._batch // 2)
        elif 2 * seconds < BATCH_SECONDS and len(texts) >= self._batch:
            self._batch = min(LARGEST_BATCH, 2 * self._batch)
        return list(ids), matrix

    async def _finish(self, kind: Kind) -> None:
        self._is_library_done = False
        progress = await self.progress()
        if progress is None:
            self._metrics.reembedding_left.set(0)
            return
        await self._vectors.finish(kind)
        self._metrics.reembedding_left.set(0)
        if self._is_told:
            self._is_told = False
            logger.info(
                "向量已全部换成 {}：本次重做记忆 {} 条、资料 {} 段，用时 {}，旧的已删除",
                kind[0],
                self.facts_done,
                self.passages_done,
                duration(self._seconds),
            )

    async def _tell_progress(self) -> None:
        now = self._monotonic()
        if now < self._log_at:
            return
        self._log_at = now + LOG_SECONDS
        if (progress := await self.progress()) is not None:
            self._metrics.reembedding_left.set(progress.renewal.left)
            logger.info("{}", progress.text)

    @property
    def _limit(self) -> int:
        """Of the next batch."""
        if self._is_quiet or not self._seconds_each:
            return self._batch
        return max(1, min(self._batch, int(BUSY_SECONDS / self._seconds_each)))

    def _kind(self) -> Kind | None:
        """None while there is no embedder, or a remote one has not said its dimension yet."""
        try:
            return (self._embedder.model_id, self._embedder.dimension) if self._embedder is not None else None
        except EmbedderUnavailable:
            return None
