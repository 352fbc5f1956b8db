"""A handful of texts is ranked as many are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation.lexical import Bm25
from bot.memory.few_texts import FewTexts, terms_of

WORDS = st.lists(st.sampled_from(["花生", "过敏", "退货", "sf123", "北京", "我", " ", "，"]), max_size=8).map(
    "".join
)


@given(st.lists(WORDS, max_size=12), WORDS)
def test_the_scores_are_those_of_the_arrays(texts: list[str], question: str) -> None:
    few = FewTexts([terms_of(text) for text in texts]).scores(question)
    assert few.tolist() == pytest.approx(Bm25(texts).scores(question).tolist(), rel=1e-5)
