"""Why a memory was recalled or wasn't: every candidate of one question with all that spoke for it.

Invariant: pure; the order and the scores are those by which memories are recalled, nothing is judged a second time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from bot.memory.budget import room
from bot.memory.fact import Fact
from bot.memory.fusion import Signs
from bot.memory.searched import Rows


class Exclusion(StrEnum):
    """Why a candidate wasn't taken."""

    BEYOND_K = "beyond_k"
    OUTSIDE_WINDOW = "outside_window"
    OVER_BUDGET = "over_budget"
    CLOSED = "closed"
    """A later memory contradicts it, or its time is over: it competes in no question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """One candidate."""

    fact: Fact
    rank: int | None
    """From 1 among those that compete; None for those that don't."""
    score: float | None
    """Compares within one question only. None: closed."""
    dense: float | None = None
    """Inner product with the question. None: no vector of it, or not among the nearest."""
    lexical: float = 0.0
    """BM25 of the question's content words, ≥ 0."""
    exact: float = 0.0
    """How many of the question's words of letters and digits it holds."""
    form: float = 0.0
    """The share of the forms of an answer asked for that it has, 0 to 1."""
    topic: float = 0.0
    """The share of the question's topics it is on, 0 to 1."""
    oneself: float = 0.0
    """1 where the question is about the person and the memory says who they are."""
    age_days: float = 0.0
    excluded: Exclusion | None = None
    """None: recalled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """All candidates of one question."""

    candidates: tuple[Traced, ...]
    """By rank; then those outside the window by score; then the closed ones, newest first."""
    degraded: bool
    """There was no vector of the question: words alone decided."""

    @property
    def recalled(self) -> tuple[Traced, ...]:
        return tuple(each for each in self.candidates if each.excluded is None)


def trace_of(
    facts: Sequence[Fact],
    rows: Rows,
    signs: Signs,
    scores: NDArray[np.float32],
    k: int,
    budget_tokens: int,
    closed: Sequence[Fact],
) -> Trace:
    """`rows`: those that compete. `closed`: newest first, with no score."""
    competing: list[int] = rows[np.argsort(-scores[rows], kind="stable")].tolist()
    others = sorted(set(range(len(facts))) - set(competing), key=lambda row: -scores[row])
    fits = room([facts[row] for row in competing[: max(k, 0)]], budget_tokens)
    reasons = [None if each else Exclusion.OVER_BUDGET for each in fits]
    reasons += [Exclusion.BEYOND_K] * (len(competing) - len(fits))
    ranked = [
        _traced(facts[row], row, signs, scores, rank=rank, excluded=reason)
        for rank, (row, reason) in enumerate(zip(competing, reasons, strict=True), start=1)
    ]
    outside = [
        _traced(facts[row], row, signs, scores, rank=None, excluded=Exclusion.OUTSIDE_WINDOW)
        for row in others
    ]
    ended = [Traced(fact=fact, rank=None, score=None, excluded=Exclusion.CLOSED) for fact in closed]
    return Trace(candidates=(*ranked, *outside, *ended), degraded=signs.dense is None)


def _traced(
    fact: Fact,
    row: int,
    signs: Signs,
    scores: NDArray[np.float32],
    *,
    rank: int | None,
    excluded: Exclusion | None,
) -> Traced:
    dense = signs.dense
    return Traced(
        fact=fact,
        rank=rank,
        score=float(scores[row]),
        dense=None if dense is None or np.isnan(dense[row]) else float(dense[row]),
        lexical=float(signs.lexical[row]),
        exact=float(signs.exact[row]),
        form=float(signs.form[row]),
        topic=float(signs.topic[row]),
        oneself=float(signs.oneself[row]),
        age_days=float(signs.age_days[row]),
        excluded=excluded,
    )
