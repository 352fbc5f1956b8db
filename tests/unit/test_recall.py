"""Recall: the fusion, the cache that is checked at each use, and what happens without vectors."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from bot.conversation.scope import PersonId, Scope
from bot.memory import recall as recall_module
from bot.memory.fact import FactKind
from bot.memory.fusion import Signs, Weights, fuse
from bot.memory.ports import FactSheet
from bot.memory.recall import MAX_INDEX_AGE, Recall
from bot.memory.time_zh import Window
from tests.memory_fakes import NOW, SCOPE, FactsInMemory, FixedClock, NearnessByHand, make_fact

QUERY = np.array([1, 0], np.float32)
MANY = "我想知道这些事情里面和出差有关系的都有哪些"
"""Long enough to be no simple question."""


def make(facts: FactsInMemory, nearness: dict[int, float] | None = None) -> Recall:
    return Recall(facts=facts, index=NearnessByHand(nearness or {}), clock=FixedClock())


def signs(size: int, **given: list[float] | None) -> Signs:
    zeros = np.zeros(size, np.float32)
    names = ("lexical", "covered", "exact", "form", "topic", "importance", "age_days", "oneself")
    values = {name: np.array(given.get(name) or zeros, np.float32) for name in names}
    dense = given.get("dense")
    return Signs(dense=None if dense is None else np.array(dense, np.float32), **values)


async def test_best_first_with_the_signs_beside() -> None:
    facts = FactsInMemory("我对花生过敏", "我下周三要去北京出差", "我穿 M 码")
    recalled = await make(facts, {1: 0.82, 2: 0.9, 3: 0.81}).recall(SCOPE, MANY, 5, QUERY)
    assert recalled.facts[0].fact.id == 2
    assert recalled.facts[0].dense == pytest.approx(0.9)
    assert recalled.facts[0].lexical > 0
    scores = [found.score for found in recalled.facts]
    assert scores == sorted(scores, reverse=True)
    assert not recalled.degraded


async def test_without_a_vector_words_decide_and_it_says_so() -> None:
    facts = FactsInMemory("我穿 M 码", "我对花生过敏")
    recalled = await make(facts, {1: 0.99}).recall(SCOPE, "花生能吃吗", 5)
    assert recalled.degraded
    assert recalled.facts[0].fact.text == "我对花生过敏"
    assert recalled.facts[0].dense is None


async def test_nobody_known_is_nothing_recalled() -> None:
    assert (await make(FactsInMemory()).recall(SCOPE, "花生", 5, QUERY)).facts == ()


async def test_as_many_as_asked_for() -> None:
    facts = FactsInMemory(*(f"我喜欢第{number}号" for number in range(9)))
    recall = make(facts)
    for k in (5, 2, 0):
        assert len((await recall.recall(SCOPE, "我喜欢什么", k, QUERY)).facts) == k


async def test_oneself_brings_who_the_person_is() -> None:
    """「我能吃什么零食？还记得我吗」 needs name and allergy, whatever else is nearer."""
    others = [f"我昨天买了第{number}件零食" for number in range(20)]
    facts = FactsInMemory("我叫八六", "我对花生过敏", *others)
    nearness = dict.fromkeys(range(3, 23), 0.9) | {1: 0.8, 2: 0.8}
    recalled = await make(facts, nearness).recall(SCOPE, "我能吃什么零食？还记得我吗", 5, QUERY)
    assert {"我叫八六", "我对花生过敏"} <= {found.fact.text for found in recalled.facts}


async def test_an_id_outranks_a_nearer_vector() -> None:
    facts = FactsInMemory("我的订单号是 SF123456789", "我的订单号是 SF123456788", "我的订单号是 SF123456787")
    recalled = await make(facts, {1: 0.93, 2: 0.935, 3: 0.92}).recall(SCOPE, "SF123456789 到哪了", 5, QUERY)
    assert recalled.facts[0].fact.id == 1


async def test_the_topic_and_the_form_of_the_answer_outrank_what_only_a_vector_brings() -> None:
    facts = FactsInMemory("我穿M码", "我对花生过敏", "地址改成海淀区中关村大街1号")
    recalled = await make(facts, {1: 0.88, 2: 0.86, 3: 0.84}).recall(SCOPE, "我住哪里", 3, QUERY)
    assert [found.fact.id for found in recalled.facts] == [3, 1, 2]


def test_who_has_words_of_the_question_gives_way_to_no_form() -> None:
    given = signs(3, dense=[0.9, 0.85, 0.8], form=[0, 0, 1], topic=[0, 0, 1], covered=[0.5, 0, 0])
    scores = fuse(given, Weights())
    assert list(np.argsort(-scores)) == [0, 2, 1]


async def test_the_version_is_read_once_and_the_index_kept_while_it_holds() -> None:
    facts = FactsInMemory("我对花生过敏")
    recall = make(facts)
    for _ in range(3):
        await recall.recall(SCOPE, "花生", 5)
    # The sheet brings the first version.
    assert (facts.sheets, facts.versions_read) == (1, 2)


async def test_a_change_by_anyone_is_seen_at_the_next_use() -> None:
    facts = FactsInMemory("我对花生过敏")
    recall = make(facts)
    await recall.recall(SCOPE, "花生", 5)
    await facts.forget_facts(SCOPE, [1])
    facts.touch(SCOPE)
    assert (await recall.recall(SCOPE, "花生", 5)).facts == ()
    facts.hold(SCOPE, make_fact(7, "我爱吃花生"))
    assert [found.fact.id for found in (await recall.recall(SCOPE, "花生", 5)).facts] == [7]


async def test_a_vector_of_an_unknown_fact_is_nobodys() -> None:
    recalled = await make(FactsInMemory("我对花生过敏"), {1: 0.8, 99: 0.99}).recall(SCOPE, MANY, 5, QUERY)
    assert [found.fact.id for found in recalled.facts] == [1]


async def test_an_old_index_is_read_anew_since_facts_expire() -> None:
    facts, clock = FactsInMemory("我对花生过敏"), FixedClock()
    recall = Recall(facts=facts, index=NearnessByHand({}), clock=clock)
    await recall.recall(SCOPE, "花生", 5)
    clock.time = NOW + MAX_INDEX_AGE + timedelta(seconds=1)
    await recall.recall(SCOPE, "花生", 5)
    assert facts.sheets == 2


class SlowFacts(FactsInMemory):
    """Whose sheet takes a turn of the loop."""

    async def fact_sheet(self, scope: Scope) -> FactSheet:
        sheet = await super().fact_sheet(scope)
        await asyncio.sleep(0)
        return sheet


async def test_people_and_places_never_share_an_index() -> None:
    facts = FactsInMemory()
    other, group = replace(SCOPE, person=PersonId(2)), replace(SCOPE, place="onebot:1:g")
    facts.hold(SCOPE, "我对花生过敏")
    facts.hold(other, "我爱吃花生")
    facts.hold(group, "我的花生呢")
    recall = make(facts)
    for scope, text in ((SCOPE, "我对花生过敏"), (other, "我爱吃花生"), (group, "我的花生呢")):
        assert [found.fact.text for found in (await recall.recall(scope, "花生", 5)).facts] == [text]


async def test_what_two_messages_ask_at_once_is_read_once() -> None:
    facts = SlowFacts("我对花生过敏")
    recall = make(facts)
    async with asyncio.TaskGroup() as messages:
        asked = [messages.create_task(recall.recall(SCOPE, "花生", 5)) for _ in range(3)]
    assert [len(each.result().facts) for each in asked] == [1, 1, 1]
    assert facts.sheets == 1


async def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall_module, "CACHED_BYTES", 10_000)
    facts = FactsInMemory()
    scopes = [replace(SCOPE, person=PersonId(number)) for number in range(3)]
    recall = make(facts)
    for scope in scopes:
        facts.hold(scope, "我对花生过敏", "我穿 M 码")
        await recall.recall(scope, "花生", 5)
    facts.sheets = 0
    await recall.recall(scopes[2], "花生", 5)
    assert facts.sheets == 0
    await recall.recall(scopes[0], "花生", 5)
    assert facts.sheets == 1


async def test_many_facts_are_indexed_too() -> None:
    facts = FactsInMemory(*(f"我喜欢第{number}号" for number in range(60)), "我对花生过敏")
    assert (await make(facts).recall(SCOPE, "花生", 5)).facts[0].fact.text == "我对花生过敏"


def test_raw_cosines_are_spread_within_the_question() -> None:
    """.02 between cosines of .9 counts as much as between cosines of .3: raw, importance would win."""
    spread = fuse(signs(3, dense=[0.90, 0.89, 0.88], importance=[0, 1, 1]), Weights())
    assert spread.argmax() == 0


def test_importance_and_recency_order_what_is_equal() -> None:
    assert fuse(signs(2, importance=[0.2, 0.9]), Weights()).argmax() == 1
    assert fuse(signs(2, age_days=[300, 1]), Weights()).argmax() == 1
    assert fuse(signs(2, age_days=[-5, 0]), Weights())[0] == pytest.approx(fuse(signs(2), Weights())[0])


def test_a_memory_without_a_vector_keeps_its_words() -> None:
    scores = fuse(signs(3, dense=[0.9, np.nan, 0.8], covered=[0, 4, 0]), Weights())
    assert not np.isnan(scores).any()
    assert scores[1] > scores[2]


async def test_kinds_that_pass_are_not_who_somebody_is() -> None:
    facts = FactsInMemory()
    facts.hold(
        SCOPE,
        make_fact(1, "我昨天退款了", kind=FactKind.TRANSACTION, importance=1),
        make_fact(2, "我是老师", kind=FactKind.IDENTITY, importance=0.1),
    )
    recalled = await make(facts, {1: 0.9, 2: 0.8}).recall(SCOPE, "我是谁", 1, QUERY)
    assert recalled.facts[0].fact.id == 2


def days(first: float, last: float) -> Window:
    """From so many days ago up to so many."""
    return Window(start=NOW - timedelta(days=first), end=NOW - timedelta(days=last))


async def test_in_a_window_only_what_was_said_in_it_competes() -> None:
    facts = FactsInMemory()
    facts.hold(SCOPE, *(make_fact(day, f"地址是第{day}号院", days_ago=day) for day in range(6, 0, -1)))
    recall = make(facts, {day: 0.8 + day / 100 for day in range(1, 7)})
    for question, query in (("地址是哪", QUERY), ("地址是哪", None)):
        found = await recall.recall(SCOPE, question, 9, query, days(4, 2))
        assert {each.fact.id for each in found.facts} == {4, 3}
    assert (await recall.recall(SCOPE, "地址是哪", 1, QUERY, days(4, 2))).facts[0].fact.id == 4
    assert len((await recall.recall(SCOPE, "地址是哪", 9, QUERY)).facts) == 6


async def test_a_window_is_half_open() -> None:
    facts = FactsInMemory()
    facts.hold(SCOPE, make_fact(1, "我穿 M 码", days_ago=2), make_fact(2, "我穿 L 码", days_ago=1))
    found = await make(facts, {1: 0.9, 2: 0.9}).recall(SCOPE, "我穿什么码", 9, QUERY, days(2, 1))
    assert [each.fact.id for each in found.facts] == [1]


async def test_nothing_takes_the_place_of_what_an_empty_window_lacks() -> None:
    facts = FactsInMemory("地址是桂花巷")
    found = await make(facts, {1: 0.99}).recall(SCOPE, "地址是哪", 9, QUERY, days(9, 8))
    assert found.facts == ()


async def test_what_was_said_then_has_its_vector_however_many_are_nearer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recall_module, "DENSE_DEPTH", 3)
    facts = FactsInMemory()
    facts.hold(SCOPE, *(make_fact(day, f"第{day}天的事", days_ago=day) for day in range(8, 0, -1)))
    recall = make(facts, {day: 1 - day / 100 for day in range(1, 9)})
    found = await recall.recall(SCOPE, "那件事", 1, QUERY, days(8, 6))
    assert [each.fact.id for each in found.facts] == [7]
    assert found.facts[0].dense == pytest.approx(0.93)
