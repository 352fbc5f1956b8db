"""A thousand garbled answers of a model: nothing half remembered, nothing raised, what is whole is read.

A half memory is any fact read that is none of the texts which may be one; texts are compared without white space.
Saved: every fact that had to be, and the verdict where it is known.

Invariant: what may be saved was decided by the kind of mutation, before anything was read.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.report import Figure, at_least
from bot.memory.judgement_format import ReadJudgement, read_judgement

GOAL_SAVED = 0.99


@dataclass(slots=True)
class _Tally:
    halves: int = 0
    raised: int = 0
    saved: int = 0
    salvageable: int = 0
    unread: list[str] = field(default_factory=list)


def figures(path: Path, misses: list[str]) -> list[Figure]:
    """Raises FileNotFoundError."""
    tally = _Tally()
    lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    for line in lines:
        _count(json.loads(line), tally, misses)
    share = tally.saved / tally.salvageable
    goal, holds = at_least(share, GOAL_SAVED)
    of = f"{len(lines)} 份，其中 {tally.salvageable} 份还有可救的"
    return [
        Figure(measure="残缺回答：半条记忆", value=tally.halves, unit="条", goal="0", holds=not tally.halves),
        Figure(measure="残缺回答：异常", value=tally.raised, unit="次", goal="0", holds=not tally.raised),
        Figure(measure="残缺回答：救回", value=round(share, 4), unit="", goal=goal, holds=holds, includes=of),
    ]


def _count(row: dict[str, Any], tally: _Tally, misses: list[str]) -> None:
    expected: dict[str, Any] = row["expected"]
    is_salvageable: bool = row["salvageable"]
    tally.salvageable += is_salvageable
    try:
        read = read_judgement(row["output"])
    except Exception as error:  # noqa: BLE001 - what must not happen is what is counted
        tally.raised += 1
        misses.append(f"残缺 {row['mutation']}: 抛出 {error!r}")
        return
    allowed = set(map(_bare, expected["may_texts"]))
    texts = [] if read is None else [_bare(fact.text) for fact in read.facts]
    halves = [text for text in texts if text not in allowed]
    tally.halves += len(halves)
    is_saved = is_salvageable and _is_saved(read, texts, expected)
    tally.saved += is_saved
    if halves or is_salvageable != is_saved:
        misses.append(f"残缺 {row['mutation']}: 半条 {halves}，读出 {read}，应有 {expected}")


def _is_saved(read: ReadJudgement | None, texts: list[str], expected: dict[str, Any]) -> bool:
    if read is None or (expected["keep"] is not None and read.keep is not expected["keep"]):
        return False
    return set(map(_bare, expected["must_facts"])) <= set(texts)


def _bare(text: str) -> str:
    return "".join(text.split())
