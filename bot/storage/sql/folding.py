"""Fold the write-ahead log into the file: a little all the time beside the writer, and whole at a forgetting.

Invariant: no commit waits for the bulk of a checkpoint, and the log does not grow without end: once a second
a connection of its own copies what the log holds, then the writer itself copies the little that came since, so
that its next commit begins the log anew.
"""

import asyncio
import contextlib
import math
import sqlite3
from pathlib import Path

from loguru import logger

from bot.conversation.errors import StoreUnavailable
from bot.storage.sql.writer import Writer, translated

FOLD_SECONDS = 1.0
"""Pages that many commits touch (the ends of tables and indexes) are then copied once a second, not at each."""
CHECKPOINT_TRY_MS = 200
"""One try blocks the writer, so it is short and repeated."""


class Folding:
    """Keeps the log of one database short."""

    def __init__(self, path: Path, writer: Writer) -> None:
        self._path = path
        self._writer = writer
        self._is_stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._beside: sqlite3.Connection | None = None
        self._turns_until: float = -1

    @property
    def is_turning(self) -> bool:
        """The log is to begin anew with the next commit, which it can't while somebody reads from it."""
        return self._writer.groups <= self._turns_until

    def start(self) -> None:
        self._task = asyncio.create_task(self._keep_folding())

    async def stop(self) -> None:
        """Not in the middle of a fold: its thread is waited for."""
        self._is_stopping.set()
        if self._task is not None:
            await asyncio.wait({self._task})
        if self._beside is not None:
            self._beside.close()
            self._beside = None

    async def _keep_folding(self) -> None:
        folded = self._writer.groups
        while not await self._stops_within(FOLD_SECONDS):
            if self._writer.groups == folded:
                continue
            try:
                await self._fold()
            except StoreUnavailable as error:
                # The log holds everything; folding is tried again.
                logger.warning("数据库日志暂时没有并入：{}", error)
            folded = self._writer.groups

    async def _stops_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self._is_stopping.wait()
        return False

    async def _fold(self) -> None:
        await asyncio.to_thread(self._fold_beside)
        self._turns_until = math.inf
        try:
            await asyncio.sleep(0)  # who looks now, looks no longer
            await self._writer.run(_fold, is_alone=True)
        finally:
            self._turns_until = self._writer.groups

    def _fold_beside(self) -> None:
        try:
            if self._beside is None:
                self._beside = sqlite3.connect(
                    self._path, isolation_level=None, timeout=0, check_same_thread=False
                )
                # As the writer's: the file must be synced before the log is begun anew.
                self._beside.execute("PRAGMA synchronous = FULL").fetchall()
            _fold(self._beside)
        except sqlite3.Error as error:
            raise translated(error) from error


def _fold(connection: sqlite3.Connection) -> None:
    """What no reader needs in the log any more. It waits for nobody."""
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


def vacuum(connection: sqlite3.Connection) -> None:
    """Rebuild the file from what is left in it."""
    # The copy holds what is left, so it may be an unlinked file: in memory it would weigh as the database.
    connection.execute("PRAGMA temp_store = FILE")
    try:
        connection.execute("VACUUM")
    finally:
        connection.execute("PRAGMA temp_store = MEMORY")


def truncate_log(connection: sqlite3.Connection) -> bool:
    """One try. False while any reader still needs the log."""
    waits = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute(f"PRAGMA busy_timeout = {CHECKPOINT_TRY_MS}")
    try:
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    finally:
        connection.execute(f"PRAGMA busy_timeout = {waits}")
    return busy == 0
