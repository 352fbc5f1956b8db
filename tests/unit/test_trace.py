"""The trace tells of every candidate, and tells the truth: what it says is recalled is what is recalled."""

from datetime import timedelta

import numpy as np
import pytest

from bot.memory.budget import LINE_TOKENS, room, tokens_of
from bot.memory.recall import Recall
from bot.memory.time_zh import Window
from bot.memory.trace import Exclusion, Trace
from tests.memory_fakes import NOW, SCOPE, FactsInMemory, FixedClock, NearnessByHand, make_fact

QUERY = np.array([1, 0], np.float32)
PLENTY = 10_000


def make(facts: FactsInMemory, nearness: dict[int, float]) -> Recall:
    return Recall(facts=facts, index=NearnessByHand(nearness), clock=FixedClock())


def reasons(trace: Trace) -> dict[int, Exclusion | None]:
    return {each.fact.id: each.excluded for each in trace.candidates}


async def test_it_agrees_with_what_is_recalled() -> None:
    facts = FactsInMemory(*(f"我喜欢第{number}号房" for number in range(1, 9)))
    recall = make(facts, {number: 0.8 + number / 100 for number in range(1, 8)})
    recalled = await recall.recall(SCOPE, "第3号房", 3, QUERY)
    trace = await recall.trace(SCOPE, "第3号房", 3, QUERY, budget_tokens=PLENTY)
    assert [each.fact.id for each in trace.recalled] == [each.fact.id for each in recalled.facts]
    assert [each.score for each in trace.recalled] == [each.score for each in recalled.facts]
    assert [each.rank for each in trace.candidates] == list(range(1, 9))
    assert {each.excluded for each in trace.candidates[3:]} == {Exclusion.BEYOND_K}
    assert not trace.degraded


async def test_each_sign_is_told() -> None:
    facts = FactsInMemory()
    facts.hold(SCOPE, make_fact(1, "我的订单号是 SF123456789", days_ago=2), make_fact(2, "我对花生过敏"))
    trace = await make(facts, {1: 0.9}).trace(SCOPE, "SF123456789 到哪了", 1, QUERY, budget_tokens=PLENTY)
    first, second = trace.candidates
    assert (first.fact.id, first.dense, first.exact) == (1, pytest.approx(0.9), 1)
    assert first.lexical > 0 and first.age_days == pytest.approx(2)
    assert (second.dense, second.lexical, second.exact) == (None, 0, 0)


async def test_without_a_vector_it_says_so() -> None:
    trace = await make(FactsInMemory("我对花生过敏"), {1: 0.9}).trace(SCOPE, "花生", 1, budget_tokens=PLENTY)
    assert trace.degraded and trace.candidates[0].dense is None


async def test_outside_the_window_nothing_has_a_rank() -> None:
    facts = FactsInMemory()
    facts.hold(SCOPE, *(make_fact(day, f"地址是第{day}号院", days_ago=day) for day in range(4, 0, -1)))
    window = Window(start=NOW - timedelta(days=2), end=NOW)
    trace = await make(facts, {4: 0.99, 3: 0.8}).trace(
        SCOPE, "地址是哪", 1, QUERY, window, budget_tokens=PLENTY
    )
    assert {id_ for id_, reason in reasons(trace).items() if reason is Exclusion.OUTSIDE_WINDOW} == {3, 4}
    assert [each.rank for each in trace.candidates] == [1, 2, None, None]
    assert trace.candidates[2].fact.id == 4, "those outside by score"
    empty = Window(start=NOW - timedelta(days=9), end=NOW - timedelta(days=8))
    trace = await make(facts, {}).trace(SCOPE, "地址是哪", 1, QUERY, empty, budget_tokens=PLENTY)
    assert set(reasons(trace).values()) == {Exclusion.OUTSIDE_WINDOW}


async def test_closed_facts_come_last_without_a_score() -> None:
    closed = make_fact(9, "我喝咖啡")
    trace = await make(FactsInMemory("我不喝咖啡了"), {1: 0.9}).trace(
        SCOPE, "我喝咖啡吗", 5, QUERY, budget_tokens=PLENTY, closed=[closed]
    )
    assert reasons(trace) == {1: None, 9: Exclusion.CLOSED}
    assert (trace.candidates[1].rank, trace.candidates[1].score) == (None, None)


async def test_nobody_known_has_no_candidates() -> None:
    trace = await make(FactsInMemory(), {}).trace(SCOPE, "花生", 5, QUERY, budget_tokens=PLENTY)
    assert trace.candidates == ()


async def test_what_is_over_the_budget_is_told_apart_from_what_is_beyond_k() -> None:
    facts = FactsInMemory("我" * 100, "你" * 100, "他" * 100)
    trace = await make(facts, {1: 0.93, 2: 0.92, 3: 0.91}).trace(SCOPE, "谁", 2, QUERY, budget_tokens=150)
    assert reasons(trace) == {1: None, 2: Exclusion.OVER_BUDGET, 3: Exclusion.BEYOND_K}


def test_a_short_memory_has_room_where_a_longer_one_had_none() -> None:
    long, short = make_fact(1, "长" * 100), make_fact(2, "短")
    budget = tokens_of(long) + tokens_of(short)
    assert room([long, long, short, short], budget) == [True, False, True, False]


def test_the_best_always_has_room() -> None:
    assert room([make_fact(1, "长" * 300), make_fact(2, "短")], 100) == [True, False]
    assert room([], 100) == []


def test_a_line_costs_more_than_its_text() -> None:
    assert tokens_of(make_fact(1, "我对花生过敏")) == 6 + LINE_TOKENS
