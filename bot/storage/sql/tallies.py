"""Counts and ages over all tables, for the operator: how full, how old, and whether a write is durable.

Invariant: counts alone leave this module, never an id or a text. Nothing here walks a table that grows with
every message, but for the first count of dead letters.
"""

from sqlalchemy import bindparam, func, select

from bot.conversation.ports import Clock
from bot.health import InboxTally, JobTally, MemoryTally, VectorKind
from bot.storage.sql.database import Database
from bot.storage.sql.fact_columns import is_in_view
from bot.storage.sql.schema import fact, from_ms, inbox, job, shelf, to_ms, turn
from bot.storage.sql.stamps import write_stamp
from bot.storage.sql.statements import Statement, constant

PROBE = "probe"
"""The row of `stamp` that is rewritten to see whether writing works."""

_OLDEST_OPEN = Statement(
    select(func.min(inbox.c.id), func.min(inbox.c.accepted_at)).where(inbox.c.state == constant("accepted"))
)
_NEWEST = Statement(select(func.max(inbox.c.id)))
_DEAD_BETWEEN = Statement(
    select(func.count()).where(
        inbox.c.id > bindparam("after"), inbox.c.id <= bindparam("until"), inbox.c.state == constant("dead")
    )
)
_WAITING_JOBS = Statement(
    select(func.count(), func.min(turn.c.at))
    .select_from(job.join(turn))
    .where(job.c.state != constant("dead"))
)
_DEAD_JOBS = Statement(select(func.count()).where(job.c.state == constant("dead")))
# Without a condition SQLite counts over the narrowest index.
_FACTS = Statement(select(func.count()).select_from(fact))
_UNMARKED = Statement(select(func.count()).where(fact.c.model == constant("")))
_LACKING = Statement(select(func.count()).where(fact.c.model == constant(""), is_in_view()))
_KINDS = Statement(
    select(shelf.c.model, shelf.c.dimension, func.sum(shelf.c.size))
    .where(shelf.c.size > constant(0))
    .group_by(shelf.c.model, shelf.c.dimension)
    .order_by(shelf.c.model, shelf.c.dimension)
)


class SqlTallies:
    """`bot.health.Tallies` over SQL."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._settled = 0, 0
        """An entry, and the dead letters up to it: before the oldest open one nothing changes any more."""

    async def write(self) -> None:
        at = to_ms(self._clock.now())
        await self._database.write(lambda connection: write_stamp(connection, PROBE, at))

    async def inbox(self) -> InboxTally:
        """One small read by index, and one over what came since the last time."""
        async with self._database.snapshot() as read:
            oldest_id, oldest_at = (await read(_OLDEST_OPEN))[0]
            newest = (await read(_NEWEST))[0][0] or 0
            settled = newest if oldest_id is None else oldest_id - 1
            after, dead = self._settled
            if settled > after:
                dead += (await read(_DEAD_BETWEEN, after=after, until=settled))[0][0]
                after = settled
            since = (await read(_DEAD_BETWEEN, after=after, until=newest))[0][0]
            self._settled = after, dead
        return InboxTally(oldest=None if oldest_at is None else from_ms(oldest_at), dead=dead + since)

    async def jobs(self) -> JobTally:
        async with self._database.snapshot() as read:
            waiting, oldest_at = (await read(_WAITING_JOBS))[0]
            dead = (await read(_DEAD_JOBS))[0][0]
        return JobTally(waiting=waiting, oldest=None if oldest_at is None else from_ms(oldest_at), dead=dead)

    async def memory(self) -> MemoryTally:
        """About 100 ms of a reader's thread at a million facts; no vector is read."""
        async with self._database.snapshot() as read:
            facts = (await read(_FACTS))[0][0]
            unmarked = (await read(_UNMARKED))[0][0]
            lacking = (await read(_LACKING, now=to_ms(self._clock.now())))[0][0]
            kinds = await read(_KINDS)
        return MemoryTally(
            facts=facts,
            marked=facts - unmarked,
            lacking=lacking,
            kinds=tuple(VectorKind(model=row[0], dimension=row[1], vectors=row[2]) for row in kinds),
        )
