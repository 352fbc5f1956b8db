"""Exact search over one person's vectors in one place, kept for the people who write most lately.

Invariant: an entry answers only at the version its rows were read at, which is asked of the store at
each search. So no cache can show what was forgotten, cleared, unlinked or has expired.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from bot.conversation.in_turn import InTurn
from bot.conversation.lexical import largest
from bot.conversation.ports import Clock, Matrix, Vector
from bot.conversation.scope import PersonId, Scope
from bot.memory.fact import MemoryVersion
from bot.memory.growing import Growing
from bot.memory.ports import Nearest, VectorSheet, VectorStore
from bot.storage.vectors.flat import check_query, nearest

Ids = NDArray[np.int64]
"""Of facts."""
LIMIT_BYTES = 128 << 20
"""65,000 vectors of 512 numbers: the hot set of 100,000 memories fits (benchmarks)."""
INLINE_FLOATS = 1_500_000
"""About 1 ms of work. Beyond it a thread, so that the loop keeps turning."""
ENTRY_BYTES = 1_000
"""What an entry costs besides its rows; bounds the number of entries of people without vectors."""
FEW = 64
"""Vectors. So few are copied to lie in one piece with those to come: a second piece costs a search more than its rows."""
MOST_ADDED = 4_096
"""Vectors since an entry was loaded. Then it is loaded anew, in one piece."""

_NO_IDS, _NO_PRODUCTS = np.empty(0, np.int64), np.empty(0, np.float32)


class _Rows:
    """Some of a person's vectors."""

    def __init__(self, held: Growing) -> None:
        """`held`: the facts' ids, `(n,)`, and the vectors, `(n, d)`."""
        self._held = held

    @classmethod
    def of(cls, fact_ids: Ids, matrix: Matrix) -> "_Rows":
        return cls(Growing((fact_ids, np.ascontiguousarray(matrix, np.float32))))

    def with_added(self, fact_ids: Ids, matrix: Matrix) -> "_Rows":
        return _Rows(self._held.with_added((fact_ids, matrix))) if len(fact_ids) else self

    def __len__(self) -> int:
        return len(self._held)

    @property
    def floats(self) -> int:
        return self._held.columns[1].size

    @property
    def size_bytes(self) -> int:
        return self._held.size_bytes

    def search(self, query: Vector, k: int, among: Ids | None) -> Nearest:
        fact_ids, matrix = self._held.columns
        if among is not None:
            rows = np.flatnonzero(np.isin(fact_ids, among))
            fact_ids, matrix = fact_ids[rows], matrix[rows]
        found, products = nearest(matrix, query, k)
        return Nearest(fact_ids[found], products)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    version: MemoryVersion
    slots: tuple[int, ...]
    fresh_until: datetime | None
    model_id: str
    dimension: int
    loaded: _Rows
    added: _Rows
    """Up to `version`."""

    @classmethod
    def of(cls, sheet: VectorSheet, model_id: str) -> "_Entry":
        rows = _Rows.of(sheet.fact_ids, sheet.matrix)
        none = _Rows.of(np.empty(0, np.int64), np.empty((0, sheet.matrix.shape[1]), np.float32))
        is_few = len(sheet.matrix) <= FEW
        return cls(
            version=sheet.version,
            slots=sheet.slots,
            fresh_until=sheet.fresh_until,
            model_id=model_id,
            dimension=sheet.matrix.shape[1],
            loaded=none if is_few else rows,
            added=rows if is_few else none,
        )

    @property
    def floats(self) -> int:
        return self.loaded.floats + self.added.floats

    @property
    def size_bytes(self) -> int:
        return self.loaded.size_bytes + self.added.size_bytes + ENTRY_BYTES

    def is_usable(self, model_id: str, dimension: int, now: datetime) -> bool:
        """Whether it holds nothing that has expired, nor vectors of another kind."""
        is_fresh = self.fresh_until is None or now < self.fresh_until
        return is_fresh and (self.model_id, self.dimension) == (model_id, dimension)

    def with_added(self, sheet: VectorSheet) -> "_Entry | None":
        """Itself and what the sheet adds; None when that has become too much."""
        if sheet.version == self.version:
            return self
        if len(self.added) + len(sheet.matrix) > MOST_ADDED:
            return None
        ends = [each for each in (self.fresh_until, sheet.fresh_until) if each is not None]
        return replace(
            self,
            version=sheet.version,
            slots=sheet.slots,
            fresh_until=min(ends, default=None),
            added=self.added.with_added(sheet.fact_ids, sheet.matrix),
        )

    def search(self, query: Vector, k: int, among: Ids | None) -> Nearest:
        found = [each.search(query, k, among) for each in (self.loaded, self.added) if len(each)]
        if len(found) == 1:
            return found[0]
        ids = np.concatenate([_NO_IDS, *(each.ids for each in found)])
        products = np.concatenate([_NO_PRODUCTS, *(each.products for each in found)])
        best = largest(products, k)
        return Nearest(ids[best], products[best])


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

    async def search(self, scope: Scope, query: Vector, k: int, among: Ids | None = None) -> Nearest:
        """See `VectorIndex`. Raises StoreUnavailable, or EmbedderUnavailable when `query` is no vector."""
        entry = await self._current(scope, int(query.shape[0]) if query.ndim == 1 else 0)
        check_query(query, entry.dimension)
        if entry.floats <= INLINE_FLOATS:
            return entry.search(query, k, among)
        return await asyncio.to_thread(entry.search, query, k, among)

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
        return _Entry.of(sheet, model_id)

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
