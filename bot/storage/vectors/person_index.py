"""Exact search over one person's vectors in one place, kept for the people who write most lately.

Invariant: an entry answers only at the version its rows were read at, which is asked of the store at
each search. So no cache can show what was forgotten, cleared, unlinked or has expired.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from bot.conversation.ports import Clock, Vector
from bot.conversation.scope import PersonId, Scope
from bot.memory.fact import MemoryVersion
from bot.memory.ports import FactStore, VectorSheet
from bot.storage.vectors.flat import FaissFlat

LIMIT_BYTES = 128 << 20
"""65,000 vectors of 512 numbers: the hot set of 100,000 memories fits (benchmarks)."""
INLINE_FLOATS = 1_500_000
"""About 1 ms of work. Beyond it a thread, so that the loop keeps turning."""
ENTRY_BYTES = 1_000
"""What an entry costs besides its rows; bounds the number of entries of people without vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    version: MemoryVersion
    fresh_until: datetime | None
    fact_ids: NDArray[np.int64]
    index: FaissFlat

    @property
    def size_bytes(self) -> int:
        return self.index.size_bytes + self.fact_ids.nbytes + ENTRY_BYTES

    def answers(self, version: MemoryVersion, dimension: int, now: datetime) -> bool:
        is_fresh = self.fresh_until is None or now < self.fresh_until
        return is_fresh and self.version == version and self.index.dimension == dimension


class PersonIndex:
    """`VectorIndex`: one exact index per (person, place), least recently used ones dropped."""

    def __init__(
        self,
        store: FactStore,
        clock: Clock,
        *,
        model_id: Callable[[], str],
        limit_bytes: int = LIMIT_BYTES,
    ) -> None:
        """`model_id` names the embedder of the queries, asked at each load: a remote one learns its
        dimension with its first answer."""
        self._store = store
        self._clock = clock
        self._model_id = model_id
        self._limit_bytes = limit_bytes
        self._entries: OrderedDict[tuple[PersonId, str], _Entry] = OrderedDict()
        self._size_bytes = 0

    @property
    def size_bytes(self) -> int:
        return self._size_bytes

    async def search(self, scope: Scope, query: Vector, k: int) -> list[tuple[int, float]]:
        """(fact id, inner product), best first; always as of the store's present version.

        Raises StoreUnavailable, or EmbedderUnavailable when `query` is no vector.
        """
        entry = await self._current(scope, int(query.shape[0]) if query.ndim == 1 else 0)
        if entry.index.rows * entry.index.dimension <= INLINE_FLOATS:
            hits = entry.index.search(query, k)
        else:
            hits = await asyncio.to_thread(entry.index.search, query, k)
        return [(int(entry.fact_ids[row]), score) for row, score in hits]

    async def _current(self, scope: Scope, dimension: int) -> _Entry:
        key = (scope.person, scope.place)
        version = await self._store.version(scope)
        entry = self._entries.get(key)
        if entry is not None and entry.answers(version, dimension, self._clock.now()):
            self._entries.move_to_end(key)
            return entry
        self._evict(key)
        sheet = await self._store.vector_sheet(scope, self._model_id(), dimension)
        entry = await self._build(sheet)
        self._keep(key, entry)
        return entry

    async def _build(self, sheet: VectorSheet) -> _Entry:
        if sheet.matrix.size <= INLINE_FLOATS:
            index = FaissFlat(sheet.matrix)
        else:
            index = await asyncio.to_thread(FaissFlat, sheet.matrix)
        return _Entry(
            version=sheet.version, fresh_until=sheet.fresh_until, fact_ids=sheet.fact_ids, index=index
        )

    def _keep(self, key: tuple[PersonId, str], entry: _Entry) -> None:
        self._evict(key)
        self._entries[key] = entry
        self._size_bytes += entry.size_bytes
        while self._size_bytes > self._limit_bytes:
            self._evict(next(iter(self._entries)))

    def _evict(self, key: tuple[PersonId, str]) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._size_bytes -= entry.size_bytes
