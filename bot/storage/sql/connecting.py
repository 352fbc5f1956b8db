"""Make the database file ready, and connect to it for writing.

Invariant: a file readable by its owner alone, of ours, with the newest schema; or an error that says what to do.
"""

import os
import sqlite3
import time
from pathlib import Path

from loguru import logger

from bot.conversation.errors import ConfigurationError
from bot.storage.sql.looking import Looker
from bot.storage.sql.migrating import migrate
from bot.storage.sql.writer import translated

LOG_LIMIT_BYTES = 64 << 20
"""What a burst made the log grow to is given back to the system beyond this."""
_AGAIN_SECONDS = 0.02


def _keep_a_log(connection: sqlite3.Connection, busy_seconds: float) -> None:
    """SQLite does not wait while another connection changes the mode of a new file, but fails at once."""
    give_up_at = time.monotonic() + busy_seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except sqlite3.OperationalError as error:
            is_busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > give_up_at:
                raise
            time.sleep(_AGAIN_SECONDS)
        else:
            return


def connect_writer(path: Path, busy_seconds: float) -> sqlite3.Connection:
    """Deleted content is overwritten with zeros; `temp_store` keeps copies of rows out of /tmp. No commit
    folds the log in: `folding.py` does, beside the writer."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=busy_seconds, cached_statements=256)
    _keep_a_log(connection, busy_seconds)
    for pragma in (
        "synchronous = FULL",
        "secure_delete = ON",
        "foreign_keys = ON",
        "temp_store = MEMORY",
        "wal_autocheckpoint = 0",
        f"journal_size_limit = {LOG_LIMIT_BYTES}",
    ):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection


def connect_looker(path: Path) -> Looker:
    """For reading in the calling thread. It never waits: whoever finds the file held elsewhere asks a thread."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=0, cached_statements=256, factory=Looker)
    for pragma in ("query_only = ON", "temp_store = MEMORY"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection


def prepare(path: Path, busy_seconds: float) -> None:
    """Blocks: the file exists, is a database of ours, and has the newest schema.

    Raises ConfigurationError (no permission, no database, written by a newer program) or StoreUnavailable.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise ConfigurationError(
            "JIDE_DATA_DIR", f"无法写入 {path}（{error.strerror}）", "换一个可写的目录，或修改其权限"
        ) from error
    try:
        connection = connect_writer(path, busy_seconds)
        try:
            migrate(connection, lambda revision: _back_up(path, revision))
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            raise ConfigurationError(
                "JIDE_DATA_DIR", f"{path} 不是数据库文件", "把它移走后重新启动，或从备份恢复"
            ) from error
        raise translated(error) from error


def _back_up(path: Path, revision: str) -> None:
    """Before a migration; without one there is none. Raises StoreUnavailable."""
    from bot.storage.sql.backup import back_up_before_migration, prune_automatic

    logger.info("升级数据库前备份：{}", back_up_before_migration(path.parent, revision))
    prune_automatic(path.parent)
