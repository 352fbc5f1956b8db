"""Exact search over one person's vectors in one place, kept for the people who write most lately.

Invariant: an entry answers only at the version its rows were read at, which is asked of the store at
each search. So no cache can show what was forgotten, cleared, unlinked or has expired.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from bot.conversation.in_turn import InTurn
from bot.conversation.lexical import largest
from bot.conversation.ports import Clock, Matrix, Vector
from bot.conversation.scope import PersonId, Scope
from bot.memory.fact import MemoryVersion
from bot.memory.ports import VectorSheet, VectorStore
from bot.storage.vectors.flat import FEW, as_pairs, make_flat

Ids = NDArray[np.int64]
"""Of facts."""
LIMIT_BYTES = 128 << 20
"""65,000 vectors of 512 numbers: the hot set of 100,000 memories fits (benchmarks)."""
INLINE_FLOATS = 1_500_000
"""About 1 ms of work. Beyond it a thread, so that the loop keeps turning."""
ENTRY_BYTES = 1_000
"""What an entry costs besides its rows; bounds the number of entries of people without vectors."""
PART_ROWS = 256
"""Vectors added since an entry was loaded lie beside it in parts. The last part is made anew at each change,
which with so few takes 0.1 ms."""
MOST_PARTS = 16
"""Then it is loaded anew: each part costs a search 0.02 ms besides its rows."""


class _Part:
    """Some of a person's rows."""

    def __init__(self, fact_ids: NDArray[np.int64], matrix: Matrix) -> None:
        self.fact_ids = fact_ids
        self.index = make_flat(matrix)

    @property
    def size_bytes(self) -> int:
        return self.index.size_bytes + self.fact_ids.nbytes

    def search(self, query: Vector, k: int, among: Ids | None) -> tuple[Ids, NDArray[np.float32]]:
        rows = None if among is None else np.flatnonzero(np.isin(self.fact_ids, among))
        found, scores = self.index.nearest(query, k, rows)
        return self.fact_ids[found], scores


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    version: MemoryVersion
    slots: tuple[int, ...]
    fresh_until: datetime | None
    model_id: str
    parts: tuple[_Part, ...]
    """What was loaded, and what was added to it up to `version`."""
    last_matrix: Matrix | None = None
    """The rows of the last part, where more may come to it."""

    @property
    def dimension(self) -> int:
        return self.parts[0].index.dimension

    @property
    def rows(self) -> int:
        return sum(part.index.rows for part in self.parts)

    @property
    def size_bytes(self) -> int:
        return sum(part.size_bytes for part in self.parts) + ENTRY_BYTES

    def is_usable(self, model_id: str, dimension: int, now: datetime) -> bool:
        """Whether it holds nothing that has expired, nor vectors of another kind."""
        is_fresh = self.fresh_until is None or now < self.fresh_until
        return is_fresh and (self.model_id, self.dimension) == (model_id, dimension)

    def with_added(self, sheet: VectorSheet) -> "_Entry | None":
        """Itself and what the sheet adds; None when it has too many parts for that."""
        if sheet.version == self.version:
            return self
        ends = [each for each in (self.fresh_until, sheet.fresh_until) if each is not None]
        grown = replace(self, version=sheet.version, slots=sheet.slots, fresh_until=min(ends, default=None))
        ids, matrix, closed = sheet.fact_ids, sheet.matrix, self.parts
        if not len(ids):
            return grown
        if self.last_matrix is not None:
            *closed, last = self.parts
            ids, matrix = np.concatenate([last.fact_ids, ids]), np.concatenate([self.last_matrix, matrix])
        if len(closed) >= MOST_PARTS:
            return None
        is_open = len(ids) < PART_ROWS
        parts = (*closed, _Part(ids, matrix))
        return replace(grown, parts=parts, last_matrix=matrix if is_open else None)

    def search(self, query: Vector, k: int, among: Ids | None) -> list[tuple[int, float]]:
        found = [part.search(query, k, among) for part in self.parts]
        ids, scores = found[0]
        if len(found) > 1:
            ids, scores = (np.concatenate(each) for each in zip(*found, strict=True))
            best = largest(scores, k)
            ids, scores = ids[best], scores[best]
        return as_pairs((ids, scores))


class PersonIndex:
    """`VectorIndex`: one exact index per (person, place), least recently used ones dropped."""

    def __init__(
        self,
        store: VectorStore,
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
        self._in_turn = InTurn[tuple[PersonId, str]]()

    @property
    def size_bytes(self) -> int:
        return self._size_bytes

    async def search(
        self, scope: Scope, query: Vector, k: int, among: Sequence[int] | None = None
    ) -> list[tuple[int, float]]:
        """(fact id, inner product), best first; always as of the store's present version.

        `among`: the ids of the facts that compete; None: all.
        Raises StoreUnavailable, or EmbedderUnavailable when `query` is no vector.
        """
        entry = await self._current(scope, int(query.shape[0]) if query.ndim == 1 else 0)
        ids = None if among is None else np.array(among, np.int64)
        if entry.rows * entry.dimension <= INLINE_FLOATS:
            return entry.search(query, k, ids)
        return await asyncio.to_thread(entry.search, query, k, ids)

    async def _current(self, scope: Scope, dimension: int) -> _Entry:
        """Asks the store at each search. What was added since is read alone: who chats adds a memory with
        each message, and reading thousands again for one takes longer than all the rest."""
        key = (scope.person, scope.place)
        async with self._in_turn.of(key):
            return await self._looked_after(key, scope, dimension)

    async def _looked_after(self, key: tuple[PersonId, str], scope: Scope, dimension: int) -> _Entry:
        model_id = self._model_id()
        known, entry = self._entries.get(key), None
        if known is not None and known.is_usable(model_id, dimension, self._clock.now()):
            sheet = await self._store.newer_vectors(scope, model_id, dimension, known.version, known.slots)
            entry = known.with_added(sheet) if sheet is not None else None
        if entry is None:
            self._evict(key)
            entry = await self._load(scope, model_id, dimension)
        self._keep(key, entry)
        return entry

    async def _load(self, scope: Scope, model_id: str, dimension: int) -> _Entry:
        sheet = await self._store.vector_sheet(scope, model_id, dimension)
        return _Entry(
            version=sheet.version,
            slots=sheet.slots,
            fresh_until=sheet.fresh_until,
            model_id=model_id,
            parts=(_Part(sheet.fact_ids, sheet.matrix),),
            # Few rows are one part with those to come: searching a part costs more than its rows.
            last_matrix=sheet.matrix if len(sheet.matrix) <= FEW else None,
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
