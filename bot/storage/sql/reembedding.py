"""Drop all vectors, and give passages new ones; facts get theirs through `FactStore.add_vectors`.

Invariant: a text without its vector is still found by its words, so the bot serves meanwhile; what was
dropped is noted in the database, so that an interrupted run goes on where it stopped.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import bindparam, func, select, update

from bot.conversation.ports import Clock, Matrix
from bot.knowledge.passage import Passage
from bot.storage.sql import segments
from bot.storage.sql.database import Database
from bot.storage.sql.fact_reading import is_in_view
from bot.storage.sql.passages import raise_version
from bot.storage.sql.schema import document, fact, passage, shelf, to_ms
from bot.storage.sql.shelves import REWRITTEN
from bot.storage.sql.stamps import REINDEX, drop_stamp, read_stamp, write_stamp
from bot.storage.sql.statements import Statement, constant

_SHELVES = Statement(select(shelf.c.id).where(shelf.c.size > constant(0)).order_by(shelf.c.id))
_EMPTY_SHELF = Statement(
    update(shelf)
    .where(shelf.c.id == bindparam("shelf"))
    .values(size=0, model="", dimension=0, version=shelf.c.version + REWRITTEN)
)
_UNMARK_FACTS = Statement(
    update(fact).where(fact.c.shelf_id == bindparam("shelf"), fact.c.model != constant("")).values(model="")
)
_DROP_PASSAGES = Statement(
    update(passage).where(passage.c.model != constant("")).values(model="", vector=None)
)
_COUNT_FACTS = Statement(select(func.count()).where(fact.c.model == constant(""), is_in_view()))
_COUNT_PASSAGES = Statement(select(func.count()).select_from(passage).where(passage.c.model == constant("")))
_WAITING_PASSAGES = Statement(
    select(passage.c.id, document.c.name, passage.c.heading, passage.c.text)
    .join_from(passage, document, document.c.id == passage.c.document_id)
    .where(passage.c.model == constant(""), passage.c.id > bindparam("beyond"))
    .order_by(passage.c.id)
    .limit(bindparam("limit"))
)
_SET_VECTOR = Statement(
    update(passage)
    .where(passage.c.id == bindparam("passage"), passage.c.model == constant(""))
    .values(model=bindparam("made_by"), vector=bindparam("numbers"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How many texts have no vector."""

    facts: int
    passages: int


class SqlVectors:
    """All vectors of a house, as one store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def begin(self, *, again: bool) -> bool:
        """Drop every vector, unless a run that did so was interrupted (`again` drops them all the same).

        Returns whether an interrupted run goes on. Raises StoreUnavailable.
        """

        def is_under_way(connection: sqlite3.Connection) -> bool:
            return read_stamp(connection, REINDEX) is not None

        if not again and await self._database.write(is_under_way):
            return True
        for (each,) in await self._database.read(_SHELVES):
            await self._database.write(lambda connection, each=each: _empty(connection, each))

        def drop_passages(connection: sqlite3.Connection) -> None:
            _DROP_PASSAGES.run(connection)
            raise_version(connection)
            write_stamp(connection, REINDEX, 1)

        await self._database.write(drop_passages)
        return False

    async def finish(self) -> None:
        await self._database.write(lambda connection: drop_stamp(connection, REINDEX))

    async def waiting(self) -> Waiting:
        now = to_ms(self._clock.now())
        async with self._database.snapshot() as read:
            facts, passages = await read(_COUNT_FACTS, now=now), await read(_COUNT_PASSAGES)
        return Waiting(facts=facts[0][0], passages=passages[0][0])

    async def passages_without_vector(self, beyond: int, limit: int) -> tuple[Passage, ...]:
        """Those with an id above `beyond`, by id."""
        rows = await self._database.read(_WAITING_PASSAGES, beyond=beyond, limit=limit)
        return tuple(Passage(id=row[0], document=row[1], heading=row[2], text=row[3]) for row in rows)

    async def add_passage_vectors(self, ids: Sequence[int], vectors: Matrix, model_id: str) -> None:
        """`vectors`: `(len(ids), d)`. A passage that was replaced meanwhile is left alone."""
        packed = [row.tobytes() for row in np.asarray(vectors, dtype="<f4")]

        def add(connection: sqlite3.Connection) -> None:
            for each, numbers in zip(ids, packed, strict=True):
                _SET_VECTOR.run(connection, passage=each, made_by=model_id, numbers=numbers)
            raise_version(connection)

        await self._database.write(add)


def _empty(connection: sqlite3.Connection, shelf_id: int) -> None:
    segments.drop(connection, shelf_id)
    _UNMARK_FACTS.run(connection, shelf=shelf_id)
    _EMPTY_SHELF.run(connection, shelf=shelf_id)
