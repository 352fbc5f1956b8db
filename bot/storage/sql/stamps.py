"""Numbers that belong to a database as a whole: they travel with it into a backup and back.

Invariant: sync functions inside the caller's transaction; a name that was never written reads as None.
"""

import sqlite3

from sqlalchemy import bindparam, delete, select

from bot.storage.sql.schema import stamp
from bot.storage.sql.statements import Statement, insert_into

FORGOTTEN = "forgotten"
"""The last entry of the forget ledger whose forgetting this database holds."""
PEPPER = "pepper"
"""`bot.secrets_file.pepper_check` of the pepper its phone hashes were made with."""
UNPACKED = "unpacked"
"""Which unpacking of a bundle this database came by: one that was interrupted finds out whether it got this far."""
REINDEX = "reindex"
"""Set while a re-embedding has dropped the old vectors and is not finished."""

_READ = Statement(select(stamp.c.value).where(stamp.c.name == bindparam("name")))
_insert = insert_into(stamp, "name", "value")
_WRITE = Statement(
    _insert.on_conflict_do_update(index_elements=[stamp.c.name], set_={"value": _insert.excluded.value})
)
_DROP = Statement(delete(stamp).where(stamp.c.name == bindparam("name")))


def read_stamp(connection: sqlite3.Connection, name: str) -> int | None:
    row = _READ.first(connection, name=name)
    return None if row is None else row[0]


def write_stamp(connection: sqlite3.Connection, name: str, value: int) -> None:
    _WRITE.run(connection, name=name, value=value)


def drop_stamp(connection: sqlite3.Connection, name: str) -> None:
    _DROP.run(connection, name=name)
