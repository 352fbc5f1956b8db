"""An operator's file, read again whenever it changes.

Invariant: a bad or missing file never takes the last good content away; the problem is kept for /状态
and logged once.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

import anyio.to_thread
from loguru import logger

from bot.conversation.errors import ConfigurationError

CHECK_SECONDS = 1.0
"""How often the file is looked at: an edit shows within a second, a busy bot pays one stat for it."""
LARGEST_BYTES = 16 << 20
"""10,000 rules or products take about 2 MB. What is larger is something else."""

Content = TypeVar("Content")
_Stamp = tuple[int, int, int]


class WatchedFile(Generic[Content]):
    """Gives the present content of a file."""

    def __init__(
        self,
        path: Path,
        *,
        what: str,
        read: Callable[[bytes, str], Content],
        empty: Content,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Reads nothing yet. `what`: its name in the log. `read` gets the bytes and the file's name, runs
        in a thread and raises ConfigurationError; `empty` stands while there is no file yet. `monotonic`
        gives seconds."""
        self._path = path
        self._what = what
        self._read = read
        self._content = empty
        self._monotonic = monotonic
        self._stamp: _Stamp | None = None
        self._checked_at: float | None = None
        self._is_reading = False
        self.problem = ""
        """What is wrong with the file now, in 简体中文; "" when nothing is."""

    async def content(self) -> Content:
        """As of the last good file. While a change is being read, others get the old content."""
        if self._is_reading or not self._is_due():
            return self._content
        self._is_reading = True
        try:
            await self._refresh()
        finally:
            self._is_reading = False
        return self._content

    def _is_due(self) -> bool:
        now = self._monotonic()
        if self._checked_at is not None and now - self._checked_at < CHECK_SECONDS:
            return False
        self._checked_at = now
        return True

    async def _refresh(self) -> None:
        stamp = _stamp(self._path)
        if stamp == self._stamp:
            return
        is_first = self._stamp is None
        self._stamp = stamp
        if stamp is None:
            self._note(f"找不到 {self._path.name}，仍用之前的内容；不要它时请留一个空文件")
            return
        try:
            self._content = await anyio.to_thread.run_sync(self._load, stamp)
        except ConfigurationError as error:
            self._note(str(error))
            return
        self.problem = ""
        logger.info("{} {}", self._what, "已读入" if is_first else "有改动，已重新读入")

    def _load(self, stamp: _Stamp) -> Content:
        """Runs in a thread: 10,000 rules take about a second. Raises ConfigurationError."""
        name = self._path.name
        if stamp[1] > LARGEST_BYTES:
            raise ConfigurationError(name, f"有 {stamp[1]} 字节", f"不要超过 {LARGEST_BYTES} 字节")
        try:
            raw = self._path.read_bytes()
        except OSError as error:
            raise ConfigurationError(name, f"读不出来（{error.strerror}）", "检查文件权限") from error
        return self._read(raw, name)

    def _note(self, problem: str) -> None:
        self.problem = problem
        logger.error("{} 未更新：{}", self._what, problem)


def _stamp(path: Path) -> _Stamp | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
