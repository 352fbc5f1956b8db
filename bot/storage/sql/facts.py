"""Long-term memory in SQL: facts, and their vectors beside them.

Invariant: facts, vectors and the finished job are written in one transaction, and each change of a shelf
raises its version, so whoever knows the version knows whether what they hold is still true.
"""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

import numpy as np

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Clock, Matrix
from bot.conversation.scope import PersonId, Scope
from bot.memory.entities import SeenEntity
from bot.memory.fact import Fact, ForgetReceipt, MemoryVersion, NewFact
from bot.memory.ports import FactSheet, VectorSheet
from bot.memory.summary import NewSummary
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql import fact_writing, forgetting, place_clearing, retelling, superseding
from bot.storage.sql.database import Database
from bot.storage.sql.fact_reading import (
    LACKING_ANY,
    OWN_SHELF,
    SCOPES_WITHOUT_VECTOR,
    facts_beyond,
    facts_held,
    no_vectors,
    read_fact,
    read_vectors,
)
from bot.storage.sql.fact_writing import Keeping, usable
from bot.storage.sql.generations import is_stale
from bot.storage.sql.lately import Lately
from bot.storage.sql.looking import TooMany, covered_by
from bot.storage.sql.noting import write_noted
from bot.storage.sql.schema import to_ms
from bot.storage.sql.shelves import COVERED_SHELVES, Covered, asked, read_covered
from bot.storage.sql.stamps import FORGOTTEN, read_stamp
from bot.storage.sql.statements import Row
from bot.storage.sql.under_way import UnderWay
from bot.storage.sql.word_forgetting import ToForget, forget_facts

T_co = TypeVar("T_co", covariant=True)

FEW_FACTS = 100
"""Read at once, in 0.3 ms; more of them in a thread."""
FEW_VECTORS = 1_024
"""Two megabytes, read at once in 0.9 ms; more of them in a thread. The way to it and back, with what was looked at in
vain, takes 0.4 ms more."""


