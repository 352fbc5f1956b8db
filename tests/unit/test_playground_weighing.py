"""Several searches of memory as one account of what became of each memory."""

from dataclasses import replace

from bot.answering.question import Question
from bot.memory.query import Query
from bot.memory.recall import RecalledFact
from bot.memory.trace import Exclusion, Trace, Traced
from bot.noting import Looked
from bot.playground.weighing import MOST_LEFT_OUT, weighed
from tests.memory_fakes import NOW, SCOPE, make_fact

LOOKED = Looked(scope=SCOPE, query=Query(text="谁", vector=None, talk=None), k=2, window=None)
GROUP = replace(LOOKED, scope=replace(SCOPE, place="onebot:playground:g"), is_group=True)


def question(own: list[int], group: tuple[int, ...] = ()) -> Question:
    return Question(
        text="谁",
        quoted="",
        persona="",
        short_term=(),
        facts=tuple(map(recalled, own)),
        passages=(),
        at=NOW,
        is_group=False,
        group_facts=tuple(map(recalled, group)),
    )


def recalled(fact: int) -> RecalledFact:
    return RecalledFact(fact=make_fact(fact, f"第{fact}件"), score=0.5, dense=None, lexical=0)


def candidate(fact: int, score: float | None, excluded: Exclusion | None = None) -> Traced:
    rank = None if excluded in (Exclusion.CLOSED, Exclusion.OUTSIDE_WINDOW) else fact
    return Traced(fact=make_fact(fact, f"第{fact}件"), rank=rank, score=score, excluded=excluded)


def trace(*candidates: Traced, degraded: bool = False) -> Trace:
    return Trace(candidates=candidates, degraded=degraded)


def reasons(traces: list[tuple[Looked, Trace]], of: Question, k: int = 2) -> dict[int, Exclusion | None]:
    return {each.traced.fact.id: each.traced.excluded for each in weighed(traces, of, k).candidates}


def test_what_the_question_was_put_with_was_recalled_whatever_a_search_says() -> None:
    told = trace(
        candidate(1, 0.9), candidate(2, 0.8, Exclusion.OVER_BUDGET), candidate(3, 0.1, Exclusion.BEYOND_K)
    )
    assert reasons([(LOOKED, told)], question([1, 2])) == {1: None, 2: None, 3: Exclusion.BEYOND_K}


def test_what_another_search_pushed_out_ranked_too_low() -> None:
    """Of who opened their private memory in groups: the two searches share their places."""
    here, private = trace(candidate(1, 0.9), candidate(2, 0.2)), trace(candidate(3, 0.8), candidate(4, 0.1))
    found = reasons([(LOOKED, here), (LOOKED, private)], question([1, 3]))
    assert found == {1: None, 3: None, 2: Exclusion.BEYOND_K, 4: Exclusion.BEYOND_K}


def test_what_was_good_enough_and_is_missing_had_no_room() -> None:
    here = trace(candidate(1, 0.9), candidate(2, 0.8))
    assert reasons([(LOOKED, here)], question([1])) == {1: None, 2: Exclusion.OVER_BUDGET}


def test_of_a_group_s_own_memory_what_is_missing_had_no_room() -> None:
    own, group = trace(candidate(1, 0.1)), trace(candidate(11, 0.9), candidate(12, 0.8))
    found = reasons([(LOOKED, own), (GROUP, group)], question([1], (11,)))
    assert found == {1: None, 11: None, 12: Exclusion.OVER_BUDGET}


def test_an_equal_id_is_not_taken_for_the_other_memory_s() -> None:
    own, group = trace(candidate(1, 0.9)), trace(candidate(2, 0.9))
    found = weighed([(LOOKED, own), (GROUP, group)], question([1]), 2)
    assert [(each.traced.fact.id, each.is_group, each.traced.excluded) for each in found.candidates] == [
        (1, False, None),
        (2, True, Exclusion.OVER_BUDGET),
    ]
    assert [each.place for each in found.candidates] == ["", "onebot:playground:g"]


def test_comes_by_reason_and_what_is_closed_or_outside_stays_so() -> None:
    told = trace(
        candidate(1, 0.9),
        candidate(2, 0.1, Exclusion.BEYOND_K),
        candidate(3, 0.1, Exclusion.OUTSIDE_WINDOW),
        candidate(4, None, Exclusion.CLOSED),
    )
    found = list(reasons([(LOOKED, told)], question([1, 3, 4])).items())
    assert found == [
        (1, None),
        (2, Exclusion.BEYOND_K),
        (3, Exclusion.OUTSIDE_WINDOW),
        (4, Exclusion.CLOSED),
    ]


def test_a_long_tail_is_counted_and_what_was_recalled_is_all_there() -> None:
    best = [candidate(number, 0.9) for number in range(1, MOST_LEFT_OUT + 11)]
    tail = [candidate(number, 0.1, Exclusion.BEYOND_K) for number in range(1000, 1000 + MOST_LEFT_OUT + 7)]
    found = weighed([(LOOKED, trace(*best, *tail))], question([each.fact.id for each in best]), 99)
    assert len(found.candidates) == len(best) + MOST_LEFT_OUT and found.left_off == 7


def test_words_alone_decided_where_one_search_had_no_vector() -> None:
    assert not weighed([(LOOKED, trace())], question([]), 2).is_degraded
    assert weighed([(LOOKED, trace()), (GROUP, trace(degraded=True))], question([]), 2).is_degraded
