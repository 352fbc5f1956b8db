"""Long-term memory in SQL: facts, and their vectors beside them.

Invariant: facts, vectors and the finished job are written in one transaction, and each change of a shelf
raises its version, so whoever knows the version knows whether what they hold is still true.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime

import numpy as np

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Clock, Matrix
from bot.conversation.scope import PersonId, Scope
from bot.memory.fact import Fact, ForgetReceipt, MemoryVersion, NewFact
from bot.memory.ports import FactSheet, VectorSheet
from bot.storage.sql import fact_writing, forgetting, segments
from bot.storage.sql.database import Database
from bot.storage.sql.fact_reading import (
    CURRENT_FACTS,
    ENDING_FACTS,
    SCOPES_WITHOUT_VECTOR,
    WITHOUT_VECTOR,
    endings,
    read_fact,
)
from bot.storage.sql.fact_writing import Keeping, usable
from bot.storage.sql.schema import from_ms, to_ms
from bot.storage.sql.shelves import COVERED_SHELVES, as_list, asked, read_covered

INLINE_ROWS = 1_000
"""Rows made into facts or copied into a matrix on the loop, about 2 ms; more go to a thread."""


class SqlFacts:
    """`FactStore`. `clock` decides what has expired."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def version(self, scope: Scope) -> MemoryVersion:
        """One small read by index. Epoch -1 and no shelf for a scope that covers nothing."""
        return read_covered(await self._database.read(COVERED_SHELVES, **asked(scope))).version

    async def fact_sheet(self, scope: Scope) -> FactSheet:
        """Raises StoreUnavailable."""
        now_ms = to_ms(self._clock.now())
        async with self._database.snapshot() as read:
            covered = read_covered(await read(COVERED_SHELVES, **asked(scope)))
            rows = await read(CURRENT_FACTS, shelves=as_list(covered.ids), now=now_ms)
        if len(rows) <= INLINE_ROWS:
            facts = tuple(map(read_fact, rows))
        else:
            facts = await asyncio.to_thread(lambda: tuple(map(read_fact, rows)))
        ends = [row[-1] for row in rows if row[-1] is not None]
        return FactSheet(version=covered.version, facts=facts, fresh_until=_earliest(ends))

    async def vector_sheet(self, scope: Scope, model_id: str, dimension: int) -> VectorSheet:
        """Raises StoreUnavailable."""
        now_ms = to_ms(self._clock.now())
        async with self._database.snapshot() as read:
            covered = read_covered(await read(COVERED_SHELVES, **asked(scope)))
            packed = [
                (each, await read(segments.READ, **segments.of_shelf(each.id)))
                for each in covered.shelves
                if each.size and (each.model, each.dimension) == (model_id, dimension)
            ]
            ending = await read(ENDING_FACTS, shelves=as_list(each.id for each, _ in packed))
        ended, ends = endings(ending, now_ms)

        def unpack() -> segments.PackedRows:
            parts = [segments.unpack(each.id, each.size, dimension, rows) for each, rows in packed]
            return segments.merged(parts, dimension, ended)

        is_small = sum(each.size for each, _ in packed) <= INLINE_ROWS
        rows = unpack() if is_small else await asyncio.to_thread(unpack)
        return VectorSheet(
            version=covered.version,
            fact_ids=rows.fact_ids,
            matrix=rows.matrix,
            fresh_until=_earliest(ends),
        )

    async def keep(
        self,
        scope: Scope,
        facts: Sequence[NewFact],
        vectors: Matrix | None,
        model_id: str,
        *,
        source_turn: int | None,
        job: int | None = None,
    ) -> tuple[int, ...]:
        """Store facts once each; see `FactStore`.

        Vectors that are none (no row a fact, dimension 0, not finite, all zero) are left out with a
        warning: the facts are found by keyword, and the backlog tries again. A `job` that is no longer
        there was finished, or cleared, by someone else: nothing is stored.
        """
        keeping = Keeping(
            scope=scope,
            facts=tuple(facts),
            vectors=usable(vectors, len(facts)),
            model_id=model_id,
            source_turn=source_turn,
            job=job,
            now_ms=to_ms(self._clock.now()),
        )
        return await self._database.write(lambda connection: fact_writing.keep(connection, keeping))

    async def without_vector(self, scope: Scope, model_id: str, limit: int) -> tuple[Fact, ...]:
        """Oldest first."""
        rows = await self._database.read(
            WITHOUT_VECTOR,
            account=scope.account,
            epoch=scope.epoch,
            place=scope.place,
            model=model_id,
            now=to_ms(self._clock.now()),
            limit=limit,
        )
        return tuple(map(read_fact, rows))

    async def scopes_without_vector(self, limit: int) -> tuple[Scope, ...]:
        """One small read by index."""
        rows = await self._database.read(SCOPES_WITHOUT_VECTOR, now=to_ms(self._clock.now()), limit=limit)
        return tuple(Scope(person=row[0], account=row[1], epoch=row[2], place=row[3]) for row in rows)

    async def add_vectors(
        self, scope: Scope, fact_ids: Sequence[int], vectors: Matrix, model_id: str
    ) -> None:
        """Idempotent: a fact that has its vector keeps it. Facts of other shelves are ignored.

        Raises EmbedderUnavailable when `vectors` are none, as `keep` has it.
        """
        rows = usable(vectors, len(fact_ids))
        if rows is None:
            raise EmbedderUnavailable(f"no {len(fact_ids)} usable vectors: shape {np.shape(vectors)}")
        ids = tuple(fact_ids)
        await self._database.write(
            lambda connection: fact_writing.add_vectors(connection, scope, ids, rows, model_id)
        )

    async def forget_facts(self, scope: Scope, fact_ids: Sequence[int]) -> ForgetReceipt:
        """See `FactStore`. Raises StoreUnavailable, also when all is deleted but the log could not be
        folded in: asking again is then enough."""
        ids = tuple(fact_ids)
        receipt = await self._database.write(
            lambda connection: forgetting.forget_facts(connection, scope, ids)
        )
        await self._database.quiesce_and_checkpoint()
        return receipt

    async def clear_person(self, person: PersonId) -> ForgetReceipt:
        """See `FactStore`. Raises StoreUnavailable as `forget_facts` does."""
        receipt = await self._database.write(lambda connection: forgetting.clear_person(connection, person))
        await self._database.quiesce_and_checkpoint()
        return receipt


def _earliest(ends_ms: Sequence[int]) -> datetime | None:
    return from_ms(min(ends_ms)) if ends_ms else None
