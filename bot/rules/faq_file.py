"""The operator's FAQ file, read again whenever it changes.

Invariant: a bad or missing file never takes the working rules away; the problem is kept for /状态
and logged once.
"""

import time
from collections.abc import Callable
from pathlib import Path

import anyio.to_thread

from bot.conversation.errors import ConfigurationError
from bot.conversation.watched_file import WatchedFile
from bot.rules.faq import FaqBook, FaqHit
from bot.rules.faq_yaml import read_book


class FaqFile:
    """Gives the present `FaqBook` of a file."""

    def __init__(self, path: Path, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Reads nothing yet. `monotonic` gives seconds."""
        self._file = WatchedFile(path, what="FAQ", read=_read, empty=FaqBook(), monotonic=monotonic)

    @property
    def problem(self) -> str:
        """What is wrong with the file now, in 简体中文; "" when nothing is."""
        return self._file.problem

    async def book(self) -> FaqBook:
        """The rules as of the last good file. While a change is being read, others get the old ones."""
        return await self._file.content()

    async def match(self, text: str, channel: str, last_answer: str = "") -> FaqHit | None:
        """`FaqBook.match` with the present rules; heavy ones in a thread (RE2 runs outside the GIL)."""
        book = await self.book()
        if book.is_heavy:
            return await anyio.to_thread.run_sync(book.match, text, channel, last_answer)
        return book.match(text, channel, last_answer)


def _read(raw: bytes, name: str) -> FaqBook:
    """Raises ConfigurationError."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigurationError(name, "不是 UTF-8 编码", "用编辑器另存为 UTF-8") from error
    return read_book(text, name)
