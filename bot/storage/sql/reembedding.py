"""Making all vectors anew, with another model: what is left to do, and the change from the old ones to the new.

Invariant: old vectors stay until new ones take their place (`generations`, `passage_vectors`), so an interrupted run goes
on where it stopped, and going back to the old model costs nothing. While any byte of vectors that were dropped may
still lie in the file, a stamp says so.
"""

import sqlite3
from collections.abc import Collection, Sequence

from sqlalchemy import and_, bindparam, func, not_, or_, select

from bot.conversation.ports import Clock, Matrix
from bot.conversation.scope import Scope
from bot.knowledge.passage import Passage
from bot.memory.fact import Fact
from bot.renewal import Kind, Renewal
from bot.storage.sql import generations, passage_vectors
from bot.storage.sql.database import Database
from bot.storage.sql.fact_columns import is_in_view
from bot.storage.sql.fact_reading import FACTS_BESIDES, read_fact
from bot.storage.sql.generations import OF_OTHER_KINDS
from bot.storage.sql.schema import account, fact, person, shelf, to_ms
from bot.storage.sql.shelves import as_list
from bot.storage.sql.stamps import REINDEX, drop_stamp, read_stamp, write_stamp
from bot.storage.sql.statements import Row, Statement, constant

SHELVES_AT_ONCE = 50
"""Emptied in one transaction: a few milliseconds of the writer's."""

_STALE = Statement(
    select(shelf.c.id, account.c.person_id, account.c.id, person.c.epoch, shelf.c.place)
    .select_from(shelf)
    .join(account, account.c.id == shelf.c.account_id)
    .join(person, person.c.id == account.c.person_id)
    .where(OF_OTHER_KINDS, shelf.c.id > bindparam("beyond"), account.c.parked_at.is_(None))
    .order_by(shelf.c.id)
    .limit(bindparam("limit"))
)
_PARKED = Statement(
    select(shelf.c.id)
    .join_from(shelf, account, account.c.id == shelf.c.account_id)
    .where(OF_OTHER_KINDS, account.c.parked_at.is_not(None))
    .limit(bindparam("limit"))
)
_SUPERFLUOUS = Statement(
    # What was being made of a kind that is wanted no more.
    select(shelf.c.id, shelf.c.side)
    .where(
        shelf.c.coming_model != constant(""),
        or_(
            not_(
                and_(
                    shelf.c.coming_model == bindparam("made_by"),
                    shelf.c.coming_dimension == bindparam("numbers"),
                )
            ),
            and_(shelf.c.model == bindparam("made_by"), shelf.c.dimension == bindparam("numbers")),
        ),
    )
    .limit(bindparam("limit"))
)
_SHELVES = Statement(
    select(shelf.c.id).where(or_(shelf.c.size > constant(0), shelf.c.coming_size > constant(0)))
)
_OLD = Statement(select(func.total(shelf.c.size), func.total(shelf.c.coming_size)).where(OF_OTHER_KINDS))
_NEW = Statement(
    select(func.total(shelf.c.size)).where(
        shelf.c.model == bindparam("made_by"), shelf.c.dimension == bindparam("numbers")
    )
)
_NEXT_MODEL = Statement(select(func.min(shelf.c.model)).where(shelf.c.model > bindparam("after")))
_LEAST = Statement(select(func.min(shelf.c.dimension)).where(shelf.c.model == bindparam("made_by")))
_MOST = Statement(select(func.max(shelf.c.dimension)).where(shelf.c.model == bindparam("made_by")))
_LACKING = Statement(select(func.count()).where(fact.c.model == constant(""), is_in_view()))


