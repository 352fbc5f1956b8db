"""From `python -m bot` to the first answer, and the memory of a bot that waits.

Invariant: a fresh data folder and no settings, as after `git clone`; the bot is its own process, asked through
its own port as WeChat would.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from asyncio.subprocess import Process
from pathlib import Path

import httpx

from benchmarks.core.trial import Progress, at_most, percentile, sig
from benchmarks.report import Figure
from simulators.wechat import WeChatServer

GOAL_SECONDS = 6.0
GOAL_MIB = 350.0
STARTS = 5
GIVE_UP_SECONDS = 120.0
ASK_AGAIN_SECONDS = 0.02
IDLE_SECONDS = 5.0
"""After it has answered: what is loaded in the background is then there."""
ROOT = Path(__file__).resolve().parents[2]


class NoAnswer(Exception):
    """The bot ended, or did not answer in time."""


async def measure(folder: Path, progress: Progress) -> list[Figure]:
    seconds: list[float] = []
    mebibytes: list[float] = []
    for number in range(STARTS):
        progress(f"第 {number + 1}/{STARTS} 次启动")
        taken, resident = await _start_once(folder / f"data{number}")
        seconds.append(taken)
        mebibytes.append(resident)
    # The median: something else on the machine may hit one start.
    start, idle = percentile(seconds, 50), percentile(mebibytes, 50)
    start_goal, idle_goal = at_most(start, GOAL_SECONDS), at_most(idle, GOAL_MIB)
    return [
        Figure(
            measure="从启动到第一个回答",
            value=sig(start),
            unit="秒",
            goal=start_goal.words,
            holds=start_goal.holds,
            includes=f"真实：进程、建库、迁移、自带的向量模型、公众号被动回复；没有密钥；{STARTS} 次的中位数",
        ),
        Figure(
            measure="空闲时的内存",
            value=sig(idle),
            unit="MiB",
            goal=idle_goal.words,
            holds=idle_goal.holds,
            includes=f"常驻内存（RSS），回答之后 {IDLE_SECONDS:g} 秒；没有密钥；{STARTS} 次的中位数",
        ),
    ]


async def _start_once(data: Path) -> tuple[float, float]:
    """(seconds to the first answer, MiB when idle)."""
    port = _free_port()
    # Settings of this shell must not reach the bot.
    ours = {name: value for name, value in os.environ.items() if "__" not in name}
    environment = ours | {"JIDE_DATA_DIR": str(data), "HOST": "127.0.0.1", "PORT": str(port)}
    log = data.with_suffix(".log")
    with log.open("wb") as output:
        begun = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", cwd=ROOT, env=environment, stdout=output, stderr=output
        )
    try:
        async with asyncio.timeout(GIVE_UP_SECONDS):
            await _first_answer(process, data / "tryout.json", port, log)
        taken = time.perf_counter() - begun
        await asyncio.sleep(IDLE_SECONDS)
        return taken, await asyncio.to_thread(_resident_mib, process.pid)
    finally:
        process.terminate()
        await process.wait()


async def _first_answer(process: Process, tryout: Path, port: int, log: Path) -> None:
    """Knock at the port until it opens, then ask once. Raises NoAnswer."""
    address = f"http://127.0.0.1:{port}"
    async with httpx.AsyncClient(trust_env=False) as client:
        while True:
            if process.returncode is not None:
                raise NoAnswer(_end_of(log))
            try:
                await client.get(f"{address}/livez")
                break
            except httpx.TransportError:
                await asyncio.sleep(ASK_AGAIN_SECONDS)
    made = await asyncio.to_thread(_read, tryout)
    async with WeChatServer(f"{address}/wechat", made["wechat_token"], made["app_id"]) as wechat:
        seen = await wechat.say("o-first", "你们几点开门？")
    if not seen.text or seen.is_fault:
        raise NoAnswer(_end_of(log))


def _read(tryout: Path) -> dict[str, str]:
    return json.loads(tryout.read_text("utf-8"))


def _end_of(log: Path) -> str:
    return log.read_text("utf-8", "replace")[-3000:]


def _resident_mib(pid: int) -> float:
    """`ps` rather than /proc: it is on macOS too."""
    told = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True
    ).stdout
    return int(told) / 1024


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
