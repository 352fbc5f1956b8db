"""Ranking token by token: what counts as near, and what becomes of passages without tokens."""

import numpy as np
import pytest

from bot.conversation.lexical import Bm25
from bot.knowledge.library import Library
from bot.knowledge.passage import Passage
from bot.knowledge.ports import QuestionTokens
from bot.knowledge.ranking import Candidates, closeness, fused

X, Y, Z = (127 * np.eye(3, dtype=np.int8)[[axis]] for axis in range(3))


def question(*axes: int, weights: list[float] | None = None) -> QuestionTokens:
    return QuestionTokens(
        rows=np.eye(3, dtype=np.float32)[list(axes)],
        weights=np.array(weights or [1.0] * len(axes), np.float32),
    )


def near(asked: QuestionTokens, *passages: list[np.ndarray]) -> list[float]:
    matrices = {place: np.concatenate(each) for place, each in enumerate(passages)}
    return closeness(np.arange(len(passages)), asked, matrices).tolist()


def test_each_token_of_the_question_seeks_its_nearest() -> None:
    assert near(question(0, 1), [X, Z], [X, Y, Z], [Z]) == pytest.approx([0.5, 1.0, 0.0])


def test_more_tokens_of_a_passage_do_not_blur_it() -> None:
    assert near(question(0), [X], [X, Z, Z, Z, Z]) == pytest.approx([1.0, 1.0])


def test_tokens_that_say_more_count_more() -> None:
    assert near(question(0, 1, weights=[3.0, 1.0]), [X], [Y]) == pytest.approx([0.75, 0.25])


def test_a_passage_without_tokens_has_no_nearness() -> None:
    close = closeness(np.array([7, 8]), question(0), {8: X})
    assert np.isnan(close[0])
    assert close[1] == pytest.approx(1.0)
    assert np.isnan(closeness(np.array([7]), question(), {7: X})).all()


def library(count: int) -> Library:
    texts = [f"第{place}段" for place in range(count)]
    return Library(
        passages=tuple(
            Passage(id=place, document="d", heading="", text=text) for place, text in enumerate(texts)
        ),
        tokens=(frozenset(),) * count,
        bm25=Bm25(texts),
        index=None,
        matrix=np.zeros((count, 1), np.float32),
        places=np.arange(count),
        rows=np.arange(count),
    )


def order(dense: list[float], close: list[float] | None) -> list[int]:
    count = len(dense)
    found = Candidates(
        places=np.arange(count),
        dense=np.array(dense, np.float32),
        lexical=np.zeros(count, np.float32),
    )
    nearness = np.array(close, np.float32) if close is not None else None
    return [each.place for each in fused(library(count), "问", found, nearness, count)]


def test_tokens_outweigh_the_vector_of_the_whole() -> None:
    assert order([0.9, 0.8, 0.7], None) == [0, 1, 2]
    assert order([0.9, 0.8, 0.7], [0.1, 0.2, 0.9]) == [2, 0, 1]


def test_the_vector_decides_where_tokens_say_the_same() -> None:
    assert order([0.7, 0.9, 0.8], [0.5, 0.5, 0.5]) == [1, 2, 0]


def test_a_passage_without_tokens_keeps_its_standing() -> None:
    nan = float("nan")
    assert order([0.9, 0.5, 0.4], [nan, 0.8, 0.2])[0] == 0
    assert order([0.9, 0.8, 0.7], [nan, nan, nan]) == [0, 1, 2]
