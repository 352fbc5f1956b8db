"""What a person's memories have grown to is searched as if it had been read at once."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.memory.fact import Fact, FactKind
from bot.memory.fact_rows import FactRows
from bot.memory.lexical import FactIndex
from tests.memory_fakes import NOW, make_fact

TEXTS = (
    "我对花生过敏",
    "订单 SF1234567890123 周五到",
    "我穿四十三码",
    "家在杭州",
    "手机尾号 8832",
    "他叫阿福",
)
QUESTIONS = ("花生能吃吗", "SF1234567890123 到哪了", "我穿多少码", "我是谁")
FACT = st.tuples(
    st.sampled_from(TEXTS),
    st.sampled_from(tuple(FactKind)),
    st.integers(-5, 60),  # Minutes: some are told late, some at once with others.
    st.booleans(),
)
BATCHES = st.lists(st.lists(FACT, max_size=4), min_size=1, max_size=12)


def _facts(batches: list[list[tuple[str, FactKind, int, bool]]]) -> list[list[Fact]]:
    number, grown = 0, list[list[Fact]]()
    for step, batch in enumerate(batches):
        facts = list[Fact]()
        for text, kind, minutes, is_again in batch:
            number += 1
            at = NOW + timedelta(minutes=minutes + 10 * step)
            again = at + timedelta(days=1) if is_again else None
            fact = make_fact(number, f"{text}{number % 7}")
            facts.append(replace(fact, kind=kind, said_at=at, said_again_at=again, importance=number / 99))
        grown.append(facts)
    return grown


@settings(max_examples=200, deadline=None)
@given(BATCHES, st.integers(0, 11))
def test_grown_by_little_is_as_read_at_once(
    batches: list[list[tuple[str, FactKind, int, bool]]], forked: int
) -> None:
    told = _facts(batches)
    index = FactIndex(FactRows.of(told[0]).by_time())
    held = [(index, told[0])]
    for facts in told[1:]:
        index = FactIndex(index.with_added(facts), index)
        held.append((index, [*held[-1][1], *facts]))
    # Somebody who still holds an earlier state adds to it too.
    before, known = held[forked % len(held)]
    late = replace(make_fact(1_000, "我改吃素了"), said_at=NOW + timedelta(minutes=30))
    held.append((FactIndex(before.with_added([late]), before), [*known, late]))
    for grown, facts in held:
        fresh = FactIndex(FactRows.of(facts).by_time())
        assert grown.facts == fresh.facts
        ids = np.array([*(fact.id for fact in facts), 77_777], np.int64)
        assert grown.rows_of(ids).tolist() == fresh.rows_of(ids).tolist()
        for name in ("importance", "is_lasting", "said_at", "last_said_at"):
            assert getattr(grown, name).tolist() == getattr(fresh, name).tolist()
        for question in QUESTIONS:
            for sign in ("scores", "covered", "exact_matches", "shared_topics", "forms"):
                told_by = getattr(grown, sign)(question), getattr(fresh, sign)(question)
                assert np.array_equal(*told_by), (sign, question)
