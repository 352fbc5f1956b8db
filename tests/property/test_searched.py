"""Texts read one by one and joined are found as those read together."""

import re
from functools import reduce
from operator import add

from hypothesis import given
from hypothesis import strategies as st

from bot.conversation.lexical import bigram_terms
from bot.memory.normalise import searchable
from bot.memory.normalised_texts import FEW
from bot.memory.searched import PIECE, Codes, Part, codes_of

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


def test_many_are_read_in_pieces() -> None:
    texts = [f"第 {number} 件，三百块 SF{number}" for number in range(2 * PIECE + FEW)]
    part = Part.of(texts)
    assert part.size == len(part.lengths) == len(texts)
    for row in (0, PIECE - 1, PIECE, 2 * PIECE, len(texts) - 1):
        assert _found(part, codes_of((f"sf{row}",)))[1] == [row]
        assert part.flagged(row, codes_of(()), re.compile(f"第 {row} 件").search).nonzero()[0].tolist() == [
            row
        ]


def test_each_term_is_found() -> None:
    part = Part.of(["三百块 SF1001"])
    terms = codes_of(tuple(bigram_terms(searchable("三百块 SF1001"))))
    assert _found(part, terms)[0] == list(range(len(terms)))


def _found(part: Part, terms: Codes) -> tuple[list[int], list[int], list[int]]:
    hits = part.hits(terms)
    return hits.terms.tolist(), hits.rows.tolist(), hits.counts.tolist()
