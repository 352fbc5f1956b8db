"""Some of a person's memories, made ready to be searched by words: sorted arrays, of which nothing is ever changed.

Invariant: pure; a part is made of its texts alone, at once or by joining. Making one of many costs 2 µs a text beside 0.2 ms,
nearly all of it without the GIL; of few 30 µs each. Inverted lists took 50 and had to be made whole for each memory added.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bot.conversation.lexical import JOINED_RUNS, WORD_RUNS, bigram_terms, is_joined
from bot.memory.characters import KNOWN_POINTS, characters
from bot.memory.content_words import FUNCTION_CHARACTERS
from bot.memory.normalise import number_form, numerals_in
from bot.memory.normalised_texts import FEW, Finder, NormalisedTexts, Points

Codes = NDArray[np.uint64]
Rows = NDArray[np.intp]
"""Places of texts, ascending."""

POINT_BITS = 21
"""Of a character."""
ROW_BITS = 20
"""A million texts in a part."""
WORD_BITS = 41
"""Of a word's hash: one of ten thousand words is taken for another once in 10⁸ questions."""
WORD_FACTORS = 64
"""Kept. Longer words are rare."""
IS_A_WORD = 1 << (ROW_BITS + 2 * POINT_BITS)
"""Words of letters and digits are told from pairs of characters."""
PIECE = 1_024
"""Texts read in one go: more of them leave the processor's cache, and the loop waits while a pattern runs over all."""
LATELY = 256
"""Questions whose terms are kept: each sign of one asks for the same."""
ROW_SHIFT, POINT_SHIFT, HASH_SHIFT = np.uint64(ROW_BITS), np.uint64(POINT_BITS), np.uint64(64 - WORD_BITS)
_ALL_BITS = (1 << 64) - 1
ROW_MASK, ONE_TERM = np.uint64((1 << ROW_BITS) - 1), np.uint64(1 << ROW_BITS)
FORMS_KEPT = 4_096
"""Number forms, of which people use few."""


@dataclass(frozen=True, slots=True)
class Hits:
    """Which texts hold which terms: one entry for each pair, by term."""

    terms: Rows
    """Places of the terms that were asked for."""
    rows: Rows
    counts: NDArray[np.int64]


class Part:
    """Texts in order."""

    def __init__(self, texts: NormalisedTexts, keys: Codes, lengths: NDArray[np.int64]) -> None:
        self.size = texts.count
        self._texts = texts
        """Without their number forms."""
        self._keys = keys
        """Terms and the texts they stand in, as one number each, ascending."""
        self.lengths = lengths
        """`(n,)`: terms of each text."""
        self._flags: dict[object, NDArray[np.bool_]] = {}

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Part":
        starts = range(0, max(len(texts), 1), PIECE)
        pieces = [NormalisedTexts.of(texts[start : start + PIECE]) for start in starts]
        found = [_keys_of_few(each) if each.count <= FEW else _keys(each) for each in pieces]
        keys = np.concatenate([each + np.uint64(start) for each, start in zip(found, starts, strict=True)])
        keys.sort()
        lengths = np.bincount((keys & ROW_MASK).astype(np.intp), minlength=len(texts))
        return cls(NormalisedTexts.together(pieces), keys, lengths)

    def __add__(self, later: "Part") -> "Part":
        """Its texts and those of `later` behind them."""
        keys = np.concatenate([self._keys, later._keys + np.uint64(self.size)])
        keys.sort(kind="stable")  # Two ascending runs are merged: a fifth of what sorting them takes.
        return Part(
            NormalisedTexts.together((self._texts, later._texts)),
            keys,
            np.concatenate([self.lengths, later.lengths]),
        )

    @property
    def size_bytes(self) -> int:
        """With the characters of the texts it was made of, which are as many as those it keeps."""
        arrays = (self._keys, self.lengths, *self._flags.values())
        return 2 * self._texts.size_bytes + sum(each.nbytes for each in arrays)

    def hits(self, asked: Codes) -> Hits:
        first = np.searchsorted(self._keys, asked)
        counts = np.searchsorted(self._keys, asked + ONE_TERM) - first
        terms = np.repeat(np.arange(len(asked)), counts)
        places = np.arange(len(terms)) + np.repeat(first - np.cumsum(counts) + counts, counts)
        keys = self._keys[places]
        is_new = np.ones(len(keys) + 1, bool)
        is_new[1:-1] = keys[1:] != keys[:-1]
        starts = np.flatnonzero(is_new)
        counts, starts = starts[1:] - starts[:-1], starts[:-1]
        return Hits(terms[starts], (keys[starts] & ROW_MASK).astype(np.intp), counts)

    def flagged(self, key: object, terms: Codes, finds: Finder | None) -> NDArray[np.bool_]:
        """`(n,)`: which texts hold one of the terms, or something that is found. Looked for once for each key: a part
        lives as long as its person's index."""
        if (known := self._flags.get(key)) is None:
            known = np.zeros(self.size, bool) if finds is None else self._texts.holding(finds)
            known[self.hits(terms).rows] = True
            self._flags[key] = known
        return known