class SqlVectors:
    """`bot.renewal.VectorStore`: all vectors of a house, as one store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def renewal(self, kind: Kind) -> Renewal | None:
        """A few reads by index while nothing is to be made anew."""
        made_by, numbers = kind

        def look(connection: sqlite3.Connection) -> Renewal | None:
            asked = {"made_by": made_by, "numbers": numbers}
            models = _old_models(connection, kind)
            models |= passage_vectors.old_models(connection, kind)
            has_dropped = read_stamp(connection, REINDEX) is not None
            if not models and not has_dropped:
                return None
            old, coming = _OLD.first(connection, **asked) or (0, 0)
            new = _NEW.first(connection, **asked) or (0,)
            passages, done = passage_vectors.count(connection, kind)
            return Renewal(
                old_models=tuple(sorted(models)),
                facts_done=int(new[0] + coming),
                facts_left=int(max(old - coming, 0)),
                passages_done=done,
                passages_left=passages - done,
                is_begun=has_dropped or bool(new[0] + coming + done),
            )

        return await self._database.view(look)

    async def lacking(self) -> int:
        rows = await self._database.read(_LACKING, now=to_ms(self._clock.now()))
        return rows[0][0]

    async def begin(self, kind: Kind) -> None:
        made_by, numbers = kind

        def drop(connection: sqlite3.Connection) -> int:
            found = _SUPERFLUOUS.rows(connection, made_by=made_by, numbers=numbers, limit=SHELVES_AT_ONCE)
            for shelf_id, side in found:
                generations.drop_coming(connection, shelf_id, side)
            if passage_vectors.drop_superfluous(connection, kind) or found:
                write_stamp(connection, REINDEX, 1)
            return len(found)

        while await self._database.write(drop) == SHELVES_AT_ONCE:
            pass

    async def stale_scopes(self, kind: Kind, beyond: int, limit: int) -> tuple[tuple[int, Scope], ...]:
        def look(connection: sqlite3.Connection) -> list[Row]:
            if not _old_models(connection, kind):
                return []
            return _STALE.rows(connection, **_asked(kind), beyond=beyond, limit=limit)

        return tuple(
            (row[0], Scope(person=row[1], account=row[2], epoch=row[3], place=row[4]))
            for row in await self._database.view(look)
        )

    async def facts_to_renew(
        self, scope: Scope, kind: Kind, limit: int, but_for: Collection[int]
    ) -> tuple[Scope, tuple[Fact, ...]]:
        now_ms = to_ms(self._clock.now())

        def look(connection: sqlite3.Connection) -> tuple[Scope, list[Row]]:
            for known, own in generations.stale_shelves(connection, scope, kind):
                held = as_list([*generations.coming_ids(connection, known.id, kind), *but_for])
                rows = FACTS_BESIDES.rows(connection, shelf=known.id, held=held, now=now_ms, limit=limit)
                if rows:
                    return own, rows
            return scope, []

        owner, rows = await self._database.view(look)
        return owner, tuple(map(read_fact, rows))

    async def change_over(self, scope: Scope, kind: Kind, but_for: Collection[int]) -> bool:
        now_ms = to_ms(self._clock.now())

        def change(connection: sqlite3.Connection) -> bool:
            has_changed = generations.change_over(connection, scope, kind, now_ms, but_for)
            if has_changed:
                write_stamp(connection, REINDEX, 1)
            return has_changed

        return await self._database.write(change)

    async def passages_to_renew(self, kind: Kind, beyond: int, limit: int) -> tuple[Passage, ...]:
        return await self._database.view(
            lambda connection: passage_vectors.lacking(connection, kind, beyond, limit)
        )

    async def add_passage_vectors(self, ids: Sequence[int], vectors: Matrix, kind: Kind) -> None:
        packed = passage_vectors.packed(vectors)
        await self._database.write(
            lambda connection: passage_vectors.add(connection, dict(zip(ids, packed, strict=True)), kind)
        )

    async def change_over_passages(self, kind: Kind, but_for: Collection[int]) -> bool:
        def change(connection: sqlite3.Connection) -> bool:
            has_changed = passage_vectors.change_over(connection, kind, but_for)
            if has_changed:
                write_stamp(connection, REINDEX, 1)
            return has_changed

        return await self._database.write(change)

    async def drop_all(self) -> None:
        """Every vector of the house: what has none is found by its words until it is embedded again."""
        for (each,) in await self._database.read(_SHELVES):
            await self._database.write(lambda connection, each=each: generations.empty(connection, each))

        def drop_passages(connection: sqlite3.Connection) -> None:
            passage_vectors.drop_all(connection)
            write_stamp(connection, REINDEX, 1)

        await self._database.write(drop_passages)

    async def finish(self, kind: Kind) -> None:
        """What is parked is embedded when it comes back; until then nothing answers from it."""

        def drop_parked(connection: sqlite3.Connection) -> int:
            found = _PARKED.rows(connection, **_asked(kind), limit=SHELVES_AT_ONCE)
            for (shelf_id,) in found:
                generations.empty(connection, shelf_id)
            return len(found)

        while await self._database.write(drop_parked) == SHELVES_AT_ONCE:
            pass
        if await self._database.write(lambda connection: read_stamp(connection, REINDEX)) is None:
            return
        await self._database.quiesce_and_checkpoint()
        await self._database.write(lambda connection: drop_stamp(connection, REINDEX))


def _old_models(connection: sqlite3.Connection, kind: Kind) -> set[str]:
    """Of shelves of other kinds: from one model to the next by index, however many shelves there are."""
    made_by, dimension = kind
    found: set[str] = set()
    after = ""
    while (row := _NEXT_MODEL.first(connection, after=after)) is not None and row[0] is not None:
        after = row[0]
        ends = (_LEAST.first(connection, made_by=after), _MOST.first(connection, made_by=after))
        if after != made_by or ends != ((dimension,), (dimension,)):
            found.add(after)
    return found


def _asked(kind: Kind) -> dict[str, object]:
    return {"made_by": kind[0], "numbers": kind[1]}
