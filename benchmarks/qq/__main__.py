"""`make bench-qq`, or `python -m benchmarks.qq`: messages a second through a real OneBot websocket.

Writes results/qq.json; exit code 1 where a goal isn't held.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.progress import Progress

from benchmarks.core.trial import at_least, median_ratio, percentile, sig
from benchmarks.qq.playing import GROUPS, PEOPLE, Members
from benchmarks.qq.server import ECHO, OURS
from benchmarks.report import Figure, publish
from benchmarks.running_bot import RunningBot
from simulators.onebot import OneBotClient

AT_ONCE = 50
ROUNDS = 9
A_ROUND = {OURS: 1_000, ECHO: 1_000}
GOAL_SHARE = 0.4
TOKEN = "benchmark"
POLL_SECONDS = 0.05
SETTINGS = {
    "ONEBOT__ACCESS_TOKEN": TOKEN,
    "LOG_LEVEL": "INFO",
    # Members here answer the bot within a second, all the time, as only other bots do.
    "GROUP__LOOP_REPLIES": "0",
}


@dataclass(slots=True, kw_only=True)
class Rates:
    """Messages a second, of each round."""

    by_clock: list[float] = field(default_factory=list[float])
    by_cpu: list[float] = field(default_factory=list[float])

    def note(self, count: int, seconds: float, cpu: float) -> None:
        self.by_clock.append(count / seconds)
        self.by_cpu.append(count / cpu)


@dataclass(kw_only=True)
class Side:
    """One of the two, and what was measured of it."""

    name: str
    bot: RunningBot
    members: Members
    answered: Rates = field(default_factory=Rates)
    """Until the last answer is there."""
    kept: Rates = field(default_factory=Rates)
    """Until the last memory is kept too, which of an echo there is none."""
    waits_ms: list[float] = field(default_factory=list[float])

    async def play(self, count: int, *, is_counted: bool = True) -> None:
        cpu = cpu_seconds(self.bot.pid)
        played = await self.members.ask(count, AT_ONCE)
        began, cpu_of_answers = asyncio.get_running_loop().time(), cpu_seconds(self.bot.pid) - cpu
        while self.name == OURS and await self.bot.turns_waiting():
            await asyncio.sleep(POLL_SECONDS)
        seconds = played.seconds + asyncio.get_running_loop().time() - began
        if is_counted:
            self.answered.note(count, played.seconds, cpu_of_answers)
            self.kept.note(count, seconds, cpu_seconds(self.bot.pid) - cpu)
            self.waits_ms += played.waits_ms


def cpu_seconds(pid: int) -> float:
    """User and system time of a process, all threads (proc_pid_stat(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def side(name: str, folder: Path) -> AsyncGenerator[Side]:
    running = RunningBot(folder / name, SETTINGS, module=("benchmarks.qq.server", name))
    await running.start()
    url = f"ws://127.0.0.1:{running.port}/onebot/v11/ws"
    try:
        async with OneBotClient(url, access_token=TOKEN) as client:
            yield Side(name=name, bot=running, members=Members(client))
    finally:
        await running.stop()


WHAT = (
    "真实：OneBot 反向 WebSocket、uvicorn、NoneBot、收件箱、Assistant、SQLite（FULL）；替身：对话模型、向量模型；"
    f"{GROUPS} 个群 {PEOPLE} 人，同时 {AT_ONCE} 条，{ROUNDS}×{A_ROUND[OURS]} 条；服务端只用一个核，客户端是另一个进程；"
    "对照：NoneBot 自己的 OneBot 适配器加一个只回声的 matcher，另一个进程，同一个核，轮流"
)
UNTIL_ANSWERED = f"到最后一个回答为止；{WHAT}"
UNTIL_KEPT = f"连同回答之后的记忆整理，到没有待办为止；{WHAT}"
BY_CPU = "按处理器时间，各轮比值的中位数：机器忙时，线程多的一方按时钟多占便宜"


def figures(ours: Side, echo: Side) -> list[Figure]:
    share = median_ratio(ours.answered.by_cpu, echo.answered.by_cpu)
    goal = at_least(share, GOAL_SHARE)
    by_clock = median_ratio(ours.answered.by_clock, echo.answered.by_clock)
    kept_by_clock = median_ratio(ours.kept.by_clock, echo.answered.by_clock)
    return [
        _rate("每秒消息", ours.answered.by_clock, echo, f"{UNTIL_ANSWERED}；按时钟"),
        Figure(
            measure="与只回声相比",
            value=sig(share),
            unit="倍",
            goal=goal.words,
            holds=goal.holds,
            peer={"按时钟": sig(by_clock)},
            includes=f"{UNTIL_ANSWERED}；{BY_CPU}",
        ),
        _rate("每秒消息，连同整理", ours.kept.by_clock, echo, f"{UNTIL_KEPT}；按时钟"),
        Figure(
            measure="与只回声相比，连同整理",
            value=sig(median_ratio(ours.kept.by_cpu, echo.answered.by_cpu)),
            unit="倍",
            peer={"按时钟": sig(kept_by_clock)},
            includes=f"{UNTIL_KEPT}；{BY_CPU}",
        ),
        *(
            Figure(
                measure=f"从写到看到回答 {name}",
                value=sig(percentile(ours.waits_ms, share_of)),
                unit="毫秒",
                peer={"只回声": sig(percentile(echo.waits_ms, share_of))},
                includes=f"{WHAT}；一直有 {AT_ONCE} 条同时在等",
            )
            for name, share_of in (("p50", 50), ("p99", 99))
        ),
    ]


def _rate(measure: str, rates: list[float], echo: Side, includes: str) -> Figure:
    return Figure(
        measure=measure,
        value=sig(percentile(rates, 50)),
        unit="条/秒",
        peer={"只回声": sig(percentile(echo.answered.by_clock, 50))},
        includes=includes,
    )


async def run(bar: Progress) -> list[Figure]:
    task = bar.add_task("OneBot 群消息", total=2 * ROUNDS)
    async with AsyncExitStack() as open_sides:
        folder = Path(open_sides.enter_context(tempfile.TemporaryDirectory(prefix="jide-bench-")))
        ours = await open_sides.enter_async_context(side(OURS, folder))
        echo = await open_sides.enter_async_context(side(ECHO, folder))
        for each in (ours, echo):
            await each.play(PEOPLE, is_counted=False)  # everybody is known
        for _ in range(ROUNDS):
            for each in (ours, echo):
                await each.play(A_ROUND[each.name])
                bar.advance(task)
    return figures(ours, echo)


def main() -> int:
    with Progress() as bar:
        found = asyncio.run(run(bar))
    return publish("qq", found)


if __name__ == "__main__":
    sys.exit(main())
