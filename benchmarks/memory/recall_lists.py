"""The blind lists of questions to memories: what each person told, and which of it a question needs."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.memory.people import Told

SETS = ("natural", "adversarial")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question of a person."""

    person: str
    text: str
    relevant: frozenset[str]
    kind: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSet:
    """A set of questions and everybody's memories, by person."""

    memories: dict[str, tuple[Told, ...]]
    questions: tuple[Asked, ...]


def read_set(lists: Path, name: str) -> QuestionSet:
    """`name`: of SETS. Raises FileNotFoundError."""
    memories = {
        row["person"]: tuple(
            Told(id=each["id"], text=each["text"], at=datetime.fromisoformat(each["at"]))
            for each in row["memories"]
        )
        for row in _rows(lists / f"recall_{name}_memories.jsonl")
    }
    questions = tuple(
        Asked(
            person=row["person"],
            text=row["query"],
            relevant=frozenset(row["relevant"]),
            kind=row["kind"],
            at=datetime.fromisoformat(row["now"]),
        )
        for row in _rows(lists / f"recall_{name}.jsonl")
    )
    return QuestionSet(memories=memories, questions=questions)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip())
