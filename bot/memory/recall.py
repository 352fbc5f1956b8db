"""Find the memories that serve a question, in one person's scope.

Invariant: what is recalled belongs to the scope as of the version read at the start; nothing is kept
from one scope to the next but indexes that are checked against that version at each use.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeAlias

import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from bot.conversation.errors import VectorsOfAnotherModel
from bot.conversation.in_turn import InTurn
from bot.conversation.lexical import largest
from bot.conversation.ports import Clock, Vector
from bot.conversation.scope import PersonId, Scope
from bot.memory.fact import Fact, MemoryVersion
from bot.memory.fact_rows import FactRows
from bot.memory.fusion import Signs, Weights, fuse, words_alone
from bot.memory.lexical import FactIndex, rows_to_read
from bot.memory.ports import FactReader, VectorIndex
from bot.memory.questions import is_about_oneself
from bot.memory.searched import Rows
from bot.memory.talk import TALK_WEIGHT, Talk
from bot.memory.telling import rows_about, rows_telling_of
from bot.memory.time_zh import Window
from bot.memory.trace import Trace, trace_of

DENSE_DEPTH = 200
"""Nearest vectors taken into the fusion. Re-ranking 20 loses a third of the best five, 200 none
(measured on 12 k memories)."""
CACHED_BYTES = 100 << 20
"""Over all cached indexes: 200,000 facts with their terms, at half a KB each."""
MAX_INDEX_AGE = timedelta(minutes=10)
"""A fact that expires by its date changes no version: an index older than this is read anew."""
INLINE_FACTS = 600
"""Facts not read before. Up to here making an index takes less than 2 ms; a thread spares the loop more."""
INLINE_TOLD = 12
"""Facts whose times nobody has read yet, read in the loop: 0.1 ms each, and the way to a thread takes as long as three."""
SECONDS_A_DAY = 86_400.0

Ranker: TypeAlias = Callable[[Signs], NDArray[np.float32]]
"""`(n,)` float32 of n memories' signs, higher is better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledFact:
    """A memory and why it was recalled."""

    fact: Fact
    score: float
    """Compares within one question only."""
    dense: float | None
    """Inner product with the question. None: no vector of it, or not among the nearest."""
    lexical: float
    """BM25 of the question's content words, ≥ 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What was found, best first."""

    facts: tuple[RecalledFact, ...]
    degraded: bool
    """There was no vector of the question, or the memories' are of another model: words alone decided."""


@dataclass(frozen=True, slots=True)
class _Cached:
    version: MemoryVersion
    index: FactIndex
    loaded_at: datetime
    size_bytes: int
    """As of then: what its questions leave there is little."""


