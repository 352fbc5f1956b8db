"""A program in a pseudo-terminal: type lines, wait for words, as somebody at a keyboard."""

import asyncio
import contextlib
import os
import pty
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

READ_BYTES = 65536
CTRL_C = "\x03"
CTRL_D = "\x04"
_AT_A_KEYBOARD = (
    "import fcntl, os, sys, termios\n"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
"""Makes the pseudo-terminal the program's own, so that Ctrl+C reaches it as a signal."""


class Terminal:
    """Use as an async context manager; leaving it ends the program."""

    def __init__(self, command: Sequence[str], *, folder: Path, environment: Mapping[str, str]) -> None:
        self._command = command
        self._folder = folder
        self._environment = environment
        self._shown = b""
        self._read_to = 0
        self._arrived = asyncio.Event()

    @property
    def shown(self) -> str:
        """Everything so far: what was printed, and the echo of what was typed."""
        return self._shown.decode("utf-8", "replace")

    async def __aenter__(self) -> "Terminal":
        self._screen, keyboard = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _AT_A_KEYBOARD, *self._command],
            cwd=self._folder,
            env=dict(self._environment),
            stdin=keyboard,
            stdout=keyboard,
            stderr=keyboard,
            start_new_session=True,
        )
        os.close(keyboard)
        asyncio.get_running_loop().add_reader(self._screen, self._read)
        return self

    async def __aexit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self._screen)
        if self._process.poll() is None:
            self._process.kill()
        await asyncio.to_thread(self._process.wait)
        os.close(self._screen)

    def type(self, line: str) -> None:
        self.press(f"{line}\n")

    def press(self, keys: str | bytes) -> None:
        os.write(self._screen, keys.encode() if isinstance(keys, str) else keys)

    async def until(self, words: str, seconds: float = 60) -> str:
        """Wait until `words` are shown, later than what was waited for before. Returns what came."""
        try:
            async with asyncio.timeout(seconds):
                while (found := self._shown.find(words.encode(), self._read_to)) < 0:
                    self._arrived.clear()
                    await self._arrived.wait()
        except TimeoutError:
            raise AssertionError(f"“{words}” was not shown:\n{self.shown}") from None
        end = found + len(words.encode())
        came, self._read_to = self._shown[self._read_to : end], end
        return came.decode("utf-8", "replace")

    async def ended(self, seconds: float = 60) -> int:
        """Wait for the program to end by itself. Returns its exit code."""
        return await asyncio.to_thread(self._process.wait, seconds)

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # Linux says so when the program has closed its side
            self._shown += os.read(self._screen, READ_BYTES)
            self._arrived.set()
            return
        asyncio.get_running_loop().remove_reader(self._screen)
