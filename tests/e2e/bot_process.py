"""The bot as a user starts it: `python -m bot` in its own process, with its own data folder."""

import asyncio
import os
import secrets
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx

from tests.free_ports import free_port

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60.0
"""A hang guard, not a measure: a loaded CI machine takes several seconds to import everything."""
IDLE_SECONDS = 20.0
"""A hang guard too."""

WECHAT_TOKEN = secrets.token_hex(16)
"""Made anew: `jide doctor` looks for the settings' secrets in tracked files."""
WECHAT_APP_ID = "wxe2e0000000000001"
WECHAT_AES_KEY = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"
ONEBOT_TOKEN = "1e5"
"""Looks like a number on purpose: settings must read it as text."""


class BotProcess:
    """One running bot. `start` returns when it answers, `stop` is SIGTERM, `kill` is SIGKILL."""

    def __init__(self, data: Path, **settings: str) -> None:
        self.data = data
        self.port = free_port()
        self.console_port = free_port()
        self.settings = settings
        self.log = data.parent / f"{data.name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> Mapping[str, str]:
        ours = {name: value for name, value in os.environ.items() if "__" not in name}
        return ours | {
            "JIDE_DATA_DIR": str(self.data),
            "PORT": str(self.port),
            "HOST": "127.0.0.1",
            "CONSOLE__PORT": str(self.console_port),
            "WECHAT__APP_ID": WECHAT_APP_ID,
            "WECHAT__TOKEN": WECHAT_TOKEN,
            "ONEBOT__ACCESS_TOKEN": ONEBOT_TOKEN,
            **self.settings,
        }

    async def start(self) -> "BotProcess":
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "bot"], cwd=ROOT, env=dict(self.environment), stdout=log, stderr=log
            )
        async with httpx.AsyncClient(trust_env=False) as client:
            deadline = asyncio.get_running_loop().time() + START_SECONDS
            while asyncio.get_running_loop().time() < deadline:
                if self._process.poll() is not None:
                    raise AssertionError(f"the bot ended at start:\n{self.log.read_text('utf-8')[-3000:]}")
                try:
                    if (await client.get(f"{self.url}/livez")).status_code == 200:
                        return self
                except httpx.TransportError:
                    await asyncio.sleep(0.05)
        raise AssertionError(f"the bot did not answer:\n{self.log.read_text('utf-8')[-3000:]}")

    async def stop(self) -> int:
        """SIGTERM, and wait. Returns the exit code."""
        return await self._end(signal.SIGTERM)

    async def kill(self) -> None:
        """SIGKILL: nothing is flushed, nothing is said."""
        await self._end(signal.SIGKILL)

    async def _end(self, how: signal.Signals) -> int:
        process = self._process
        if process is None or process.poll() is not None:
            return process.returncode if process else 0
        process.send_signal(how)
        return await asyncio.to_thread(process.wait, 40)

    async def until_idle(self) -> None:
        """Every job done and every fact embedded."""
        async with asyncio.timeout(IDLE_SECONDS):
            while self._count("SELECT count(*) FROM job") or self._count(
                "SELECT count(*) FROM fact WHERE model = ''"
            ):
                await asyncio.sleep(0.05)

    def _count(self, query: str) -> int:
        connection = sqlite3.connect(self.data / "jide.db", timeout=10)
        try:
            return connection.execute(query).fetchone()[0]
        finally:
            connection.close()

    def cli(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `jide …` beside the bot, with the same settings."""
        return subprocess.run(
            [sys.executable, "-m", "bot.cli", *arguments],
            cwd=ROOT,
            env=dict(self.environment),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
