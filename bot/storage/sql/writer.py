"""The one writer: a thread that takes whole transactions and commits many at once.

Invariant: a caller gets its result only after the COMMIT that holds its work was synced, in the order of
submission. A transaction that fails is rolled back alone (to its SAVEPOINT); a COMMIT that fails fails all.
Why groups: a synced commit costs milliseconds whatever it holds, so 256 in one cost each almost nothing.
"""

import asyncio
import contextlib
import queue
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from bot.conversation.errors import StoreUnavailable

T = TypeVar("T")
Work: TypeAlias = Callable[[sqlite3.Connection], T]
"""A whole transaction. Runs in the writer's thread, so it must not await, commit or roll back."""

GROUP_LIMIT = 256
"""Transactions in one commit: 200 at once fit into one. The first waits for the last, about 20 ms."""
PAUSE_SECONDS = 0.003
"""Where many write at once, commits begin this far apart: one costs the processor as much as three transactions,
and a disk that syncs fast would else get one for each transaction."""
BUSY_SECONDS_EACH = 0.0025
"""A transaction in so many seconds, on the average, is many: the pause then brings some of them together."""
CROWDED_GROUPS = 16
"""Commits after one that several shared that still wait for company. Who writes alone never waits, however fast."""

_UNAVAILABLE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_NOTADB,
    }
)
"""The disk's or another process's doing, not ours (https://www.sqlite.org/rescode.html)."""


def translated(error: Exception) -> Exception:
    """StoreUnavailable for what the disk or another process did; anything else as it is."""
    if isinstance(error, sqlite3.Error):
        code: int | None = getattr(error, "sqlite_errorcode", None)
        if code is not None and code & 0xFF in _UNAVAILABLE:  # the low byte is the primary code
            unavailable = StoreUnavailable(f"SQLite: {error}")
            unavailable.__cause__ = error
            return unavailable
    return error


@dataclass(slots=True, kw_only=True)
class _Member:
    """One submitted transaction and, once run, its outcome."""

    work: Callable[[sqlite3.Connection], Any]
    future: "asyncio.Future[Any]"
    is_alone: bool
    """Runs outside any transaction: a checkpoint."""
    result: Any = None
    error: Exception | None = None

    def attempt(self, connection: sqlite3.Connection) -> None:
        try:
            self.result = self.work(connection)
        except Exception as error:  # the writer's boundary: whatever it is, it is the caller's
            self.error = translated(error)

    def deliver(self) -> None:
        if self.future.done():  # its caller was cancelled meanwhile
            return
        if self.error is None:
            self.future.set_result(self.result)
        else:
            self.future.set_exception(self.error)


