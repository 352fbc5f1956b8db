"""Pairs of a question and a memory or passage, and whether quoting it helps: tests/data/*_fits*.tsv."""

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Pair:
    question: str
    text: str
    fits: bool


def pairs(name: str) -> list[Pair]:
    """The pairs of one file; lines that begin with # are comments."""
    lines = (FOLDER / f"{name}.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [Pair(question, text, fits == "1") for question, text, fits in rows]


def precision_and_recall(found: list[tuple[bool, Pair]]) -> tuple[float, float]:
    """Of (decision, pair): the share of the quoted that fits, and of the fitting that is quoted."""
    quoted = [pair.fits for decision, pair in found if decision]
    right = sum(quoted)
    return right / max(len(quoted), 1), right / sum(pair.fits for _, pair in found)
