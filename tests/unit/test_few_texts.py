"""A handful of texts is ranked as many are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation.lexical import Bm25
from bot.memory.few_texts import FewTexts, terms_of
from bot.memory.lexical import FEW_FACTS, FactIndex
from tests.memory_fakes import make_fact

WORDS = st.lists(st.sampled_from(["花生", "过敏", "退货", "sf123", "北京", "我", " ", "，"]), max_size=8).map(
    "".join
)


@given(st.lists(WORDS, max_size=12), WORDS)
def test_the_scores_are_those_of_the_arrays(texts: list[str], question: str) -> None:
    few = FewTexts([terms_of(text) for text in texts]).scores(question)
    assert few.tolist() == pytest.approx(Bm25(texts).scores(question).tolist(), rel=1e-5)


def test_an_index_that_grows_past_a_few_and_shrinks_again_ranks_the_same() -> None:
    facts = [make_fact(number, f"我的第{number}件事是{number * 7}号") for number in range(1, FEW_FACTS + 3)]
    few = FactIndex(facts[:5])
    many = FactIndex(facts, few)
    again = FactIndex(facts[:5], many)
    late = FactIndex(facts[-5:], many)
    assert again.scores("第 3 件事").tolist() == few.scores("第 3 件事").tolist()
    assert late.scores("第 66 件事").tolist() == FactIndex(facts[-5:]).scores("第 66 件事").tolist()
    assert many.scores("第 3 件事").argmax() == 2