class Recall:
    """Recall over a fact store and a vector index."""

    def __init__(
        self,
        *,
        facts: FactReader,
        index: VectorIndex,
        clock: Clock,
        weights: Weights | None = None,
        ranker: Ranker | None = None,
        talk_weight: float = TALK_WEIGHT,
        on_other_model: Callable[[Scope], None] | None = None,
    ) -> None:
        """`ranker`: `fuse` with `weights` where it is left out. `talk_weight`: of the talk a question goes on, against
        1 for the question. `on_other_model`: told of a scope whose vectors can't be compared with the question's."""
        self._on_other_model = on_other_model
        self._talk_weight = talk_weight
        self._facts = facts
        self._index = index
        self._clock = clock
        self._rank = ranker or partial(fuse, weights=weights or Weights())
        self._cache: OrderedDict[tuple[PersonId, str], _Cached] = OrderedDict()
        self._in_turn = InTurn[tuple[PersonId, str]]()
        self._held = 0
        """Bytes over all cached indexes."""

    async def recall(
        self,
        scope: Scope,
        question: str,
        k: int,
        query_vector: Vector | None = None,
        window: Window | None = None,
        talk: Talk | None = None,
        *,
        also_told: bool = False,
    ) -> Recalled:
        """At most `k` memories, best first; `complexity.k_of` tells how many a question deserves.

        `query_vector` is the question's embedding, made once per message by the caller and shared
        with knowledge retrieval. Without it the words decide, and `degraded` says so. With a `window` only what
        was said in it competes; with `also_told`, what tells of it too, whenever it was said. A `talk` that the question
        goes on is looked for with it.

        Raises:
            StoreUnavailable: the store could not be asked.
        """
        index = await self._fact_index(scope)
        rows = await _competing(index, window, also_told=also_told)
        if not len(rows):
            return Recalled(facts=(), degraded=query_vector is None)
        signs, scores = await self._ranked(scope, index, rows, question, query_vector, talk)
        dense = signs.dense
        best: list[int] = rows[largest(scores[rows], k)].tolist()
        found = tuple(_recalled(index.facts[row], row, scores, dense, signs.lexical) for row in best)
        return Recalled(facts=found, degraded=dense is None)

    async def trace(
        self,
        scope: Scope,
        question: str,
        k: int,
        query_vector: Vector | None = None,
        window: Window | None = None,
        talk: Talk | None = None,
        *,
        also_told: bool = False,
        budget_tokens: int,
        closed: Sequence[Fact] = (),
    ) -> Trace:
        """As `recall`, with every candidate and why it isn't taken. `closed`: facts that compete no more.

        Raises:
            StoreUnavailable: the store could not be asked.
        """
        index = await self._fact_index(scope)
        rows = await _competing(index, window, also_told=also_told)
        signs, scores = await self._ranked(scope, index, rows, question, query_vector, talk)
        return trace_of(index.facts, rows, signs, scores, k, budget_tokens, closed)

    async def _ranked(
        self,
        scope: Scope,
        index: FactIndex,
        rows: Rows,
        question: str,
        query: Vector | None,
        talk: Talk | None,
    ) -> tuple[Signs, NDArray[np.float32]]:
        """What speaks for each memory, and `(n,)` scores. Over all of them, so that small differences between the few
        of a window stay small beside words they share."""
        dense = await self._dense(scope, index, rows, query) if query is not None else None
        signs = self._signs(index, question, dense)
        scores = self._rank(signs)
        if talk is None:
            return signs, scores
        dense = await self._dense(scope, index, rows, talk.vector) if talk.vector is not None else None
        about = words_alone(dense, index.scores(talk.text), index.exact_matches(talk.text))
        return signs, (scores + self._talk_weight * self._rank(about)).astype(np.float32)

    async def _fact_index(self, scope: Scope) -> FactIndex:
        """Who chats adds a memory with each message: what was added since is read alone."""
        key = (scope.person, scope.place)
        async with self._in_turn.of(key):
            return await self._current(key, scope)

    async def _current(self, key: tuple[PersonId, str], scope: Scope) -> FactIndex:
        cached = self._cache.get(key)
        now = self._clock.now()
        newer = None
        if cached is not None and now - cached.loaded_at < MAX_INDEX_AGE:
            newer = await self._facts.newer_facts(scope, cached.version, cached.index.newest)
            if newer is not None and newer.version == cached.version:
                self._cache.move_to_end(key)
                return cached.index
        if cached is not None and newer is not None:
            facts, version, loaded_at = cached.index.with_added(newer.facts), newer.version, cached.loaded_at
        else:
            sheet = await self._facts.fact_sheet(scope)
            facts, version, loaded_at = FactRows.of(sheet.facts), sheet.version, now
        previous = cached.index if cached and cached.version.epoch == version.epoch else None
        if rows_to_read(facts, previous) <= INLINE_FACTS:
            index = FactIndex(facts, previous)
        else:
            index = await anyio.to_thread.run_sync(FactIndex, facts, previous)
        self._keep(key, _Cached(version, index, loaded_at, index.size_bytes))
        return index

    def _keep(self, key: tuple[PersonId, str], cached: _Cached) -> None:
        if (before := self._cache.pop(key, None)) is not None:
            self._held -= before.size_bytes
        self._cache[key] = cached
        self._held += cached.size_bytes
        while self._held > CACHED_BYTES and len(self._cache) > 1:
            _, oldest = self._cache.popitem(last=False)
            self._held -= oldest.size_bytes

    async def _dense(
        self, scope: Scope, index: FactIndex, rows: Rows, query: Vector
    ) -> NDArray[np.float32] | None:
        """`(n,)` inner products by the order of the facts, NaN where there is none. `rows`: those that compete. None: the
        vectors are of another model."""
        try:
            found = [await self._index.search(scope, query, DENSE_DEPTH)]
            if len(rows) < len(index.facts) and len(index.facts) > DENSE_DEPTH:
                found.append(await self._index.search(scope, query, DENSE_DEPTH, index.ids[rows]))
        except VectorsOfAnotherModel:
            if self._on_other_model is not None:
                self._on_other_model(scope)
            return None
        nearness = np.full(len(index.facts), np.nan, np.float32)
        for ids, products in found:
            places = index.rows_of(ids)
            here = places >= 0
            nearness[places[here]] = products[here]
        return nearness

    def _signs(self, index: FactIndex, question: str, dense: NDArray[np.float32] | None) -> Signs:
        now = self._clock.now().timestamp()
        return Signs(
            dense=dense,
            lexical=index.scores(question),
            covered=index.covered(question),
            exact=index.exact_matches(question),
            form=index.forms(question),
            topic=index.shared_topics(question),
            importance=index.importance,
            age_days=((now - index.last_said_at) / SECONDS_A_DAY).astype(np.float32),
            oneself=index.is_lasting * is_about_oneself(question),
        )


async def _competing(index: FactIndex, window: Window | None, *, also_told: bool) -> Rows:
    said = index.said_in(window)
    if window is None or not also_told:
        return said
    about = rows_about(index, window)
    if sum(not index.knows_times_of(row) for row in about) <= INLINE_TOLD:
        telling = rows_telling_of(index, about, window)
    else:
        telling = await anyio.to_thread.run_sync(rows_telling_of, index, about, window)
    return np.union1d(said, telling)


def _recalled(
    fact: Fact,
    row: int,
    scores: NDArray[np.float32],
    dense: NDArray[np.float32] | None,
    lexical: NDArray[np.float32],
) -> RecalledFact:
    nearness = None if dense is None or np.isnan(dense[row]) else float(dense[row])
    return RecalledFact(fact=fact, score=float(scores[row]), dense=nearness, lexical=float(lexical[row]))
