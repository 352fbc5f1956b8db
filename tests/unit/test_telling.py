"""What tells of a time, though it was said at another, and what was said again in it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.memory.fact import Fact
from bot.memory.lexical import FactIndex
from bot.memory.recall import Recall
from bot.memory.telling import MOST_READ, rows_about, rows_telling_of
from bot.memory.time_zh import Window
from tests.memory_fakes import NOW, SCOPE, FactsInMemory, FixedClock, NearnessByHand, make_fact


def day(days_ago: float) -> Window:
    """The whole day, China, so many days before."""
    start = (NOW - timedelta(days=days_ago)).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(
        hours=8
    )
    return Window(start=start, end=start + timedelta(days=1))


def told(number: int, text: str, days_ago: float) -> Fact:
    return make_fact(number, text, days_ago=days_ago)


@pytest.mark.parametrize(
    ("text", "days_ago", "tells"),
    [
        ("昨天去了三亚", 2, True),
        ("前天去了三亚", 1, True),
        ("明天要去三亚", 4, True),
        ("昨天去了三亚", 1, False),
        ("去了三亚", 2, False),
        ("上个月去了三亚", 2, False),
    ],
)
def test_a_time_it_names_lies_in_the_window(text: str, days_ago: float, tells: bool) -> None:
    index = FactIndex([told(1, text, days_ago)])
    assert (rows_telling_of(index, rows_about(index, day(3)), day(3)).tolist() == [0]) is tells


def recall(facts: FactsInMemory) -> Recall:
    return Recall(facts=facts, index=NearnessByHand({}), clock=FixedClock())


async def test_what_was_told_later_competes_where_deeds_are_asked_for() -> None:
    facts = FactsInMemory()
    facts.hold(SCOPE, told(1, "昨天去了三亚", 2), told(2, "昨天去了天津", 1))
    asked = recall(facts)
    found = await asked.recall(SCOPE, "我去哪了", 5, None, day(3), also_told=True)
    assert [each.fact.id for each in found.facts] == [1]
    assert (await asked.recall(SCOPE, "我说去哪了", 5, None, day(3))).facts == ()


async def test_the_trace_says_the_same() -> None:
    facts = FactsInMemory()
    facts.hold(SCOPE, told(1, "昨天去了三亚", 2), told(2, "昨天去了天津", 1))
    trace = await recall(facts).trace(SCOPE, "我去哪了", 5, None, day(3), also_told=True, budget_tokens=999)
    assert [each.fact.id for each in trace.recalled] == [1]


async def test_what_was_said_again_in_the_window_competes() -> None:
    facts = FactsInMemory()
    again = NOW - timedelta(days=3)
    facts.hold(SCOPE, replace(told(1, "地址是桂花巷", 90), said_again_at=again), told(2, "地址是柳叶巷", 60))
    found = await recall(facts).recall(SCOPE, "地址是哪", 5, None, day(3))
    assert [each.fact.id for each in found.facts] == [1]


def test_only_what_was_said_near_the_time_is_read() -> None:
    near = [told(number, "昨天去了三亚", 2) for number in range(1, MOST_READ + 50)]
    index = FactIndex([told(999, "三月一号去了三亚", 70), *near])
    assert len(rows_telling_of(index, rows_about(index, day(3)), day(3))) == MOST_READ
