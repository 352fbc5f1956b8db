"""The database file: opens and migrates it, hands out the writer, the readers and the checkpoint.

Invariant: everything is written through the one writer; readers are `query_only` and see whole commits.
"""

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import aiosqlite
import anyio
from loguru import logger

from bot.conversation.errors import ConfigurationError, StoreUnavailable
from bot.storage.sql.migrating import migrate
from bot.storage.sql.statements import Row, Statement
from bot.storage.sql.writer import Writer, translated

T = TypeVar("T")

READERS = 4
"""Beside the writer: a few long reads at once then do not stop the short ones."""
BUSY_SECONDS = 15.0
"""Another process may hold the file for ten seconds (a backup, an ingest); its writers then queue."""
CHECKPOINT_SECONDS = 10.0
"""A forgetting waits this long for readers, ours and other processes'."""
_CHECKPOINT_TRY_MS = 200
"""One try blocks the writer, so it is short and repeated."""
_CHECKPOINT_PAUSE_SECONDS = 0.02
_AUTOCHECKPOINT_PAGES = 1000
"""4 MiB of log. A commit that checkpoints waits for it: four times as much made the slowest hundredth of the
commits under load half as slow again, and a quarter as much cost a tenth of all commits in a row."""


class Read(Protocol):
    """Reads within one snapshot."""

    async def __call__(self, statement: Statement, **params: object) -> list[Row]: ...


