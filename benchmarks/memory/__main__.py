"""Run memory's benchmarks: `make bench-memory`, or `python -m benchmarks.memory [--only NAME …] [--lists FOLDER] [--large]`;
`--large` adds a million memories under load; `--report` only writes docs/benchmarks/memory.md and its plots anew.

What is measured takes the place of the figures of the same name in results/memory.json; the others stay.

Exit codes: 0, 1 where a goal isn't held, a list is missing, or the embedder, a peer or matplotlib isn't installed.

Invariant: the lists are read in place and tune nothing.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from benchmarks.memory import (
    confirmations,
    contradictions,
    conversations,
    forget_words,
    forgetting,
    isolation,
    load,
    madial,
    pairs,
    poison,
    questions,
    time_bound,
)
from benchmarks.memory.pages import write_report
from benchmarks.memory.peers import versions
from benchmarks.report import Figure, publish

LISTS = Path(__file__).resolve().parents[1] / "lists"
Say: TypeAlias = Callable[[str], None]
Measure: TypeAlias = Callable[[Path, Path, Say], Awaitable[list[Figure]]]
"""Of the folder of lists, an empty folder for databases, and whom to tell how far it is. Raises FileNotFoundError
where its list is missing."""

LARGE = "load-large"
MEASURES: dict[str, Measure] = {
    "madial": madial.measure,
    "time-bound": time_bound.measure,
    "pairs": pairs.measure,
    "contradictions": contradictions.measure,
    "conversations": conversations.measure,
    "confirmations": confirmations.measure,
    "poison": poison.measure,
    "questions": questions.measure,
    "isolation": isolation.measure,
    "forget-words": forget_words.measure,
    "forgetting": forgetting.measure,
    "load": load.measure,
    LARGE: load.measure_large,
}
"""By name, in the order they run."""
NEED_PEERS = {"questions", "isolation"}


def main() -> int:
    parser = argparse.ArgumentParser(description="记忆的基准：回忆、事实的更替、遗忘")
    parser.add_argument("--only", nargs="+", choices=MEASURES, help="只量这几项；结果文件里别的不变")
    parser.add_argument("--lists", type=Path, default=LISTS, help="自己的清单")
    parser.add_argument("--large", action="store_true", help="另量一百万条记忆时的快慢，约 4 GB 磁盘")
    parser.add_argument("--report", action="store_true", help="什么都不量，只照结果文件重写报告和图")
    options = parser.parse_args()
    wanted = options.only or [name for name in MEASURES if options.large or name != LARGE]
    try:
        code = 0 if options.report else _measure(wanted, options.lists)
        write_report()
    except ModuleNotFoundError as error:
        print(f"没有安装 {error.name}：用 make bench-memory 运行，它会装好", file=sys.stderr)
        return 1
    return code


def _measure(wanted: list[str], lists: Path) -> int:
    """The exit code. Raises ModuleNotFoundError."""
    if NEED_PEERS & set(wanted):
        versions()
    figures, missing = asyncio.run(_run(wanted, lists))
    for name in missing:
        print(f"缺少清单 {name}：应在 {lists}", file=sys.stderr)
    code = publish("memory", figures, merges=True)
    return 1 if code or missing else 0


async def _run(wanted: list[str], lists: Path) -> tuple[list[Figure], list[str]]:
    """The figures, and the lists that are missing."""
    figures: list[Figure] = []
    missing: list[str] = []
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Bar(*columns, refresh_per_second=2) as bar:
        for name in wanted:
            task = bar.add_task(name)

            def say(doing: str, name: str = name, task=task) -> None:
                bar.update(task, description=f"{name}：{doing}")

            with tempfile.TemporaryDirectory(prefix="jide-bench-") as folder:
                try:
                    figures += await MEASURES[name](lists, Path(folder), say)
                except FileNotFoundError as error:
                    missing.append(Path(error.filename).name)
            bar.stop_task(task)
    return figures, missing


if __name__ == "__main__":
    sys.exit(main())