class Writer:
    """Owns the writing connection and its thread."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._queue: queue.SimpleQueue[Sequence[_Member | None]] = queue.SimpleQueue()
        """None asks the thread to end."""
        self._unsent: list[_Member] = []
        """Submitted within this turn of the loop. The thread is woken once for all of them: a waking costs the
        processor as much as a small transaction."""
        self._ahead: deque[_Member | None] = deque()
        """Taken from the queue by the thread, and not of the last group."""
        # A daemon: what matters is synced at each commit, and a forgotten close must not hang the exit.
        self._thread = threading.Thread(target=self._serve, name="sql-writer", daemon=True)
        self._is_open = False
        self.groups = 0
        """Commits so far."""
        self._crowded_for = 0
        self._committed_at = 0.0
        self._seconds_each = 1.0
        """From one transaction to the next, of late."""

    async def start(self) -> None:
        """Raises StoreUnavailable or sqlite3.Error when the file cannot be opened."""
        self._is_open = True
        self._thread.start()
        try:
            await self.run(lambda _: None)
        except BaseException:
            self._is_open = False
            raise

    async def stop(self) -> None:
        """Take no more, finish what was submitted, close the connection."""
        if self._is_open:
            self._is_open = False
            self._send()
            self._queue.put((None,))
        await asyncio.to_thread(self._thread.join)

    async def run(self, work: Work[T], *, is_alone: bool = False) -> T:
        """Run one transaction. Cancelling the wait does not undo what has begun.

        Raises StoreUnavailable, or whatever `work` raised.
        """
        if not self._is_open:
            raise StoreUnavailable("the database is closed")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        if not self._unsent:
            loop.call_soon(self._send)
        self._unsent.append(_Member(work=work, future=future, is_alone=is_alone))
        return await future

    def _send(self) -> None:
        members, self._unsent = self._unsent, []
        if members:
            self._queue.put(members)

    def _serve(self) -> None:
        member = self._next()
        try:
            connection = self._connect()
        except Exception as error:
            if member is not None:
                member.error = translated(error)
                _hand_back([member])
            return
        try:
            while member is not None:
                self._await_company(member)
                group = self._gather(member)
                _commit(connection, group)
                self._note(group)
                member = self._next()
        finally:
            connection.close()

    def _await_company(self, first: _Member) -> None:
        """What is submitted meanwhile comes into the same commit."""
        rest = self._committed_at + PAUSE_SECONDS - time.monotonic()
        is_busy = self._crowded_for and self._seconds_each < BUSY_SECONDS_EACH
        if is_busy and rest > 0 and not first.is_alone and self._is_open:
            time.sleep(rest)

    def _note(self, group: Sequence[_Member]) -> None:
        now = time.monotonic()
        self.groups += not group[0].is_alone
        self._crowded_for = CROWDED_GROUPS if len(group) > 1 else max(0, self._crowded_for - 1)
        # The latest commit counts a tenth.
        self._seconds_each += (min(now - self._committed_at, 1.0) / len(group) - self._seconds_each) / 10
        self._committed_at = now

    def _next(self) -> _Member | None:
        if not self._ahead:
            self._ahead.extend(self._queue.get())
        return self._ahead.popleft()

    def _gather(self, first: _Member) -> list[_Member]:
        """`first` and what waits already, up to the limit or to one that runs alone."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._ahead.extend(self._queue.get_nowait())
        group = [first]
        while not first.is_alone and len(group) < GROUP_LIMIT and self._ahead:
            member = self._ahead[0]
            if member is None or member.is_alone:
                break
            group.append(member)
            self._ahead.popleft()
        return group


def _commit(connection: sqlite3.Connection, group: list[_Member]) -> None:
    wanted = [member for member in group if not member.future.cancelled()]
    if group[0].is_alone:
        for member in wanted:
            member.attempt(connection)
    elif wanted:
        try:
            _run_together(connection, wanted)
        except Exception as error:
            _fail_all(connection, wanted, error)
    _hand_back(wanted)


def _run_together(connection: sqlite3.Connection, members: Sequence[_Member]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    if len(members) > 1:
        for member in members:
            _run_within(connection, member)
        connection.execute("COMMIT")
    else:
        # One alone needs no savepoint, which copies the pages it changes once more.
        members[0].attempt(connection)
        connection.execute("COMMIT" if members[0].error is None else "ROLLBACK")


def _run_within(connection: sqlite3.Connection, member: _Member) -> None:
    connection.execute("SAVEPOINT member")
    member.attempt(connection)
    if member.error is not None:
        # A full disk rolls the whole transaction back: then this raises, and the group fails together.
        connection.execute("ROLLBACK TO member")
    connection.execute("RELEASE member")


def _fail_all(connection: sqlite3.Connection, group: Sequence[_Member], error: Exception) -> None:
    if connection.in_transaction:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
    cause = next((member.error for member in group if isinstance(member.error, StoreUnavailable)), error)
    for member in group:
        if member.error is None:
            member.error = StoreUnavailable(f"the commit failed: {cause}")
            member.error.__cause__ = cause


def _hand_back(group: Sequence[_Member]) -> None:
    """Wake each loop once, however many of its transactions the group held."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Member]] = {}
    for member in group:
        by_loop.setdefault(member.future.get_loop(), []).append(member)
    for loop, members in by_loop.items():
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile: nobody listens
            loop.call_soon_threadsafe(_deliver, members)


def _deliver(members: Sequence[_Member]) -> None:
    for member in members:
        member.deliver()
