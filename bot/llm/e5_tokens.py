"""Text → the numbers of its tokens, as the model was taught them: unigram pieces, the likeliest way through.

Invariant: pure, and no text fails: what no piece covers is the unknown token.
Why hashes: a dictionary of the 250,000 pieces takes 40 MB, these arrays 5.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bot.llm.e5_file import Vocabulary

_Ending: TypeAlias = tuple[int, int, float]
_SPACE = "\u2581"
"""How the pieces write a space (SentencePiece)."""
_BASE = np.uint64(0x9E3779B97F4A7C15)
"""Odd, so that it has an inverse modulo 2^64."""
_INVERSE = np.uint64(pow(int(_BASE), -1, 1 << 64))
_UNKNOWN_COSTS = 10.0
"""Below the least likely piece (SentencePiece)."""


class Tokenizer:
    """Of one vocabulary. Building it takes 0.1 s."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._begin, self._end, self._unknown = vocabulary.begin, vocabulary.end, vocabulary.unknown
        self._folding = vocabulary.folding
        starts = vocabulary.starts
        hashes = _hashes(vocabulary.pieces, starts[:-1], starts[1:])
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._numbers = hashes[order], order.astype(np.int32)
        self._scores = vocabulary.scores
        self._longest = int(np.diff(starts).max())
        self._unknown_score = float(vocabulary.scores.min()) - _UNKNOWN_COSTS

    def numbers(self, text: str, limit: int) -> list[int]:
        """With the mark of the beginning and of the end, at most `limit` in all: the end of a longer text is left out."""
        return [self._begin, *self._likeliest(self._folded(text))[: limit - 2], self._end]

    def _folded(self, text: str) -> str:
        folded = text.translate(self._folding)
        while "  " in folded:
            folded = folded.replace("  ", " ")
        return (folded if folded.startswith(" ") else f" {folded}").replace(" ", _SPACE)

    def _likeliest(self, text: str) -> list[int]:
        """Viterbi's way through the pieces that stand in the text."""
        size = len(text)
        endings = self._pieces_of(text)
        best = [0.0, *([-np.inf] * size)]
        came: list[tuple[int, int]] = [(0, 0)] * (size + 1)
        for start in range(size):
            here = best[start]
            if here + self._unknown_score > best[start + 1]:
                best[start + 1], came[start + 1] = here + self._unknown_score, (start, self._unknown)
            for end, number, score in endings[start]:
                if here + score > best[end]:
                    best[end], came[end] = here + score, (start, number)
        way: list[int] = []
        at = size
        while at:
            at, number = came[at]
            way.append(number)
        return way[::-1]

    def _pieces_of(self, text: str) -> list[list[_Ending]]:
        """For each character, (behind which, number, score) of the pieces that begin with it."""
        size = len(text)
        raw = np.frombuffer(text.encode(), np.uint8)
        at = np.append(np.flatnonzero((raw & 0xC0) != 0x80), len(raw))
        first, last = np.nonzero(np.triu(at[None, :] - at[:, None] <= self._longest, 1))
        hashes = _hashes(raw, at[first], at[last])
        places = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        is_piece = self._hashes[places] == hashes
        numbers = self._numbers[places[is_piece]]
        endings: list[list[_Ending]] = [[] for _ in range(size)]
        found: list[tuple[int, int, int]] = np.column_stack(
            (first[is_piece], last[is_piece], numbers)
        ).tolist()
        for start, end, number in found:
            if number != self._unknown:
                endings[start].append((end, number, float(self._scores[number])))
        return endings


def _hashes(raw: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Of the bytes from each start to its end: a polynomial modulo 2^64, from running sums."""
    powers = np.cumprod(np.full(len(raw) + 1, _BASE))
    sums = np.concatenate(
        (np.zeros(1, np.uint64), np.cumsum((raw.astype(np.uint64) + np.uint64(1)) * powers[:-1]))
    )
    shifts = np.cumprod(np.full(len(raw) + 1, _INVERSE))
    return (sums[ends] - sums[starts]) * shifts[starts]
