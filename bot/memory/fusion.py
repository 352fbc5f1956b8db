"""How much a memory serves a question: vectors, words and a little of everything else, in one number.

Invariant: pure; scores compare within one question only. docs/decisions/0030-recall-fusion.md has the
measurements behind the weights.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.conversation.lexical import normalised
from bot.conversation.ports import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each sign adds. Dense and lexical are spread over 0 to 1 within the question first."""

    dense: float = 1.0
    lexical: float = 0.5
    """Of a memory that holds all the question's content words."""
    exact: float = 0.3
    """For each word of letters and digits found as it is, up to `MOST_EXACT`: vectors blur ids."""
    form: float = 0.2
    """Of a memory that has the form of answer asked for: a code, a time, a place."""
    topic: float = 0.05
    importance: float = 0.002
    recency: float = 0.002
    """Importance and recency only order what is otherwise equal: more of them costs recall."""
    oneself: float = 2.0
    """For identity and preference facts when the question is about the person: above any match but ids."""


MOST_EXACT = 3
"""A text that repeats a list of codes is no better than one with three of them."""

RECENCY_HALF_LIFE_DAYS = 30.0
"""A month is what people call recent; the term is small, so the exact figure hardly matters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What speaks for each of n memories, `(n,)` float32 each."""

    dense: Vector | None
    """Inner products; NaN where a memory has no vector or was not among the nearest. None: no search."""
    lexical: NDArray[np.float32]
    """BM25 of the question's content words."""
    covered: NDArray[np.float32]
    """The weighted share of the question's content words that each memory holds, 0 to 1: unlike BM25 it doesn't take the
    best of the matches for a good one."""
    exact: NDArray[np.float32]
    form: NDArray[np.float32]
    """The share of the forms of an answer asked for that each memory has, 0 to 1."""
    topic: NDArray[np.float32]
    importance: NDArray[np.float32]
    age_days: NDArray[np.float32]
    oneself: NDArray[np.float32]


def words_alone(dense: Vector | None, lexical: NDArray[np.float32], exact: NDArray[np.float32]) -> Signs:
    """What speaks for a talk by meaning and words: what is lasting, recent or important is said for the message already.
    Of a talk's many words no memory holds a large share: the best match counts whole."""
    none = np.zeros_like(lexical)
    return Signs(
        dense=dense,
        lexical=lexical,
        covered=_share_of_best(lexical),
        exact=exact,
        form=none,
        topic=none,
        importance=none,
        age_days=np.full_like(lexical, np.inf),
        oneself=none,
    )


def fuse(signs: Signs, weights: Weights) -> NDArray[np.float32]:
    """`(n,)` float32, higher is better."""
    score = (weights.lexical * signs.covered).astype(np.float32, copy=False)
    if signs.dense is not None:
        score += weights.dense * _spread(signs.dense)
    score += weights.exact * np.minimum(signs.exact, MOST_EXACT)
    score += weights.form * signs.form
    score += weights.topic * signs.topic
    score += weights.oneself * signs.oneself
    score += weights.importance * signs.importance
    recency = np.maximum(signs.age_days, 0)
    recency *= -1 / RECENCY_HALF_LIFE_DAYS
    score += weights.recency * np.exp2(recency, out=recency)
    return _witness_first(score, signs)


_AHEAD = 0.01
"""More than importance and recency together order."""


def _witness_first(score: NDArray[np.float32], signs: Signs) -> NDArray[np.float32]:
    """The best memory that has the topic and the form of answer asked for stands above all for which only a vector
    speaks; what these are among themselves stays."""
    is_witness = (signs.form >= 1) & (signs.topic >= 1)
    if not is_witness.any():
        return score
    is_bare = (signs.covered <= 0) & (signs.exact <= 0) & (signs.form <= 0) & (signs.topic <= 0)
    is_bare &= signs.oneself <= 0
    if not is_bare.any():
        return score
    excess = float(score[is_bare].max()) - float(score[is_witness].max()) + _AHEAD
    return np.where(is_bare, score - np.float32(max(excess, 0.0)), score)


def _share_of_best(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    best = float(scores.max(initial=0))
    return scores / best if best > 0 else np.zeros_like(scores)


def _spread(dense: NDArray[np.float32]) -> NDArray[np.float32]:
    spread = np.zeros_like(dense)
    found = np.flatnonzero(~np.isnan(dense))
    spread[found] = normalised(dense[found])
    return spread
