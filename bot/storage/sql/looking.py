"""The loop's own reading connection, and what it remembers for as long as one snapshot lasts.

Invariant: nothing read in one snapshot is ever answered from in another.
"""

import sqlite3
from typing import Protocol, TypeVar

from bot.conversation.scope import Scope
from bot.storage.sql.shelves import COVERED_SHELVES, Covered, asked, read_covered

T_co = TypeVar("T_co", covariant=True)


class TooMany(Exception):
    """More rows than are read in the loop's own thread."""


class BoundedLook(Protocol[T_co]):
    def __call__(self, connection: sqlite3.Connection, *, is_bounded: bool) -> T_co:
        """Raises TooMany, if bounded."""
        ...


class Looker(sqlite3.Connection):
    """Told where a snapshot begins and ends."""

    covered: dict[Scope, Covered]

    def begin(self) -> None:
        self.covered = {}
        self.execute("BEGIN")

    def end(self) -> None:
        self.covered = {}
        self.rollback()


def covered_by(connection: sqlite3.Connection, scope: Scope) -> Covered:
    """What a scope covers. A message asks three times, for its window, its facts and its vectors."""
    if not isinstance(connection, Looker):
        return read_covered(COVERED_SHELVES.rows(connection, **asked(scope)))
    known = connection.covered.get(scope)
    if known is None:
        known = connection.covered[scope] = read_covered(COVERED_SHELVES.rows(connection, **asked(scope)))
    return known