class Database:
    """One SQLite file. `open` before use, `close` at the end; not to be reopened."""

    def __init__(self, path: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._writer = Writer(self._connect_writer)
        self._readers: list[aiosqlite.Connection] = []
        self._idle: asyncio.LifoQueue[aiosqlite.Connection] = asyncio.LifoQueue()
        self._is_open = False
        self._rebuilding = asyncio.Lock()
        self._rebuilds_begun = 0

    def prepare(self) -> None:
        """The blocking first half of `open`, to fail early. Raises as `open` does."""
        _prepare(self.path, self._busy_seconds)

    async def open(self) -> None:
        """Create the folder and the file (readable by their owner alone), migrate, connect.

        Raises ConfigurationError (no permission, no database, written by a newer program) or
        StoreUnavailable.
        """
        await asyncio.to_thread(self.prepare)
        await self._writer.start()
        self._is_open = True
        try:
            for _ in range(READERS):
                reader = await self._connect_reader()
                self._readers.append(reader)
                self._idle.put_nowait(reader)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.close()
            raise

    async def close(self) -> None:
        """Finish what was submitted, then close every connection. May be called twice."""
        if not self._is_open:
            return
        self._is_open = False
        await self._writer.stop()
        for reader in self._readers:
            await reader.close()
        self._readers.clear()

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` as one transaction; its result is durable when this returns.

        `work` runs in the writer's thread with the driver's connection: it must not await, commit, roll
        back or keep a cursor open. Raising from it rolls it back, alone, and raises here.
        Raises StoreUnavailable.
        """
        return await self._writer.run(work)

    async def read(self, statement: Statement, **params: object) -> list[Row]:
        """All rows of one statement, as of the last commit. Raises StoreUnavailable."""
        async with self._reader() as reader:
            return await _fetch(reader, statement.text, statement.bind(**params))

    def snapshot(self) -> AbstractAsyncContextManager[Read]:
        """`async with database.snapshot() as read`: every `await read(…)` sees the same state."""
        return self._snapshot()

    async def view(self, look: Callable[[sqlite3.Connection], T]) -> T:
        """Run `look` in a reader's thread, within one snapshot: one way there and back for any number of
        statements. It must not await or keep a cursor open. Raises StoreUnavailable, or what it raised.
        """
        async with self._reader() as reader:
            try:
                # aiosqlite has no door for a function of one's own; this is what all of its doors call.
                inner: Any = reader
                return await inner._execute(_look, inner._conn, look)
            except sqlite3.Error as error:
                raise translated(error) from error
            except ValueError as error:
                if self._is_open:
                    raise
                raise StoreUnavailable("the database is closed") from error

    async def quiesce_and_checkpoint(self) -> None:
        """Rebuild the file, then wait until no reader is busy, hold them, and fold the log into the file.

        No byte of what was deleted before is then left in file, log or free pages. Nobody writes
        meanwhile, about 8 ms per MB. Raises StoreUnavailable when the disk is full, or a reader, also of
        another process, is busy for too long.
        """
        await self._rebuild()
        try:
            async with asyncio.timeout(CHECKPOINT_SECONDS), contextlib.AsyncExitStack() as held:
                for _ in range(READERS):
                    await held.enter_async_context(self._reader())
                while True:
                    if await self._writer.run(_truncate_log, is_alone=True):
                        return
                    await asyncio.sleep(_CHECKPOINT_PAUSE_SECONDS)
        except TimeoutError as error:
            raise StoreUnavailable("the log could not be folded in: a reader is busy") from error

    async def _rebuild(self) -> None:
        """VACUUM: `secure_delete` overwrites a deleted row where it lies, but not the copies that
        rebalancing left in the unused middle of neighbouring pages (half of such files hold some).

        A rebuild that began after a deletion was committed serves it, so many forgettings share one.
        """
        begun_before = self._rebuilds_begun
        async with self._rebuilding:
            if self._rebuilds_begun > begun_before:
                return
            self._rebuilds_begun += 1
            try:
                await self._writer.run(_vacuum, is_alone=True)
            except BaseException:
                self._rebuilds_begun -= 1
                raise

    @asynccontextmanager
    async def _reader(self) -> AsyncGenerator[aiosqlite.Connection]:
        if not self._is_open:
            raise StoreUnavailable("the database is closed")
        try:
            reader = self._idle.get_nowait()
        except asyncio.QueueEmpty:
            reader = await self._next_idle()
        try:
            yield reader
        finally:
            self._idle.put_nowait(reader)

    async def _next_idle(self) -> aiosqlite.Connection:
        try:
            async with asyncio.timeout(self._busy_seconds):
                return await self._idle.get()
        except TimeoutError as error:
            raise StoreUnavailable("every reader is busy") from error

    @asynccontextmanager
    async def _snapshot(self) -> AsyncGenerator[Read]:
        async with self._reader() as reader:

            async def read(statement: Statement, **params: object) -> list[Row]:
                return await _fetch(reader, statement.text, statement.bind(**params))

            try:
                await _fetch(reader, "BEGIN")
                yield read
            finally:
                # Ends it also where the wait for BEGIN was cancelled: the thread runs both, in order.
                with anyio.CancelScope(shield=True), contextlib.suppress(StoreUnavailable):
                    await _guarded(reader.rollback())

    def _connect_writer(self) -> sqlite3.Connection:
        return _connect(self.path, self._busy_seconds)

    async def _connect_reader(self) -> aiosqlite.Connection:
        reader = aiosqlite.connect(self.path, isolation_level=None, timeout=self._busy_seconds)
        # A reader that was never closed must not hang the exit of the interpreter.
        reader._thread.daemon = True  # pyright: ignore[reportPrivateUsage]
        await _guarded(_opened(reader))
        await _fetch(reader, "PRAGMA query_only = ON")
        await _fetch(reader, "PRAGMA temp_store = MEMORY")
        return reader


def _look(connection: sqlite3.Connection, look: Callable[[sqlite3.Connection], T]) -> T:
    connection.execute("BEGIN")
    try:
        return look(connection)
    finally:
        connection.rollback()


async def _opened(reader: aiosqlite.Connection) -> None:
    await reader


async def _guarded(doing: Awaitable[T]) -> T:
    try:
        return await doing
    except sqlite3.Error as error:
        raise translated(error) from error
    except ValueError as error:  # what aiosqlite says of a closed connection
        raise StoreUnavailable("the database is closed") from error


async def _fetch(reader: aiosqlite.Connection, text: str, values: tuple[object, ...] = ()) -> list[Row]:
    rows: Any = await _guarded(reader.execute_fetchall(text, values))
    return rows


def _connect(path: Path, busy_seconds: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=busy_seconds, cached_statements=256)
    # Deleted content is overwritten with zeros; `temp_store` keeps copies of rows out of /tmp.
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "secure_delete = ON",
        "foreign_keys = ON",
        "temp_store = MEMORY",
        f"wal_autocheckpoint = {_AUTOCHECKPOINT_PAGES}",
    ):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection


def _prepare(path: Path, busy_seconds: float) -> None:
    """In a thread: the file exists, is a database of ours, and has the newest schema."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise ConfigurationError(
            "JIDE_DATA_DIR", f"无法写入 {path}（{error.strerror}）", "换一个可写的目录，或修改其权限"
        ) from error
    try:
        connection = _connect(path, busy_seconds)
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


def _vacuum(connection: sqlite3.Connection) -> None:
    # The copy holds what is left, so it may be an unlinked file: in memory it would weigh as the database.
    connection.execute("PRAGMA temp_store = FILE")
    try:
        connection.execute("VACUUM")
    finally:
        connection.execute("PRAGMA temp_store = MEMORY")


def _truncate_log(connection: sqlite3.Connection) -> bool:
    """One try. False while any reader still needs the log."""
    waits = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute(f"PRAGMA busy_timeout = {_CHECKPOINT_TRY_MS}")
    try:
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    finally:
        connection.execute(f"PRAGMA busy_timeout = {waits}")
    return busy == 0
