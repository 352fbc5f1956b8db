"""Keyword search: terms, BM25, and what makes scores comparable."""

import math

import numpy as np
import pytest

from bot.conversation.lexical import K1, B, Bm25, bigram_terms, exact_tokens, fold, normalised, top


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("，。！ \n", []),
        ("退货政策", ["退货", "货政", "政策"]),
        ("退", ["退"]),
        ("Ｍ码", ["m", "码"]),
        ("订单SF123到哪了", ["订单", "sf123", "到哪", "哪了"]),
        ("c++ v2.1", ["c", "v2", "1"]),
        ("ありがとう", ["あり", "りが", "がと", "とう"]),
        ("好的，好的", ["好的", "好的"]),
        ("下划_线", ["下划", "线"]),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert bigram_terms(text) == terms


def test_fold_makes_width_and_case_equal() -> None:
    assert fold("ＡｂＣ１") == fold("abc1")


def test_exact_tokens_are_whole_words_of_two_characters_or_more() -> None:
    assert exact_tokens("订单ＳＦ123456789，数量3，尺码M") == {"sf123456789"}


def test_scores_follow_the_formula() -> None:
    texts = ["退货 退货", "退货 发票 保修", "发票"]
    lengths, mean = [2, 3, 1], 2.0
    rarity = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    expected = [
        rarity * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / mean))
        for tf, length in zip([2, 1, 0], lengths, strict=True)
    ]
    assert Bm25(texts).scores("退货") == pytest.approx(expected)


def test_no_shared_term_scores_zero_and_is_not_found() -> None:
    bm25 = Bm25(["退货政策", "发票"])
    assert not bm25.scores("天气").any()
    assert bm25.best("天气", 5) == []


def test_a_repeated_word_in_the_question_counts_once() -> None:
    bm25 = Bm25(["退货政策", "发票怎么开"])
    assert bm25.scores("退货退货").tolist()[1] == 0
    assert bm25.scores("发票 发票").tolist() == bm25.scores("发票").tolist()


def test_rare_words_outweigh_common_ones() -> None:
    bm25 = Bm25(["本店 退货", "本店 发票", "本店 保修", "本店 会员"])
    assert [place for place, _ in bm25.best("本店 会员", 2)] == [3, 0]


@pytest.mark.parametrize("texts", [[], [""], ["", "。"]])
def test_nothing_to_search(texts: list[str]) -> None:
    bm25 = Bm25(texts)
    assert len(bm25) == len(texts)
    assert bm25.best("退货", 3) == []
    assert bm25.coverage(bm25.scores("退货"), "退货").tolist() == [0] * len(texts)


def test_coverage_is_the_share_of_the_question_found() -> None:
    bm25 = Bm25(["退货政策说明", "发票", "会员等级"])
    whole, part, none = (
        float(bm25.coverage(bm25.scores(question), question)[0])
        for question in ("退货政策", "退货政策和天气预报", "天气预报")
    )
    assert 1 >= whole > part > none == 0


def test_top_orders_ties_by_position_and_leaves_out_zeros() -> None:
    scores = np.array([1, 0, 3, 1, 3], np.float32)
    assert top(scores, 3) == [(2, 3.0), (4, 3.0), (0, 1.0)]
    assert top(scores, 9) == [(2, 3.0), (4, 3.0), (0, 1.0), (3, 1.0)]
    assert top(scores, 0) == []


def test_normalised_spreads_over_zero_to_one() -> None:
    assert normalised([0.8, 0.9, 0.85]).tolist() == pytest.approx([0, 1, 0.5], abs=1e-6)
    assert normalised([0.8, 0.8]).tolist() == [0, 0]
    assert normalised([]).tolist() == []
