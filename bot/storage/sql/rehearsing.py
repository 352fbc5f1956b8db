"""Trying a change: done in its transaction, looked at, and rolled back.

Invariant: nothing of a rehearsal stays.
"""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from bot.storage.sql.database import Database

T = TypeVar("T")


async def write_or_rehearse(
    database: Database, work: Callable[[sqlite3.Connection], T], *, is_rehearsal: bool
) -> T:
    """`is_rehearsal`: what would come of it, with nothing changed."""
    if not is_rehearsal:
        return await database.write(work)
    found: list[T] = []

    def rehearse(connection: sqlite3.Connection) -> Any:
        found.append(work(connection))
        raise _Rehearsed

    with suppress(_Rehearsed):
        await database.write(rehearse)
    return found[-1]


class _Rehearsed(Exception):
    """Rolls back what was only tried."""