@lru_cache(LATELY)
def codes_of(terms: tuple[str, ...]) -> Codes:
    """Of terms as `bigram_terms` gives them."""
    return np.array([_code(term) for term in terms], np.uint64)


def _code(term: str) -> int:
    if len(term) > 2 or not all(map(is_joined, term)):
        return _word_code(term)
    points = [ord(character) for character in term]
    return (points[0] if len(points) == 1 else points[0] << POINT_BITS | points[1]) << ROW_BITS


def _word_code(word: str) -> int:
    """As `_word_codes`, without the arrays, which for one word cost ten times as much."""
    first, *factors = _plain_factors(max(WORD_FACTORS, len(word) + 1))
    total = first + sum(
        factor * (ord(character) + 1) for factor, character in zip(factors, word, strict=False)
    )
    return IS_A_WORD | (total & _ALL_BITS) >> (64 - WORD_BITS) << ROW_BITS


def _word_codes(points: Codes, starts: Rows) -> Codes:
    """Of words that lie one behind the other in `points`: sums of their characters, each times a factor of its place
    (multilinear hashing, Lemire and Kaser 2014), of which the first bits count."""
    lengths = np.diff(starts, append=len(points))
    places = np.arange(len(points)) - np.repeat(starts, lengths)
    factors = _factors(max(WORD_FACTORS, int(lengths.max(initial=0)) + 1))
    sums = np.add.reduceat(factors[places + 1] * (points + np.uint64(1)), starts) + factors[0]
    return np.uint64(IS_A_WORD) | (sums >> HASH_SHIFT) << ROW_SHIFT


@lru_cache(2)
def _plain_factors(count: int) -> tuple[int, ...]:
    return tuple(_factors(count).tolist())


@lru_cache(2)
def _factors(count: int) -> Codes:
    """SplitMix64 (Steele et al. 2014): as good as drawn, the same each time."""
    mixed = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def _keys_of_few(texts: NormalisedTexts) -> Codes:
    """As `_keys`, without the arrays, which for one text cost three times as much."""
    keys = [code | row for row, text in enumerate(texts.joined.split("\0")) for code in _codes_in(text)]
    return np.array(keys, np.uint64)


def _codes_in(normal: str) -> Iterator[int]:
    """Of each term of a text."""
    for run in JOINED_RUNS.findall(normal):
        points = list(map(ord, run))
        yield from ((first << POINT_BITS | second) << ROW_BITS for first, second in pairwise(points))
        yield from (ord(each) << ROW_BITS for each in run if each not in FUNCTION_CHARACTERS)
    for word in WORD_RUNS.findall(normal):
        yield _word_code(word)
    for _, written in numerals_in(normal):
        yield from _number_codes(written)


def _keys(texts: NormalisedTexts) -> Codes:
    """Of each term of each text its code with the text's place, in no order."""
    points = texts.points()
    row_of = np.cumsum(points == 0, dtype=np.uint64)
    known = np.minimum(points, KNOWN_POINTS)
    wide = points.astype(np.uint64)
    joining = characters().joins[known]
    pairs, alone = np.flatnonzero(joining[:-1] & joining[1:]), np.flatnonzero(characters().asks[known])
    pair_codes = (wide[pairs] << POINT_SHIFT | wide[pairs + 1]) << ROW_SHIFT
    numbers = [
        (code, place) for place, written in numerals_in(texts.joined) for code in _number_codes(written)
    ]
    others = np.array(numbers, np.uint64).reshape(-1, 2)
    return np.concatenate(
        [
            pair_codes | row_of[pairs],
            wide[alone] << ROW_SHIFT | row_of[alone],
            _word_keys(wide, row_of, known),
            others[:, 0] | row_of[others[:, 1].astype(np.intp)],
        ]
    )


def _word_keys(points: Codes, row_of: Codes, known: Points) -> Codes:
    inside = np.flatnonzero(characters().words[known])
    if not len(inside):
        return np.zeros(0, np.uint64)
    starts = np.flatnonzero(np.diff(inside, prepend=-2) > 1)
    return _word_codes(points[inside], starts) | row_of[inside[starts]]


@lru_cache(FORMS_KEPT)
def _number_codes(written: str) -> tuple[int, ...]:
    """三百块: those of 300块."""
    return tuple(map(_code, bigram_terms(number_form(written) or "")))
