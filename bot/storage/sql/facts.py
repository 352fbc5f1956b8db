"""Long-term memory in SQL: facts, and their vectors beside them.

Invariant: facts, vectors and the finished job are written in one transaction, and each change of a shelf
raises its version, so whoever knows the version knows whether what they hold is still true.
"""

import sqlite3
from collections.abc import Callable, Sequence

import numpy as np

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Clock, Matrix
from bot.conversation.scope import PersonId, Scope
from bot.memory.fact import Fact, ForgetReceipt, MemoryVersion, NewFact
from bot.memory.ports import FactSheet, VectorSheet
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql import fact_writing, forgetting
from bot.storage.sql.database import Database
from bot.storage.sql.fact_reading import (
    CURRENT_FACTS,
    SCOPES_WITHOUT_VECTOR,
    WITHOUT_VECTOR,
    earliest,
    read_fact,
    read_vectors,
)
from bot.storage.sql.fact_writing import Keeping, usable
from bot.storage.sql.schema import to_ms
from bot.storage.sql.shelves import COVERED_SHELVES, as_list, asked, read_covered
from bot.storage.sql.stamps import FORGOTTEN, read_stamp


class SqlFacts:
    """`FactStore`. `clock` decides what has expired; `ledger` keeps what was forgotten outside the database."""

    def __init__(self, database: Database, clock: Clock, ledger: ForgetLedger | None = None) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger

    async def version(self, scope: Scope) -> MemoryVersion:
        """One small read by index. Epoch -1 and no shelf for a scope that covers nothing."""
        return read_covered(await self._database.read(COVERED_SHELVES, **asked(scope))).version

    async def fact_sheet(self, scope: Scope) -> FactSheet:
        """Raises StoreUnavailable."""
        now_ms = to_ms(self._clock.now())

        def look(connection: sqlite3.Connection) -> FactSheet:
            covered = read_covered(COVERED_SHELVES.rows(connection, **asked(scope)))
            rows = CURRENT_FACTS.rows(connection, shelves=as_list(covered.ids), now=now_ms)
            ends = [row[-1] for row in rows if row[-1] is not None]
            facts = tuple(map(read_fact, rows))
            return FactSheet(version=covered.version, facts=facts, fresh_until=earliest(ends))

        return await self._database.view(look)

    async def vector_sheet(self, scope: Scope, model_id: str, dimension: int) -> VectorSheet:
        """Raises StoreUnavailable."""
        now_ms = to_ms(self._clock.now())

        def look(connection: sqlite3.Connection) -> VectorSheet:
            covered = read_covered(COVERED_SHELVES.rows(connection, **asked(scope)))
            nothing = (0,) * len(covered.shelves)
            return read_vectors(connection, covered, nothing, model_id, dimension, now_ms)

        return await self._database.view(look)

    async def newer_vectors(
        self, scope: Scope, model_id: str, dimension: int, version: MemoryVersion, slots: Sequence[int]
    ) -> VectorSheet | None:
        """See `FactStore`. Raises StoreUnavailable."""
        now_ms = to_ms(self._clock.now())

        def look(connection: sqlite3.Connection) -> VectorSheet | None:
            covered = read_covered(COVERED_SHELVES.rows(connection, **asked(scope)))
            if not covered.has_only_grown_since(version):
                return None
            return read_vectors(connection, covered, slots, model_id, dimension, now_ms)

        return await self._database.view(look)

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
        return await self._forget(
            lambda connection: forgetting.forget_facts(connection, scope, ids, self._ledger)
        )

    async def clear_person(self, person: PersonId) -> ForgetReceipt:
        """See `FactStore`. Raises StoreUnavailable as `forget_facts` does."""
        return await self._forget(
            lambda connection: forgetting.clear_person(connection, person, self._ledger)
        )

    async def _forget(self, work: Callable[[sqlite3.Connection], ForgetReceipt]) -> ForgetReceipt:
        """Forgotten, noted as done in the ledger, and gone from the file, when it returns."""

        def forget(connection: sqlite3.Connection) -> tuple[ForgetReceipt, int]:
            return work(connection), read_stamp(connection, FORGOTTEN) or 0

        receipt, number = await self._database.write(forget)
        if (ledger := self._ledger) is not None:
            await self._database.write(lambda _: ledger.confirm(number))
        await self._database.quiesce_and_checkpoint()
        return receipt
