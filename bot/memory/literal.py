"""The plain formula: 0.6 · similarity + 0.3 · e^(−0.001 · hours) + 0.1 · relevance, for who wants it as it is written.

Invariant: pure; the terms are taken as they are, nothing is spread within the question, and no other sign counts.
docs/decisions/0030-recall-fusion.md says why it isn't the default.
"""

import numpy as np
from numpy.typing import NDArray

from bot.memory.fusion import Signs

SIMILARITY, DECAY, RELEVANCE = 0.6, 0.3, 0.1
DECAY_AN_HOUR = 0.001
"""Half is left after 29 days."""
HOURS_A_DAY = 24.0


def literal(signs: Signs) -> NDArray[np.float32]:
    """`(n,)` float32, higher is better.

    Similarity is the cosine: 0 where a memory has no vector, was not among the nearest, or nothing was searched for.
    Relevance is the lexical score as a share of the question's best one, 0 to 1: the formula names no other, and an
    unbounded BM25 would outweigh the rest.
    """
    nothing = np.zeros_like(signs.lexical)
    similarity = nothing if signs.dense is None else np.nan_to_num(signs.dense, nan=0.0)
    decay = np.exp(-DECAY_AN_HOUR * HOURS_A_DAY * np.maximum(signs.age_days, 0))
    best = float(signs.lexical.max(initial=0))
    relevance = signs.lexical / best if best > 0 else nothing
    return (SIMILARITY * similarity + DECAY * decay + RELEVANCE * relevance).astype(np.float32)