class SqlFacts:
    """`FactStore`. `clock` decides what has expired; `ledger` keeps what was forgotten outside the database."""

    def __init__(self, database: Database, clock: Clock, ledger: ForgetLedger | None = None) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger
        self._lately = Lately()
        self.under_way = UnderWay()
        """Told of every forgetting by words."""

    async def version(self, scope: Scope) -> MemoryVersion:
        """One small read by index. Epoch -1 and no shelf for a scope that covers nothing."""
        return read_covered(await self._database.peek(COVERED_SHELVES, **asked(scope))).version

    async def fact_sheet(self, scope: Scope) -> FactSheet:
        """Raises StoreUnavailable."""
        now_ms = to_ms(self._clock.now())

        def look(connection: sqlite3.Connection, *, is_bounded: bool) -> FactSheet:
            covered = covered_by(connection, scope)
            most = FEW_FACTS if is_bounded else None
            facts, fresh_until = facts_beyond(connection, covered, 0, now_ms, most=most)
            return FactSheet(version=covered.version, facts=facts, fresh_until=fresh_until)

        return await self._database.look(look)

    async def newer_facts(self, scope: Scope, version: MemoryVersion, beyond: int) -> FactSheet | None:
        """See `FactReader`. Raises StoreUnavailable."""
        now_ms = to_ms(self._clock.now())

        def look(connection: sqlite3.Connection, *, is_bounded: bool) -> FactSheet | None:
            covered = covered_by(connection, scope)
            if covered.version == version:
                return FactSheet(version=version, facts=())
            if not covered.has_only_grown_since(version):
                return None
            if (known := self._lately.facts(covered, version)) is not None:
                return known
            most = FEW_FACTS if is_bounded else None
            facts, fresh_until = facts_beyond(connection, covered, beyond, now_ms, most=most)
            return FactSheet(version=covered.version, facts=facts, fresh_until=fresh_until)

        return await self._database.look(look)

    async def vector_sheet(self, scope: Scope, model_id: str, dimension: int) -> VectorSheet:
        """See `VectorStore`. Raises StoreUnavailable."""
        now_ms = to_ms(self._clock.now())

        def look(connection: sqlite3.Connection, *, is_bounded: bool) -> VectorSheet:
            covered = covered_by(connection, scope)
            nothing = (0,) * len(covered.shelves)
            if is_bounded:
                _check_few(covered, nothing)
            return read_vectors(connection, covered, nothing, model_id, dimension, now_ms)

        return await self._database.look(look)

    async def newer_vectors(
        self, scope: Scope, model_id: str, dimension: int, version: MemoryVersion, slots: Sequence[int]
    ) -> VectorSheet | None:
        """See `FactStore`. Raises StoreUnavailable."""
        now_ms = to_ms(self._clock.now())

        def look(connection: sqlite3.Connection, *, is_bounded: bool) -> VectorSheet | None:
            covered = covered_by(connection, scope)
            if covered.version == version:
                return no_vectors(version, dimension, slots)
            if not covered.has_only_grown_since(version):
                return None
            known = self._lately.vectors(covered, version, slots, model_id, dimension)
            if known is not None:
                return known
            if is_bounded:
                _check_few(covered, slots)
            return read_vectors(connection, covered, slots, model_id, dimension, now_ms)

        return await self._database.look(look)

    async def keep(
        self,
        scope: Scope,
        facts: Sequence[NewFact],
        vectors: Matrix | None,
        model_id: str,
        *,
        source_turn: int | None,
        job: int | None = None,
        entities: Sequence[SeenEntity] = (),
        summary: NewSummary | None = None,
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
            entities=tuple(entities),
            summary=summary,
        )
        kept = await self._database.write(lambda connection: fact_writing.keep(connection, keeping))
        if kept is None:
            return ()
        self._lately.note(kept)
        return kept.ids

    async def without_vector(self, scope: Scope, model_id: str, limit: int) -> tuple[Fact, ...]:
        """See `FactStore`. Oldest first; by index, in the loop's own thread."""
        own = {"account": scope.account, "epoch": scope.epoch, "place": scope.place}
        now_ms = to_ms(self._clock.now())

        def look(connection: sqlite3.Connection) -> list[Row]:
            shelf = OWN_SHELF.first(connection, **own)
            if shelf is None or is_stale(connection, shelf[0], model_id):
                return []
            return LACKING_ANY.rows(connection, shelf=shelf[0], now=now_ms, limit=limit)

        return tuple(map(read_fact, await self._database.glance(look)))

    async def scopes_without_vector(self, limit: int, model_id: str) -> tuple[Scope, ...]:
        """See `FactStore`. One small read by index."""
        now_ms = to_ms(self._clock.now())
        rows = await self._database.read(SCOPES_WITHOUT_VECTOR, now=now_ms, limit=limit, made_by=model_id)
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

    async def supersede(self, scope: Scope, fact_ids: Sequence[int], by: int) -> int:
        """Close these facts of the scope, and all of it with the same texts, because its fact `by` contradicts
        them: they leave the view, and are not erased. Returns how many were open. Raises StoreUnavailable."""
        ids = tuple(fact_ids)
        return await self._database.write(
            lambda connection: superseding.supersede(connection, scope, ids, by)
        )

    async def held_facts(self, scope: Scope) -> tuple[Fact, ...]:
        """In a thread: asked for by a person who wants to see or to forget. Raises StoreUnavailable."""
        return await self._database.view(
            lambda connection: facts_held(connection, covered_by(connection, scope))
        )

    async def withdraw(self, scope: Scope, fact_ids: Sequence[int], at: datetime) -> int:
        """See `FactStore`. Raises StoreUnavailable."""
        ids = tuple(fact_ids)
        return await self._database.write(
            lambda connection: retelling.withdraw(connection, scope, ids, to_ms(at))
        )

    async def forget_facts(
        self,
        scope: Scope,
        fact_ids: Sequence[int],
        words: Sequence[str] = (),
        *,
        turns: Sequence[int] = (),
        asked_in: str = "",
    ) -> ForgetReceipt:
        """See `FactStore`. Raises StoreUnavailable, also when all is deleted but the log could not be
        folded in: asking again is then enough."""
        asking = ToForget(facts=tuple(fact_ids), words=tuple(words), turns=tuple(turns), asked_in=asked_in)
        return await self._forget(
            lambda connection: forget_facts(connection, scope, asking, self._ledger, self.under_way)
        )

    async def clear_person(self, person: PersonId) -> ForgetReceipt:
        """See `FactStore`. Raises StoreUnavailable as `forget_facts` does."""
        return await self._forget(
            lambda connection: forgetting.clear_person(connection, person, self._ledger)
        )

    async def clear_place(self, place: str) -> ForgetReceipt:
        """See `FactStore`. Raises StoreUnavailable as `forget_facts` does."""
        return await self._forget(
            lambda connection: place_clearing.clear_place(connection, place, self._ledger)
        )

    async def _forget(self, work: Callable[[sqlite3.Connection], ForgetReceipt]) -> ForgetReceipt:
        """Forgotten, noted as done in the ledger, and gone from the file, when it returns."""

        def forget(connection: sqlite3.Connection) -> ForgetReceipt:
            receipt = work(connection)
            is_noted = self._ledger is not None and receipt != ForgetReceipt()
            return replace(receipt, number=read_stamp(connection, FORGOTTEN) or 0) if is_noted else receipt

        receipt = await write_noted(self._database, self._ledger, forget)
        self._lately.clear()
        await self._database.quiesce_and_checkpoint()
        return receipt


def _check_few(covered: Covered, slots: Sequence[int]) -> None:
    """Raises TooMany when more than FEW_VECTORS lie beyond `slots`."""
    if sum(each.size for each in covered.shelves) - sum(slots) > FEW_VECTORS:
        raise TooMany
