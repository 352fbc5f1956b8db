"""Keyword search without a dictionary: character bigrams, exact words, and BM25 over them.

Invariant: pure; the same texts in the same order always give the same scores, and a score of 0 means
that not one term is shared. Memory and knowledge both rank by it, so it knows neither.
"""

import re
import unicodedata
from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
WORD_RUNS = re.compile(rf"[^\W_{_CJK}]+")
"""Runs of letters and digits, in folded text."""
_RUNS = re.compile(rf"([{_CJK}]+)|({WORD_RUNS.pattern})")
JOINED_RUNS = re.compile(f"[{_CJK}]+")

K1 = 1.2
"""Saturation of repeated terms: the usual value (Robertson and Zaragoza, 2009)."""
B = 0.75
"""Length normalisation: the usual value, same source."""


def fold(text: str) -> str:
    """One form for what people see as equal: full-width, ligatures and case are folded (NFKC)."""
    return unicodedata.normalize("NFKC", text).casefold()


def is_joined(character: str) -> bool:
    """Whether it stands in pairs with its neighbours."""
    return JOINED_RUNS.match(character) is not None


def bigram_terms(text: str) -> list[str]:
    """The terms of a text, repeats kept, in order.

    Runs of Chinese, Japanese and Korean characters give overlapping pairs (a lone character gives
    itself); every other run of letters and digits is one term. Punctuation separates.
    """
    terms: list[str] = []
    for run, word in _RUNS.findall(fold(text)):
        if word:
            terms.append(word)
        elif len(run) == 1:
            terms.append(run)
        else:
            terms.extend(map("".join, pairwise(run)))
    return terms


def exact_tokens(text: str) -> frozenset[str]:
    """The words of letters and digits (order ids, model numbers, codes) of two characters or more.

    They mean what they spell: vectors blur them, so a ranking adds a bonus for each one found.
    """
    return frozenset(word for _, word in _RUNS.findall(fold(text)) if len(word) > 1)


class Bm25:
    """BM25 over a fixed list of texts, held as inverted lists.

    Building costs about 60 ms for 1,000 texts of 100 characters: do it in a thread. Scoring touches
    only the lists of the question's terms.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._vocabulary: dict[str, int] = {}
        terms, lengths = self._read(texts)
        self._size = len(lengths)
        self._starts, self._texts, self._weights = self._invert(terms, lengths)
        self._rarities = _rarity(np.diff(self._starts), self._size)

    def __len__(self) -> int:
        return self._size

    def scores(self, question: str) -> NDArray[np.float32]:
        """`(n,)` float32 ≥ 0, by the order the texts came in. Unbounded: compare within one question."""
        scores = np.zeros(self._size, np.float32)
        for term in sorted(set(bigram_terms(question))):
            number = self._vocabulary.get(term)
            if number is not None:
                found = slice(self._starts[number], self._starts[number + 1])
                scores[self._texts[found]] += self._weights[found]
        return scores

    def held(self, weights: Mapping[str, float]) -> NDArray[np.float32]:
        """`(n,)` float32: the summed weights of those terms that each text holds, by the order the texts came in."""
        sums = np.zeros(self._size, np.float32)
        for term, weight in weights.items():
            number = self._vocabulary.get(term)
            if number is not None:
                sums[self._texts[self._starts[number] : self._starts[number + 1]]] += weight
        return sums

    def best(self, question: str, k: int) -> list[tuple[int, float]]:
        """(position, score > 0) of at most `k` texts, best first; equal scores by position."""
        return top(self.scores(question), k)

    def coverage(self, scores: NDArray[np.float32], question: str) -> NDArray[np.float32]:
        """The scores of a question as shares of what a text holding all its terms would get, 0 to 1.

        Unlike the scores, these compare between questions. Terms no text holds weigh most.
        """
        terms = set(bigram_terms(question))
        known = sorted(self._vocabulary[term] for term in terms if term in self._vocabulary)
        never = float(_rarity(np.zeros(1, np.int64), self._size)[0])
        full = float(self._rarities[known].sum()) + (len(terms) - len(known)) * never
        return np.minimum(scores / full, 1.0).astype(np.float32) if full else np.zeros_like(scores)

    def _read(self, texts: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Number the terms: all texts' term numbers in one row, and how many each text has."""
        numbers = array("q")
        lengths = array("q")
        number_of = self._vocabulary.setdefault
        for text in texts:
            terms = bigram_terms(text)
            lengths.append(len(terms))
            numbers.extend([number_of(term, len(self._vocabulary)) for term in terms])
        return np.array(numbers, np.int64), np.array(lengths, np.int64)

    def _invert(
        self, terms: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
        """Inverted lists: where each term's list starts, the texts in the lists, their weights."""
        size = max(len(lengths), 1)
        owners = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
        pairs, counts = np.unique(terms * size + owners, return_counts=True)
        term_of, text_of = pairs // size, pairs % size
        document_frequency = np.bincount(term_of, minlength=len(self._vocabulary))
        starts = np.concatenate(([0], np.cumsum(document_frequency))).astype(np.int64)
        rarity = _rarity(document_frequency, len(lengths))
        mean_length = max(float(lengths.mean()), 1.0) if len(lengths) else 1.0
        damping = K1 * (1 - B + B * lengths[text_of] / mean_length)
        weights = rarity[term_of] * counts * (K1 + 1) / (counts + damping)
        return starts, text_of.astype(np.int32), weights.astype(np.float32)


def _rarity(document_frequency: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    """The weight of terms that so many of `size` texts hold, always positive (Lucene's form)."""
    return np.log1p((size - document_frequency + 0.5) / (document_frequency + 0.5))


def top(scores: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
    """(position, score) of the at most `k` largest positive scores, best first; ties by position."""
    found = np.flatnonzero(scores > 0)
    order = found[largest(scores[found], k)]
    return [(int(position), float(scores[position])) for position in order]


def largest(scores: NDArray[np.float32] | NDArray[np.float64], k: int) -> NDArray[np.intp]:
    """The positions of the at most `k` largest scores (none NaN), best first; ties by position."""
    k = max(k, 0)
    if not k or 2 * k >= len(scores):
        return np.argsort(-scores, kind="stable")[:k]
    first = len(scores) - k
    chosen = np.flatnonzero(scores >= np.partition(scores, first)[first])
    return chosen[np.argsort(-scores[chosen], kind="stable")[:k]]


def normalised(scores: Sequence[float] | NDArray[np.float32]) -> NDArray[np.float32]:
    """Spread one question's scores over 0 to 1 (min-max). All equal gives zeros; empty stays empty.

    Raw cosines of small embedding models sit in a narrow band, so only differences within one
    question carry meaning.
    """
    values = np.asarray(scores, np.float32)
    if not len(values):
        return values
    low, high = float(values.min()), float(values.max())
    return (values - low) / (high - low) if high > low else np.zeros_like(values)
