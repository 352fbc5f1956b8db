"""Jobs: consolidation committed with a turn, leased by the worker, retried, at last a dead letter.

Invariant: of one person's jobs in one place only one is leased at a time, so memory grows in the order it
was said; a job overtaken by a clearing is deleted, never run.
"""

import sqlite3
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, case, delete, func, select, update

from bot.conversation.ports import Clock
from bot.conversation.scope import Scope
from bot.conversation.turn import Turn
from bot.ports import JobTicket
from bot.storage.sql.database import Database
from bot.storage.sql.inbox import ERROR_LIMIT
from bot.storage.sql.schema import account, from_ms, job, person, to_ms, turn
from bot.storage.sql.statements import Statement, constant

DEAD_AFTER = 5
"""Tries that counted (an outage does not) and make a dead letter."""

_TAKEN_SCOPES = Statement(
    select(account.c.person_id, job.c.place)
    .select_from(job.join(account))
    .where(
        job.c.state == constant("leased"),
        job.c.due_at > bindparam("now"),
        job.c.epoch >= account.c.cleared_epoch,
    )
)
_DUE = Statement(
    select(
        job.c.id,
        job.c.place,
        job.c.tries,
        account.c.id,
        account.c.person_id,
        person.c.epoch,
        turn.c.id,
        turn.c.question,
        turn.c.answer,
        turn.c.at,
        job.c.epoch < account.c.cleared_epoch,
    )
    .select_from(job.join(account).join(person).join(turn))
    .where(job.c.state != constant("dead"), job.c.due_at <= bindparam("now"))
    .order_by(job.c.id)
)
_LEASE = Statement(
    update(job)
    .where(job.c.id == bindparam("job"))
    .values(state=constant("leased"), due_at=bindparam("lapses_at"))
)
_FINISH = Statement(delete(job).where(job.c.id == bindparam("job")))
_tried = job.c.tries + bindparam("counted")
_RETRY = Statement(
    update(job)
    .where(job.c.id == bindparam("job"), job.c.state == constant("leased"))
    .values(
        tries=_tried,
        state=case((_tried >= constant(DEAD_AFTER), constant("dead")), else_=constant("waiting")),
        due_at=bindparam("next_at"),
        error=bindparam("reason"),
    )
    .returning(job.c.state)
)
_RELEASE = Statement(
    update(job)
    .where(job.c.state == constant("leased"))
    .values(state=constant("waiting"), due_at=bindparam("now"))
)
_BACKLOG = Statement(select(func.count()).select_from(job).where(job.c.state != constant("dead")))


def finish_within(connection: sqlite3.Connection, job_id: int) -> None:
    """Finish a job inside the transaction that stores what came of it."""
    _FINISH.run(connection, job=job_id)


class SqlJobs:
    """`bot.ports.JobStore` over SQL."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def lease_jobs(self, limit: int, lease_seconds: float) -> tuple[JobTicket, ...]:
        """The tickets' scopes name the person and epoch of now: an account may have joined another person
        since its turn."""
        now = self._clock.now()
        lapses_at = to_ms(now + timedelta(seconds=lease_seconds))

        def work(connection: sqlite3.Connection) -> tuple[JobTicket, ...]:
            tickets, overtaken = _first_of_each_scope(connection, to_ms(now), limit)
            for job_id in overtaken:
                finish_within(connection, job_id)
            for ticket in tickets:
                _LEASE.run(connection, job=ticket.id, lapses_at=lapses_at)
            return tickets

        return await self._database.write(work)

    async def finish_job(self, job: int) -> None:
        await self._database.write(lambda connection: finish_within(connection, job))

    async def retry_job(self, job: int, error: str, delay_seconds: float, *, counts: bool) -> bool:
        next_at = to_ms(self._clock.now() + timedelta(seconds=delay_seconds))

        def work(connection: sqlite3.Connection) -> bool:
            asked = {"job": job, "counted": int(counts), "next_at": next_at, "reason": error[:ERROR_LIMIT]}
            row = _RETRY.first(connection, **asked)
            return row is not None and row[0] == "dead"

        return await self._database.write(work)

    async def release_leases(self) -> int:
        """A job that another process still works on is done once all the same: its result is stored in the
        transaction that finishes it."""
        now = to_ms(self._clock.now())
        return await self._database.write(lambda connection: _RELEASE.run(connection, now=now).rowcount)

    async def backlog(self) -> int:
        """Jobs waiting or under way; dead letters are not counted."""
        return (await self._database.read(_BACKLOG))[0][0]


def _first_of_each_scope(
    connection: sqlite3.Connection, now: int, limit: int
) -> tuple[tuple[JobTicket, ...], list[int]]:
    """The jobs to lease, and the ids met on the way that a clearing overtook.

    Walks in order and stops early: a burst by one person costs a step a job, a long backlog nothing.
    """
    taken = {(person_id, place) for person_id, place in _TAKEN_SCOPES.rows(connection, now=now)}
    tickets: list[JobTicket] = []
    overtaken: list[int] = []
    due = _DUE.run(connection, now=now)
    for *fields, is_overtaken in due:
        ticket = _ticket(fields)
        key = (ticket.scope.person, ticket.scope.place)
        if is_overtaken:
            overtaken.append(ticket.id)
        elif key not in taken:
            taken.add(key)
            tickets.append(ticket)
        if len(tickets) == limit:
            break
    due.close()
    return tuple(tickets), overtaken


def _ticket(row: Sequence[Any]) -> JobTicket:
    job_id, place, tries, account_id, person_id, epoch, turn_id, question, answer, at = row
    return JobTicket(
        id=job_id,
        scope=Scope(person=person_id, account=account_id, epoch=epoch, place=place),
        turn=Turn(id=turn_id, question=question, answer=answer, at=from_ms(at)),
        tries=tries,
    )
