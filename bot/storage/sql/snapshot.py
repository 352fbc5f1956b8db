"""A copy of a database file, taken while others write to it, and what is asked of a copy.

Invariant: a copy is one moment of the database: one read transaction holds it from the first page to the
last. It is one file, without a log beside it.
"""

import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from bot.conversation.errors import RejectedInput, StoreUnavailable
from bot.storage.sql.schema import metadata

PAGES = 2_000
"""Copied at a time, 8 MB: progress is seen moving. Writers go on meanwhile; only a log grows."""
BUSY_SECONDS = 15.0

Progress = Callable[[str, int, int], None]
"""(what is being done in 简体中文, done, of how many)."""


def no_progress(what: str, done: int, total: int) -> None:
    """For who does not look."""


@contextmanager
def opened(path: Path, *, busy_seconds: float = BUSY_SECONDS) -> Generator[sqlite3.Connection]:
    """A connection without transactions of Python's own, closed at the end.

    sqlite3.Error becomes StoreUnavailable, that of a damaged file RejectedInput.
    """
    try:
        connection = sqlite3.connect(path, isolation_level=None, timeout=busy_seconds)
        try:
            connection.execute("PRAGMA secure_delete = ON").fetchall()
            connection.execute("PRAGMA temp_store = MEMORY").fetchall()
            yield connection
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            raise RejectedInput(f"{path.name} 不是完好的数据库（{error}）") from error
        raise StoreUnavailable(f"SQLite: {error}") from error


def is_damage(error: sqlite3.Error) -> bool:
    """The file itself is bad, not its disk or a neighbour."""
    code: int = getattr(error, "sqlite_errorcode", 0) or 0
    return code & 0xFF in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)


def copy_database(source: Path, target: Path, on_progress: Progress = no_progress) -> None:
    """Copy into a new file, beside whoever reads and writes the source."""
    with opened(source) as reader, opened(target) as copy:
        reader.execute("BEGIN")
        # The first read begins the snapshot; without it each step would begin its own, and start over
        # whenever somebody wrote in between.
        reader.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
        reader.backup(
            copy,
            pages=PAGES,
            progress=lambda _, left, total: on_progress("复制数据库", total - left, total),
            sleep=0,
        )
        reader.execute("ROLLBACK")
        copy.execute("PRAGMA journal_mode = DELETE").fetchall()


def rebuild(connection: sqlite3.Connection) -> None:
    """VACUUM: nothing of what was deleted is left between the rows. Not within a transaction."""
    # The copy it makes holds what is left, so it may be an unlinked file: in memory it would weigh as much.
    connection.execute("PRAGMA temp_store = FILE").fetchall()
    connection.execute("VACUUM")
    connection.execute("PRAGMA temp_store = MEMORY").fetchall()


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Rows by table: of those of the schema that the file has."""
    stored = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return {
        name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]  # noqa: S608 (our own names)
        for name in sorted(metadata.tables)
        if name in stored
    }


def check_integrity(connection: sqlite3.Connection, name: str) -> None:
    """Every page, every index, every reference. Raises RejectedInput."""
    said = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if said != "ok":
        raise RejectedInput(f"{name} 里的数据库已损坏（{said}）")
    if connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
        raise RejectedInput(f"{name} 里的数据库缺了互相引用的行")
