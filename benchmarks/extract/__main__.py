"""What memory takes out of a message without a model, in one run: times, entities, references, damaged answers.

    python -m benchmarks.extract [--shared FOLDER] [--lists FOLDER] [--no-vectors] [--misses]     (make bench-extract)

Public lists are read from `--shared`, our own from `--lists`; what is missing there is named, the rest measured.
Comparing with vectors alone takes some minutes of one core.

Exit codes: 0, 1 where a goal isn't held, a list is missing or a peer isn't installed.

Invariant: the lists are read in place and tune nothing.
"""

import argparse
import asyncio
import logging
import sys
from collections.abc import Callable
from pathlib import Path

from rich.progress import Progress

from benchmarks.extract import entities_zh, garbled_answers, orders, own_lists, promises, time_zh
from benchmarks.extract.time_peers import peers
from benchmarks.report import Figure, publish
from bot.llm.nano_embedder import make_nano_embedder

LISTS = Path(__file__).resolve().parents[1] / "lists"


def measures(
    shared: Path, lists: Path, misses: list[str], *, has_vectors: bool
) -> tuple[list[Figure], list[Path]]:
    """The figures, and the lists that are missing. Raises ImportError without the peers."""
    parts: list[tuple[Path, Callable[[Path], list[Figure]]]] = [
        (shared / "benchdata" / "entities_zh", entities_zh.measures),
        (lists / "extraction.tsv", lambda path: own_lists.entities(path, misses)),
        (
            lists / "extraction.tsv",
            lambda path: [own_lists.p99_ms([row[0] for row in own_lists.rows(path)])],
        ),
        (
            lists / "references" / "orders.jsonl",
            lambda path: asyncio.run(_orders(path, misses, has_vectors=has_vectors)),
        ),
        (lists / "bot_promises.jsonl", lambda path: promises.figures(path, misses)),
        (lists / "garbled.jsonl", lambda path: garbled_answers.figures(path, misses)),
        (lists / "noise.tsv", lambda path: own_lists.noise(path, misses)),
        # Last: the peers change the precision of every Decimal of the process.
        (shared / "benchdata" / "time_zh", lambda path: time_zh.measure(path, others=peers())),
        (lists / "time_zh.tsv", lambda path: [own_lists.times(path, misses)]),
        (lists / "time_spans.tsv", lambda path: [own_lists.spans(path, misses)]),
    ]
    figures: list[Figure] = []
    missing: list[Path] = []
    for path, measure in parts:
        if path.exists():
            figures += measure(path)
        elif path not in missing:
            missing.append(path)
    return figures, missing


async def _orders(path: Path, misses: list[str], *, has_vectors: bool) -> list[Figure]:
    embedder = make_nano_embedder() if has_vectors else None
    with Progress() as progress:
        bar = progress.add_task("只用向量的对照", total=None, visible=embedder is not None)
        try:
            return await orders.figures(
                path, embedder, misses, lambda done, total: progress.update(bar, completed=done, total=total)
            )
        finally:
            if embedder is not None:
                await embedder.close()


def main() -> int:
    parser = argparse.ArgumentParser(description="从一句话里提取时间、实体、指代")
    parser.add_argument("--shared", type=Path, default=time_zh.SHARED, help="放 benchdata 的目录")
    parser.add_argument("--lists", type=Path, default=LISTS, help="自己的清单")
    parser.add_argument("--no-vectors", action="store_true", help="不做只用向量的对照")
    parser.add_argument("--misses", action="store_true", help="列出没对上的")
    options = parser.parse_args()
    logging.disable()  # a peer logs a traceback for each text it can't read
    misses: list[str] = []
    try:
        figures, missing = measures(options.shared, options.lists, misses, has_vectors=not options.no_vectors)
    except ImportError as error:
        print(f"对照没有安装（{error.name}）：用 make bench-extract 运行，它会装好", file=sys.stderr)
        return 1
    if options.misses:
        print("\n".join(misses))
    for path in missing:
        print(f"缺少清单 {path.name}：应在 {path.parent}", file=sys.stderr)
    code = publish("extract", figures, keeps=not missing and not options.no_vectors)
    return 1 if missing else code


if __name__ == "__main__":
    sys.exit(main())
