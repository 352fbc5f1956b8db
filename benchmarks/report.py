"""What a benchmark found: a table for people, a file for the record, an exit code for `make`.

Invariant: a figure is only ever what was measured in this run; the file names no path of the machine.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured figure."""

    measure: str
    value: float
    unit: str
    goal: str = ""
    """What `holds` says of it, such as `≥ 0.8`; "" where the figure is only reported."""
    holds: bool | None = None
    """None without a goal."""
    peer: dict[str, float] | None = None
    """What something simpler reached on the same input, in the same run and unit, by its name."""
    includes: str = ""
    """What is real in it, and what it stands for."""


def at_least(value: float, goal: float) -> tuple[str, bool]:
    """The words of a goal, and whether it holds."""
    return f"≥ {goal:g}", value >= goal


def publish(name: str, figures: Sequence[Figure], *, keeps: bool = True, merges: bool = False) -> int:
    """Print the table and write `results/NAME.json`. Returns the exit code: 1 where a goal isn't held.

    `keeps` False: of a part, which is not to take the place of the whole in the file. `merges`: it takes the place of
    the figures of the same names alone.
    """
    _print(figures)
    if not keeps:
        return _code(figures)
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    rows = [asdict(figure) for figure in figures]
    if merges and path.exists():
        rows = _merged(json.loads(path.read_text("utf-8")), rows)
    text = json.dumps(rows, ensure_ascii=False, indent=2)
    path.write_text(text + "\n", encoding="utf-8")
    return _code(figures)


def _merged(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """In the order of the file, what is new behind it."""
    by_measure = {row["measure"]: row for row in now}
    kept = [by_measure.pop(row["measure"], row) for row in before]
    return [*kept, *by_measure.values()]


def _code(figures: Sequence[Figure]) -> int:
    return 1 if any(figure.holds is False for figure in figures) else 0


def _print(figures: Sequence[Figure]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("指标", "结果", "单位", "目标", "达到", "对照")
    for figure in figures:
        held = "" if figure.holds is None else "是" if figure.holds else "否"
        peers = "，".join(f"{name} {value:g}" for name, value in (figure.peer or {}).items())
        table.add_row(figure.measure, f"{figure.value:g}", figure.unit, figure.goal, held, peers)
    Console().print(table)
