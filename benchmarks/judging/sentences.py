"""Labelled sentences: those written by hand in lists/training, and those made from frames.

Invariant: seeded, so that each run gives the same sentences; none comes from another list of this project.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TRAINING = Path(__file__).resolve().parents[1] / "lists" / "training"
SEED = 20_260
PER_FRAME = 14
"""Of one frame. More say the same with other nouns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    text: str
    kept: bool
    kind: str
    """Of what is dropped: ask, talk, order, untrue, third; of what is kept: keep."""
    group: str
    """Sentences of one frame, never split between folds."""


def sentences() -> list[Sentence]:
    """By hand first, then from the frames; no text twice."""
    found = {each.text: each for each in reversed([*_written(), *_framed()])}
    return list(reversed(found.values()))


def _written() -> Iterator[Sentence]:
    for path in sorted(TRAINING.glob("*.txt")):
        kind = path.stem.removeprefix("drop_").split("_")[0].rstrip("0123456789")
        for line in path.read_text("utf-8").splitlines():
            if line:
                yield Sentence(text=line, kept=kind == "keep", kind=kind, group=line)


def _framed() -> Iterator[Sentence]:
    chance, slots = random.Random(SEED), slots_of()
    for kind, frame in table("frames.tsv"):
        for _ in range(PER_FRAME):
            text = frame.format(**{slot: chance.choice(values) for slot, values in slots.items()})
            yield Sentence(text=text, kept=kind == "keep", kind=kind, group=frame)


def table(name: str) -> list[list[str]]:
    """Of lists/training."""
    return [line.split("\t") for line in (TRAINING / name).read_text("utf-8").splitlines() if line]


def slots_of() -> dict[str, list[str]]:
    """What stands for each {slot} of a frame."""
    return {slot: values.split("|") for slot, values in table("slots.tsv")}
