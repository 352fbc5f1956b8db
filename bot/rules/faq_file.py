"""The operator's FAQ file, read again whenever it changes.

Invariant: a bad or missing file never takes the working rules away; the problem is kept for /状态
and logged once.
"""

import time
from collections.abc import Callable
from pathlib import Path

import anyio.to_thread
from loguru import logger

from bot.conversation.errors import ConfigurationError
from bot.rules.faq import FaqBook
from bot.rules.faq_yaml import read_book

CHECK_SECONDS = 1.0
"""How often the file is looked at: an edit shows within a second, a busy bot pays one stat for it."""
LARGEST_BYTES = 16 << 20
"""10,000 rules take about 2 MB. What is larger isn't an FAQ."""

_Stamp = tuple[int, int, int]


class FaqFile:
    """Gives the present `FaqBook` of a file."""

    def __init__(self, path: Path, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Reads nothing yet. `monotonic` gives seconds."""
        self._path = path
        self._monotonic = monotonic
        self._book = FaqBook()
        self._stamp: _Stamp | None = None
        self._checked_at: float | None = None
        self._is_reading = False
        self.problem = ""
        """What is wrong with the file now, in 简体中文; "" when nothing is."""

    async def book(self) -> FaqBook:
        """The rules as of the last good file. While a change is being read, others get the old ones."""
        if self._is_reading or not self._is_due():
            return self._book
        self._is_reading = True
        try:
            await self._refresh()
        finally:
            self._is_reading = False
        return self._book

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
            self._note(f"找不到 {self._path.name}，仍用之前的规则；不要规则时请留一个空文件")
            return
        try:
            self._book = await anyio.to_thread.run_sync(_read, self._path, stamp)
        except ConfigurationError as error:
            self._note(str(error))
            return
        self.problem = ""
        logger.info("FAQ {}: {} rules", "read" if is_first else "read again", len(self._book.rules))

    def _note(self, problem: str) -> None:
        self.problem = problem
        logger.error("FAQ 未更新：{}", problem)


def _stamp(path: Path) -> _Stamp | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _read(path: Path, stamp: _Stamp) -> FaqBook:
    """Runs in a thread: 10,000 rules take about a second.

    Raises ConfigurationError.
    """
    if stamp[1] > LARGEST_BYTES:
        raise ConfigurationError(path.name, f"有 {stamp[1]} 字节", f"不要超过 {LARGEST_BYTES} 字节")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigurationError(path.name, "不是 UTF-8 编码", "用编辑器另存为 UTF-8") from error
    except OSError as error:
        raise ConfigurationError(path.name, f"读不出来（{error.strerror}）", "检查文件权限") from error
    return read_book(text, path.name)
