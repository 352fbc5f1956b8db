"""The report of memory's benchmarks: docs/benchmarks/memory.md and its plots, from results/memory.json alone.

Invariant: no number stands here; what wasn't measured is left out.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.memory.isolation import SETUPS
from benchmarks.memory.isolation import overlap_of as overlap
from benchmarks.memory.questions import MRR, NAMES
from benchmarks.report import RESULTS

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
PAGE = "memory.md"
OURS = "ours"
LABELS = {
    "我们": OURS,
    "只用向量": "dense alone",
    "只用词": "words alone",
    "字面公式": "literal formula",
    "不看时间的回忆": "without the time",
    "不看前文的回忆": "without the talk",
    "论文中最好的开源": "best open one, published",
    "OpenAI": "OpenAI, published",
}
"""In plots: the fonts that every machine has know no Chinese."""
Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """One picture of bars, a panel for each measure."""

    file: str
    title: str
    panels: tuple[tuple[str, str], ...]
    """Title and measure."""


PLOTS = (
    Plot(
        file="memory-isolation.png",
        title="Own exact top 5 that is found among other people's memories",
        panels=tuple((setup.label, overlap(setup)) for setup in SETUPS),
    ),
    Plot(
        file="memory-questions.png",
        title="Questions by somebody who had not seen the ranker",
        panels=tuple(
            (f"{name}, {figure}", f"{words}问题 {figure}")
            for name, words in NAMES.items()
            for figure in ("recall@5", MRR)
        ),
    ),
    Plot(
        file="memory-recall.png",
        title="MADial-Bench zh (%), and questions bound to a time",
        panels=(
            ("MADial recall@5", "MADial 中文 recall@5"),
            ("MADial MRR@10", "MADial 中文 MRR@10"),
            ("right one first", "带时间的问题：对的那条排第一"),
        ),
    ),
)


def write_report(folder: Path = FOLDER) -> None:
    """The page, then the plots. Raises ModuleNotFoundError without matplotlib, when the page is written."""
    rows: list[Row] = json.loads((RESULTS / "memory.json").read_text("utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PAGE).write_text(page(rows), "utf-8")
    by_measure = {row["measure"]: row for row in rows}
    for plot in PLOTS:
        panels = panels_of(plot, by_measure)
        if panels:
            _draw(plot.title, panels, folder / plot.file)


def page(rows: Sequence[Row]) -> str:
    """Markdown."""
    by_measure = {row["measure"]: row for row in rows}
    missed = [row["measure"] for row in rows if row["holds"] is False]
    lines = [
        "# Memory",
        "",
        "Written by `make bench-memory` from `benchmarks/results/memory.json`, plots too: nothing in here is typed by",
        "hand. Peers ran in the same process over the same vectors; published figures are marked as such in the",
        "benchmark that cites them.",
        "",
        f"Goals that aren't held: {'、'.join(missed) or 'none'}.",
        "",
    ]
    for plot in PLOTS:
        if panels_of(plot, by_measure):
            lines += [f"![{plot.title}]({plot.file})", ""]
    lines += ["| measure | reached | goal | held | beside it | what is in it |", "|---|---|---|---|---|---|"]
    lines += map(_line, rows)
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    held = {None: "", True: "yes", False: "**no**"}[row["holds"]]
    beside = "<br>".join(f"{name} {_shown(value)}" for name, value in (row["peer"] or {}).items())
    reached = f"{_shown(row['value'])} {row['unit']}".strip()
    return f"| {' | '.join((row['measure'], reached, row['goal'], held, beside, row['includes']))} |"


def _shown(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".") if value % 1 else f"{value:g}"


def panels_of(plot: Plot, by_measure: Mapping[str, Row]) -> dict[str, dict[str, float]]:
    """Of each panel that was measured, the values by name, ours first."""
    return {
        title: {LABELS.get(name, name): value for name, value in _values(by_measure[measure])}
        for title, measure in plot.panels
        if measure in by_measure
    }


def _values(row: Row) -> list[tuple[str, float]]:
    return [(OURS, row["value"]), *(row["peer"] or {}).items()]


def _draw(title: str, panels: Mapping[str, Mapping[str, float]], path: Path) -> None:
    import matplotlib as mpl  # pyright: ignore[reportMissingImports]

    mpl.use("Agg")
    from matplotlib import pyplot  # pyright: ignore[reportMissingImports]

    names = list(dict.fromkeys(name for values in panels.values() for name in values))
    figure, axes = pyplot.subplots(
        1, len(panels), figsize=(2.6 * len(panels) + 1.6, 0.32 * len(names) + 1.4), sharey=True, squeeze=False
    )
    for axis, (panel, values) in zip(axes[0], panels.items(), strict=True):
        shown = [name for name in names if name in values]
        places = [names.index(name) for name in shown]
        colours = ["#c0392b" if name == OURS else "#7f8c8d" for name in shown]
        bars = axis.barh(places, [values[name] for name in shown], color=colours)
        axis.bar_label(bars, fmt="%.3g", fontsize=7, padding=2)
        axis.set_title(panel, fontsize=9)
        axis.margins(x=0.18)
        axis.tick_params(labelsize=7)
    axes[0][0].set_yticks(range(len(names)), names)
    axes[0][0].invert_yaxis()
    figure.suptitle(title, fontsize=10)
    figure.tight_layout()
    # No date of its making: the same figures are the same file.
    figure.savefig(path, dpi=120, metadata={"Software": None})
    pyplot.close(figure)
