"""What every search of memory for one message weighed, and what of it came into the answer.

Invariant: pure; what counts as recalled is what the question was put with, whatever a single search would have given.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bot.answering.question import Question
from bot.memory.trace import Exclusion, Trace, Traced
from bot.noting import Looked

MOST_LEFT_OUT = 40
"""Of those left out, for each reason of each search: the next ones explain, the thousandth doesn't."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One memory that was weighed."""

    traced: Traced
    """`excluded` says what became of it in the end."""
    place: str
    """`Conversation.place` of where it is kept; "" is private."""
    is_group: bool
    """Of 群公共记忆."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """All searches of one message together."""

    candidates: tuple[Candidate, ...] = ()
    """Those that were recalled first, then by reason; in each search's own order."""
    left_off: int = 0
    """Candidates that were weighed and aren't listed."""
    is_degraded: bool = False
    """Words alone decided."""


_ORDER = (None, Exclusion.BEYOND_K, Exclusion.OVER_BUDGET, Exclusion.OUTSIDE_WINDOW, Exclusion.CLOSED)


def weighed(traces: Iterable[tuple[Looked, Trace]], question: Question, k: int) -> Weighed:
    """`k`: how many of the person's own the question deserved, over all their searches."""
    traces = tuple(traces)
    own = {each.fact.id for each in question.facts}
    group = {each.fact.id for each in question.group_facts}
    best = _best_of([trace for looked, trace in traces if not looked.is_group], k)
    by_reason: dict[Exclusion | None, list[Candidate]] = {reason: [] for reason in _ORDER}
    left_off = 0
    for looked, trace in traces:
        taken = group if looked.is_group else own
        counts = dict.fromkeys(_ORDER, 0)
        for traced in trace.candidates:
            reason = _reason(traced, taken, None if looked.is_group else best)
            counts[reason] += 1
            if reason is not None and counts[reason] > MOST_LEFT_OUT:
                left_off += 1
                continue
            by_reason[reason].append(
                Candidate(
                    traced=replace(traced, excluded=reason),
                    place=looked.scope.place,
                    is_group=looked.is_group,
                )
            )
    return Weighed(
        candidates=tuple(each for reason in _ORDER for each in by_reason[reason]),
        left_off=left_off,
        is_degraded=any(trace.degraded for _, trace in traces),
    )


def _best_of(traces: Sequence[Trace], k: int) -> set[int]:
    """The ids of the `k` best of several searches of one person's memory."""
    competing = [
        (-each.score, each.fact.id)
        for trace in traces
        for each in trace.candidates
        if each.rank is not None and each.score is not None
    ]
    return {fact for _, fact in sorted(competing)[:k]}


def _reason(traced: Traced, taken: set[int], best: set[int] | None) -> Exclusion | None:
    """`best`: of all searches of the same memory; None where there is but one."""
    if traced.excluded in (Exclusion.CLOSED, Exclusion.OUTSIDE_WINDOW):
        return traced.excluded
    if traced.fact.id in taken:
        return None
    if traced.excluded is not None:
        return traced.excluded
    # Its own search would have recalled it: another one had better memories, or the prompt no room.
    is_best = best is None or traced.fact.id in best
    return Exclusion.OVER_BUDGET if is_best else Exclusion.BEYOND_K
