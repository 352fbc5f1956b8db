"""The bot as its own process, with the settings of this run alone.

Invariant: nothing of this shell's settings reaches it.
"""

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import Mapping
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[1]
GIVE_UP_SECONDS = 120.0
KNOCK_SECONDS = 0.02


class BotEnded(Exception):
    """It ended, or did not answer in time. Holds the end of its log."""


class RunningBot:
    def __init__(self, data: Path, settings: Mapping[str, str], module: tuple[str, ...] = ("bot",)) -> None:
        """`module`: what is run in its place, with its arguments."""
        self._data = data
        self._module = module
        self._settings = settings
        self._log = data.with_suffix(".log")
        self._process: Process | None = None
        self.port = free_port()
        self.console_port = free_port()

    async def start(self) -> None:
        """Until it answers. Raises BotEnded."""
        ours = {name: value for name, value in os.environ.items() if "__" not in name}
        environment = ours | {
            "JIDE_DATA_DIR": str(self._data),
            "HOST": "127.0.0.1",
            "PORT": str(self.port),
            "CONSOLE__PORT": str(self.console_port),
            **self._settings,
        }
        with self._log.open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", *self._module),
                cwd=ROOT,
                env=environment,
                stdout=output,
                stderr=output,
            )
        try:
            async with asyncio.timeout(GIVE_UP_SECONDS), httpx.AsyncClient(trust_env=False) as client:
                while not await self._answers(client):
                    await asyncio.sleep(KNOCK_SECONDS)
        except TimeoutError as error:
            raise BotEnded(self.log_end()) from error

    async def _answers(self, client: httpx.AsyncClient) -> bool:
        assert self._process is not None
        if self._process.returncode is not None:
            raise BotEnded(self.log_end())
        try:
            return (await client.get(f"http://127.0.0.1:{self.port}/livez")).status_code == 200
        except httpx.TransportError:
            return False

    @property
    def pid(self) -> int:
        assert self._process is not None, "not started"
        return self._process.pid

    async def kill(self) -> None:
        """As a power cut: nothing is finished."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        await self._end(signal.SIGTERM)

    async def _end(self, how: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(how)
            await self._process.wait()

    async def metric(self, name: str) -> float:
        """The sum over all labels."""
        async with httpx.AsyncClient(trust_env=False) as client:
            text = (await client.get(f"http://127.0.0.1:{self.console_port}/metrics")).text
        lines = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        return sum(float(value) for key, value in lines if key.split("{")[0] == name)

    async def turns_waiting(self) -> int:
        """Turns that have not been judged for memory yet."""
        async with httpx.AsyncClient(trust_env=False) as client:
            memory = (await client.get(f"http://127.0.0.1:{self.console_port}/healthz/memory")).json()
        return memory["turns_waiting"]

    def log_end(self) -> str:
        return self._log.read_text("utf-8", "replace")[-3000:]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
