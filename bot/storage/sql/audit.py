"""The audit log: who did what to whom, and why.

Invariant: rows are only added, and hold ids and counts, never text of a memory.
"""

import sqlite3

from bot.conversation.message import AccountKey
from bot.conversation.ports import Clock
from bot.conversation.scope import PersonId
from bot.storage.sql.database import Database
from bot.storage.sql.schema import audit, to_ms
from bot.storage.sql.statements import Statement, insert_into

_RECORD = Statement(insert_into(audit, "at", "actor", "action", "subject_person", "reason", "detail"))


def record_within(
    connection: sqlite3.Connection,
    *,
    at: int,
    actor: AccountKey | None,
    action: str,
    subject: PersonId | None,
    reason: str,
    detail: str,
) -> None:
    """Record inside the transaction that does it. `at` in milliseconds."""
    _RECORD.run(
        connection,
        at=at,
        actor="" if actor is None else _named(actor),
        action=action,
        subject_person=subject,
        reason=reason,
        detail=detail,
    )


def _named(actor: AccountKey) -> str:
    """Who has no openid is no account of a platform: the operator at the keyboard."""
    return f"{actor.channel}:{actor.app_id}:{actor.openid}" if actor.openid else actor.channel


class SqlAudit:
    """`bot.ports.AuditLog` over SQL."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def record(
        self, actor: AccountKey | None, action: str, subject: PersonId | None, reason: str, detail: str
    ) -> None:
        at = to_ms(self._clock.now())
        await self._database.write(
            lambda connection: record_within(
                connection, at=at, actor=actor, action=action, subject=subject, reason=reason, detail=detail
            )
        )
