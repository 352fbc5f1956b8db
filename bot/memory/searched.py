"""Some of a person's memories, made ready to be searched by words: sorted arrays, of which nothing is ever changed.

Invariant: pure; a part is made of its texts alone. Making one costs 15 µs a text beside 0.3 ms; inverted lists took 50
and had to be made whole for each memory added.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from bot.conversation.lexical import JOINED_RUNS, WORD_RUNS, bigram_terms, is_joined
from bot.memory.content_words import FUNCTION_CHARACTERS
from bot.memory.normalise import normalise_all, numbers_in

Codes = NDArray[np.uint64]
Rows = NDArray[np.intp]
"""Places of texts, ascending."""

POINT_BITS = 21
"""Of a character."""
ROW_BITS = 20
"""A million texts in a part."""
WORD_BITS = 41
"""Of a word's hash: one of ten thousand words is taken for another once in 10⁸ questions."""
IS_A_WORD = 1 << (ROW_BITS + 2 * POINT_BITS)
"""Words of letters and digits are told from pairs of characters."""
KNOWN_POINTS = 0x40000
"""Behind them no character stands in pairs."""
LATELY = 256
"""Questions whose terms are kept: each sign of one asks for the same."""
ROW_SHIFT, POINT_SHIFT = np.uint64(ROW_BITS), np.uint64(POINT_BITS)
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

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = normalise_all(texts)
        """Normalised, without their number forms."""
        self.size = len(self.texts)
        keys = _keys(self.texts)
        keys.sort()
        self._keys = keys
        """Terms and the texts they stand in, as one number each, ascending."""
        self.lengths = np.bincount((keys & ROW_MASK).astype(np.intp), minlength=self.size)
        """`(n,)`: terms of each text."""
        self._flags: dict[object, NDArray[np.float32]] = {}

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

    def flagged(self, key: object, has: Callable[[str], object]) -> NDArray[np.float32]:
        """`(n,)`: 1 where `has` is true of the text. Asked once for each key: a part lives as long as its person's
        index."""
        if (known := self._flags.get(key)) is None:
            known = np.array([bool(has(text)) for text in self.texts], np.float32)
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
    digest = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
    return IS_A_WORD | (digest >> (64 - WORD_BITS)) << ROW_BITS


def _keys(texts: Sequence[str]) -> Codes:
    """Of each term of each text its code with the text's place, in no order."""
    joined = "\0".join(texts)
    points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
    row_of = np.cumsum(points == 0).astype(np.uint64)
    known = np.minimum(points, KNOWN_POINTS)
    joins, asks = _characters()
    joining = joins[known]
    pairs, alone = np.flatnonzero(joining[:-1] & joining[1:]), np.flatnonzero(asks[known])
    wide = points.astype(np.uint64)
    pair_codes = (wide[pairs] << POINT_SHIFT | wide[pairs + 1]) << ROW_SHIFT
    words = [(_word_code(each.group()), each.start()) for each in WORD_RUNS.finditer(joined)]
    numbers = [(code, place) for place, form in numbers_in(joined) for code in _codes_of_form(form)]
    others = np.array(words + numbers, np.uint64).reshape(-1, 2)
    return np.concatenate(
        [
            pair_codes | row_of[pairs],
            wide[alone] << ROW_SHIFT | row_of[alone],
            others[:, 0] | row_of[others[:, 1].astype(np.intp)],
        ]
    )


@lru_cache(FORMS_KEPT)
def _codes_of_form(form: str) -> tuple[int, ...]:
    """三百块 → 300块"""
    return tuple(map(_code, bigram_terms(form)))


@cache
def _characters() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """By code point: those that stand in pairs, and of these the ones that ask for something alone."""
    joins = np.zeros(KNOWN_POINTS + 1, bool)
    for run in JOINED_RUNS.finditer("".join(map(chr, range(KNOWN_POINTS)))):
        joins[run.start() : run.end()] = True
    asks = joins.copy()
    asks[[ord(character) for character in FUNCTION_CHARACTERS]] = False
    return joins, asks
