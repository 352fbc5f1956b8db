"""Brings a database file to the newest schema, forward only, before anything else opens it.

Invariant: everything happens in one transaction that holds the write lock from the first look, so two
processes starting at once migrate once, and a failed migration leaves the file as it was.
"""

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bot.conversation.errors import ConfigurationError

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection

HEAD = "0012"
"""The newest revision; known here so that alembic (0.3 s to import) is loaded only to migrate."""

_ALEMBIC = threading.Lock()
"""alembic keeps what it works on in module globals."""
_MIGRATIONS = Path(__file__).parent / "migrations"


def migrate(connection: sqlite3.Connection, before: Callable[[str], object] = lambda revision: None) -> None:
    """Migrate the file behind this connection (`isolation_level` None, no transaction open).

    `before` is called with the stored revision before a file that is not new is changed.

    Raises ConfigurationError when a newer program wrote it, sqlite3.Error when it cannot be read.
    """
    if stored_revision(connection) == HEAD:
        return
    from sqlalchemy import create_engine
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.pool import StaticPool

    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    # Connecting ends any transaction, so it comes before BEGIN. Leaving without the commit rolls back.
    with engine.connect() as shared:
        try:
            shared.exec_driver_sql("BEGIN IMMEDIATE")
            stored = stored_revision(connection)
            if stored != HEAD:
                _upgrade(shared, stored, before)
            shared.commit()
        except DBAPIError as error:
            raise (error.orig or error) from error


def stored_revision(connection: sqlite3.Connection) -> str | None:
    """The revision the file was left at; None for a new one."""
    has_table = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchall()
    rows = connection.execute("SELECT version_num FROM alembic_version").fetchall() if has_table else []
    return rows[0][0] if rows else None


def _upgrade(shared: "Connection", stored: str | None, before: Callable[[str], object]) -> None:
    from alembic import command

    config = _config()
    if stored is not None and not is_known(stored):
        raise ConfigurationError(
            "JIDE_DATA_DIR",
            f"数据库由更新版本的程序写成（版本 {stored}，本程序只认识到 {HEAD}）",
            "升级程序，或换用与本程序相配的数据目录",
        )
    if stored is not None:
        before(stored)
    with _ALEMBIC:
        config.attributes["connection"] = shared
        command.upgrade(config, "head")


def is_known(revision: str) -> bool:
    """Whether this program can migrate from it."""
    from alembic.script import ScriptDirectory

    return any(
        script.revision == revision for script in ScriptDirectory.from_config(_config()).walk_revisions()
    )


def _config() -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    return config
