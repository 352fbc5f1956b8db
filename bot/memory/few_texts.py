"""BM25 over a handful of texts, as most people's memories are.

Invariant: the scores are those of `bot.conversation.lexical.Bm25`. Its arrays pay from some dozens of texts on;
making them costs more than all else that is done for a message, and who chats has a new memory each time.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bot.conversation.lexical import K1, B, bigram_terms

Terms = Mapping[str, int]
"""How often each term stands in a text."""


def terms_of(text: str) -> Terms:
    return Counter(bigram_terms(text))


class FewTexts:
    """Counts looked up text by text."""

    def __init__(self, texts: Sequence[Terms]) -> None:
        self._texts = tuple(texts)
        lengths = [sum(terms.values()) for terms in self._texts]
        mean = max(sum(lengths) / max(len(lengths), 1), 1.0)
        self._dampings = [K1 * (1 - B + B * length / mean) for length in lengths]

    def scores(self, question: str) -> NDArray[np.float32]:
        """See `Bm25.scores`."""
        return self.scores_of(set(bigram_terms(question)))

    def scores_of(self, asked: Iterable[str]) -> NDArray[np.float32]:
        """Of a question whose terms, each once, are known already."""
        scores = [0.0] * len(self._texts)
        for term in asked:
            holding = [row for row, terms in enumerate(self._texts) if term in terms]
            if not holding:
                continue
            rarity = math.log1p((len(self._texts) - len(holding) + 0.5) / (len(holding) + 0.5))
            for row in holding:
                count = self._texts[row][term]
                scores[row] += rarity * count * (K1 + 1) / (count + self._dampings[row])
        return np.array(scores, np.float32)

    def held(self, weights: Mapping[str, float]) -> NDArray[np.float32]:
        """See `Bm25.held`."""
        sums = [sum(weights[term] for term in weights.keys() & terms.keys()) for terms in self._texts]
        return np.array(sums, np.float32)
