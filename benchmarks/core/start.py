"""From `python -m bot` to the first answer, and the memory of a bot that waits.

Invariant: a fresh data folder and no settings, as after `git clone`; the bot is its own process, asked through
its own port as WeChat would.
"""

import asyncio
import json
import subprocess
import time
from pathlib import Path

from benchmarks.core.trial import Progress, at_most, percentile, sig
from benchmarks.report import Figure
from benchmarks.running_bot import BotEnded, RunningBot
from simulators.wechat import WeChatServer

GOAL_SECONDS = 6.0
GOAL_MIB = 350.0
STARTS = 5
GIVE_UP_SECONDS = 120.0
IDLE_SECONDS = 5.0
"""After it has answered: what is loaded in the background is then there."""


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
    bot = RunningBot(data, {})
    begun = time.perf_counter()
    try:
        async with asyncio.timeout(GIVE_UP_SECONDS):
            await bot.start()
            await _first_answer(bot, data / "tryout.json")
        taken = time.perf_counter() - begun
        await asyncio.sleep(IDLE_SECONDS)
        return taken, await asyncio.to_thread(_resident_mib, bot.pid)
    finally:
        await bot.stop()


async def _first_answer(bot: RunningBot, tryout: Path) -> None:
    """Ask once. Raises BotEnded where nothing comes of it."""
    made = await asyncio.to_thread(_read, tryout)
    url = f"http://127.0.0.1:{bot.port}/wechat"
    async with WeChatServer(url, made["wechat_token"], made["app_id"]) as wechat:
        seen = await wechat.say("o-first", "你们几点开门？")
    if not seen.text or seen.is_fault:
        raise BotEnded(bot.log_end())


def _read(tryout: Path) -> dict[str, str]:
    return json.loads(tryout.read_text("utf-8"))


def _resident_mib(pid: int) -> float:
    """`ps` rather than /proc: it is on macOS too."""
    told = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True
    ).stdout
    return int(told) / 1024
