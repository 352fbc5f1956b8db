"""Texts read one by one and joined are found as those read together."""

from functools import reduce
from operator import add

from hypothesis import given
from hypothesis import strategies as st

from bot.conversation.lexical import bigram_terms
from bot.memory.normalise import searchable
from bot.memory.normalised_texts import FEW
from bot.memory.searched import Codes, Part, codes_of

PIECES = st.sampled_from(
    [
        *"我的了吗三百二十块鞋码ＡaA0９7ß々ー한가İ\u0301\u1161𠮷\\-_ 　\0。，",
        "三百块",
        "四十三 码",
        "SF1001",
        "\\u4f60",
    ]
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)


@given(st.lists(TEXTS, min_size=FEW + 1, max_size=2 * FEW))
def test_one_by_one_as_together(texts: list[str]) -> None:
    together, joined = Part.of(texts), reduce(add, (Part.of([text]) for text in texts))
    terms = codes_of(tuple(sorted({term for text in texts for term in bigram_terms(searchable(text))})))
    assert joined.size == together.size == len(texts)
    assert joined.lengths.tolist() == together.lengths.tolist()
    assert _found(joined, terms) == _found(together, terms)


def test_each_term_is_found() -> None:
    part = Part.of(["三百块 SF1001"])
    terms = codes_of(tuple(bigram_terms(searchable("三百块 SF1001"))))
    assert _found(part, terms)[0] == list(range(len(terms)))


def _found(part: Part, terms: Codes) -> tuple[list[int], list[int], list[int]]:
    hits = part.hits(terms)
    return hits.terms.tolist(), hits.rows.tolist(), hits.counts.tolist()
