"""The plain formula, term by term."""

import math

import numpy as np
import pytest

from bot.memory.fusion import Signs
from bot.memory.literal import literal
from bot.memory.recall import Recall
from tests.memory_fakes import SCOPE, FactsInMemory, FixedClock, NearnessByHand, make_fact

QUERY = np.array([1, 0], np.float32)


def signs(size: int, **given: list[float]) -> Signs:
    zeros = [0.0] * size
    names = ("lexical", "covered", "exact", "form", "topic", "importance", "age_days", "oneself")
    values = {name: np.array(given.get(name, zeros), np.float32) for name in names}
    return Signs(dense=np.array(given["dense"], np.float32) if "dense" in given else None, **values)


def test_each_term_as_the_formula_writes_it() -> None:
    scores = literal(signs(3, dense=[0.9, 0.5, 0.0], age_days=[0, 10, 100], lexical=[0, 2, 4]))
    expected = [
        0.6 * 0.9 + 0.3,
        0.6 * 0.5 + 0.3 * math.exp(-0.24) + 0.1 * 0.5,
        0.3 * math.exp(-2.4) + 0.1,
    ]
    assert scores.tolist() == pytest.approx(expected, abs=1e-6)


def test_no_other_sign_counts() -> None:
    bare = literal(signs(2, dense=[0.8, 0.7]))
    dressed = literal(
        signs(2, dense=[0.8, 0.7], exact=[0, 3], topic=[0, 1], importance=[0, 1], oneself=[0, 1])
    )
    assert bare.tolist() == dressed.tolist()


def test_what_has_no_vector_has_no_similarity_and_a_clock_set_back_no_bonus() -> None:
    scores = literal(signs(2, dense=[float("nan"), 0.5], age_days=[0, -9]))
    assert scores.tolist() == pytest.approx([0.3, 0.6])
    assert literal(signs(1, lexical=[3])).tolist() == pytest.approx([0.4])
    assert literal(signs(0)).shape == (0,)


async def test_it_ranks_what_is_recalled() -> None:
    """Age decides between cosines as near as those of the built-in model, which is why it isn't the default."""
    facts = FactsInMemory()
    facts.hold(SCOPE, make_fact(1, "我的猫叫豆包", days_ago=90), make_fact(2, "我今天没带伞", days_ago=1))
    index = NearnessByHand({1: 0.92, 2: 0.83})
    best = []
    for ranker in (None, literal):
        recall = Recall(facts=facts, index=index, clock=FixedClock(), ranker=ranker)
        best.append((await recall.recall(SCOPE, "宠物叫什么", 1, QUERY)).facts[0].fact.id)
    assert best == [1, 2]
