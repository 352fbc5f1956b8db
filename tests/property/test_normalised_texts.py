"""Many texts at once are normalised as each by itself."""

import re

from hypothesis import given
from hypothesis import strategies as st

from bot.memory.normalise import normalise_all
from bot.memory.normalised_texts import FEW, NormalisedTexts

ODD = "\\u4f60 \u3000\t\n。，“”—·ＡａＺﬁßİςΣ㎏①…½ｶﾞﾊﾟ가각각\u0301\u0327é\u0e33\u0fb2\u0f71\U0001f600\U0001d11e\U00020000\ufe0f三块"
TEXTS = st.lists(
    st.text(st.one_of(st.sampled_from(ODD), st.characters(exclude_characters="\0")), max_size=12),
    min_size=FEW + 1,
    max_size=FEW + 12,
)


@given(TEXTS)
def test_as_each_by_itself(texts: list[str]) -> None:
    each = ["".join(normalise_all([text])) for text in texts]
    assert NormalisedTexts.of(texts).joined.split("\0") == each


@given(TEXTS)
def test_what_is_found_stands_in_the_text(texts: list[str]) -> None:
    pattern = re.compile("[a三]|块")
    held = NormalisedTexts.of(texts).holding(pattern.search).tolist()
    assert held == [pattern.search(text) is not None for text in NormalisedTexts.of(texts).joined.split("\0")]
