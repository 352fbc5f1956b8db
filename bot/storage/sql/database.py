"""The database file: opens and migrates it, hands out the writer, the readers and the checkpoint.

Invariant: everything is written through the one writer; readers are `query_only` and see whole commits.
"""

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import aiosqlite
import anyio

from bot.conversation.errors import StoreUnavailable
from bot.storage.sql.connecting import connect_looker, connect_writer, prepare
from bot.storage.sql.folding import Folding, truncate_log, vacuum
from bot.storage.sql.looking import BoundedLook, Looker, TooMany
from bot.storage.sql.statements import Row, Statement
from bot.storage.sql.writer import Writer, translated

T = TypeVar("T")

READERS = 4
"""Beside the writer: a few long reads at once then do not stop the short ones."""
BUSY_SECONDS = 15.0
"""Another process may hold the file for ten seconds (a backup, an ingest); its writers then queue."""
CHECKPOINT_SECONDS = 10.0
"""A forgetting waits this long for readers, ours and other processes'."""
_CHECKPOINT_PAUSE_SECONDS = 0.02


class Read(Protocol):
    """Reads within one snapshot."""

    async def __call__(self, statement: Statement, **params: object) -> list[Row]: ...


class Database:
    """One SQLite file. `open` before use, `close` at the end; not to be reopened."""

    def __init__(self, path: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._writer = Writer(lambda: connect_writer(path, busy_seconds))
        self._folding = Folding(path, self._writer)
        self._looker: Looker | None = None
        self._readers: list[aiosqlite.Connection] = []
        self._idle: asyncio.LifoQueue[aiosqlite.Connection] = asyncio.LifoQueue()
        self._is_open = False
        self._rebuilding = asyncio.Lock()
        self._rebuilds_begun = 0

    def prepare(self) -> None:
        """The blocking first half of `open`, to fail early. Raises as `open` does."""
        prepare(self.path, self._busy_seconds)

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
            self._looker = connect_looker(self.path)
            self._folding.start()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.close()
            raise

    async def close(self) -> None:
        """Finish what was submitted, then close every connection. May be called twice."""
        if not self._is_open:
            return
        self._is_open = False
        await self._folding.stop()
        if self._looker is not None:
            self._looker.close()
            self._looker = None
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

    async def glance(self, look: Callable[[sqlite3.Connection], T]) -> T:
        """As `view`, but at once, in the loop's own thread: for a few rows by index, about 20 µs, where the
        way to another thread and back costs ten times as much. What may be more belongs into `view`.

        Readers wait for nobody in a WAL database. Where they must all the same (another process repairs or
        locks the whole file), a thread waits.
        """
        try:
            return look(self._begin_look())
        except sqlite3.Error as error:
            if not _is_held(error):
                raise translated(error) from error
        finally:
            if self._folding.is_turning:
                self._end_look()
        return await self.view(look)

    async def look(self, look: BoundedLook[T]) -> T:
        """A `glance` where there is little, as with most people; else a `view`."""
        try:
            return await self.glance(partial(look, is_bounded=True))
        except TooMany:
            return await self.view(partial(look, is_bounded=False))

    async def peek(self, statement: Statement, **params: object) -> list[Row]:
        """`glance` of one statement."""
        try:
            return statement.rows(self._begin_look(), **params)
        except sqlite3.Error as error:
            if not _is_held(error):
                raise translated(error) from error
        finally:
            if self._folding.is_turning:
                self._end_look()
        return await self.read(statement, **params)

    def _begin_look(self) -> sqlite3.Connection:
        """The loop's connection, in the snapshot that all share who look within this turn of the loop: after each
        commit of the writer's, a new one reads the same pages of the file again.

        Nobody misses what was told them to be committed: that comes by way of the loop's queue too, behind the end
        of every snapshot begun before the commit.
        """
        looker = self._looker
        if looker is None:
            raise StoreUnavailable("the database is closed")
        if not looker.in_transaction:
            looker.begin()
            asyncio.get_running_loop().call_soon(self._end_look)
        return looker

    def _end_look(self) -> None:
        if self._looker is not None:
            self._looker.end()

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
                    if await self._writer.run(truncate_log, is_alone=True):
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
                await self._writer.run(vacuum, is_alone=True)
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

    async def _connect_reader(self) -> aiosqlite.Connection:
        reader = aiosqlite.connect(self.path, isolation_level=None, timeout=self._busy_seconds)
        # A reader that was never closed must not hang the exit of the interpreter.
        reader._thread.daemon = True  # pyright: ignore[reportPrivateUsage]
        await _guarded(_opened(reader))
        await _fetch(reader, "PRAGMA query_only = ON")
        await _fetch(reader, "PRAGMA temp_store = MEMORY")
        return reader


def _is_held(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


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
