"""`make bench-wechat`, or `python -m benchmarks.wechat [--only cells|followers] [--match TEXT]`.

Writes docs/benchmarks/wechat-five-seconds.md, results/wechat.json and wechat-followers.json; exit code 1 where a goal isn't held.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.progress import Progress

from benchmarks.report import publish
from benchmarks.wechat import followers, table
from benchmarks.wechat.cells import Cell, Situation, grid
from benchmarks.wechat.playing import Player, Row
from benchmarks.wechat.stage import Stage, open_stage

RESTART_SECONDS = 2.5
"""After the first question: within the first delivery of all, before most models are done."""
WITHIN_SECONDS = {False: 15.0, True: 1.0}
"""How long it takes until all have asked: what happens when all ask at once is the followers' part."""


async def play_all(
    stage: Stage, cells: Sequence[Cell], done: Callable[[], None], within_seconds: float
) -> list[Row]:
    """Side by side, each begun a moment after the one before."""
    pause = within_seconds / len(cells)

    async def play(number: int, cell: Cell) -> Row:
        await asyncio.sleep(number * pause)
        row = await Player(stage.servers[cell.account, cell.mode], stage.model).play(cell)
        done()
        return row

    return await asyncio.gather(*(play(number, cell) for number, cell in enumerate(cells)))


async def restart(stage: Stage) -> None:
    await asyncio.sleep(RESTART_SECONDS)
    await stage.bot.kill()
    await stage.bot.start()


async def measure_cells(cells: Sequence[Cell], folder: Path, done: Callable[[], None]) -> list[Row]:
    """The cells with a restart have a bot of their own, killed once under all of them."""
    rows: list[Row] = []
    for is_restart in (False, True):
        chosen = [cell for cell in cells if (cell.situation is Situation.RESTART) is is_restart]
        if not chosen:
            continue
        async with open_stage(folder / f"数据{is_restart:d}") as stage:
            await stage.bot.start()
            playing = asyncio.create_task(play_all(stage, chosen, done, WITHIN_SECONDS[is_restart]))
            if is_restart:
                await restart(stage)
            rows += await playing
    return rows


async def run(only: str, match: str) -> int:
    is_held = True
    with tempfile.TemporaryDirectory(prefix="jide-bench-") as made, Progress() as bar:
        folder = Path(made)
        if only in ("", "cells"):
            cells = [cell for cell in grid() if match in cell.openid]
            task = bar.add_task("五秒的每一格", total=len(cells))
            rows = await measure_cells(cells, folder, lambda: bar.advance(task))
            rows.sort(key=lambda row: row.cell.number)
            if not match:
                table.write(rows)
            for row in rows:
                if not table.is_good(row):
                    bar.console.print(row)
            is_held &= publish("wechat", table.figures(rows), keeps=not match) == 0
        if only in ("", "followers"):
            task = bar.add_task("一千人同时来问", total=None)
            found = await followers.measure(
                folder, lambda doing: bar.update(task, description=f"一千人同时来问：{doing}")
            )
            is_held &= publish("wechat-followers", found) == 0
    return 0 if is_held else 1


def main() -> int:
    parser = argparse.ArgumentParser(description="公众号的五秒")
    parser.add_argument("--only", choices=("cells", "followers"), default="", help="只量这一项")
    parser.add_argument("--match", default="", help="只量名字里有这段文字的格子，不写表")
    options = parser.parse_args()
    return asyncio.run(run(options.only, options.match))


if __name__ == "__main__":
    sys.exit(main())
