"""What a character is and becomes in a normalised text, as arrays by code point: thousands of texts are then read at once.

Invariant: pure; `folded` tells of a character what `normalise` makes of it wherever it stands, or `COMPLEX`.
"""

import unicodedata
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from bot.conversation.lexical import JOINED_RUNS, WORD_RUNS, fold
from bot.memory.content_words import FUNCTION_CHARACTERS
from bot.memory.normalise import normalised_character

KNOWN_POINTS = 0x40000
"""Behind them no character stands in pairs or words."""
SIMPLE_POINTS = 0x1FB00
"""Behind them every character is `COMPLEX`: rare ideographs."""
COMPLEX = 0xFFFF_FFFF
"""Becomes several characters, or another beside others: a text with one is read by itself."""
_BLOCKS = (range(1, 0x3400), range(0xA000, 0xAC00), range(0xF900, 0x10000), range(0x1F000, SIMPLE_POINTS))
"""Scripts, signs and emoji. What is in none of these, nor in `_THEMSELVES`, is `COMPLEX`: dead scripts."""
_THEMSELVES = (range(0x3400, 0xA000), range(0xAC00, 0xD7A4))
"""Ideographs and syllables."""
_JAMO = range(0x1160, 0x1200)
"""They join with the syllable before them, by no decomposition of a table."""


@dataclass(frozen=True, slots=True)
class Characters:
    """Each by code point, the last entry for all behind."""

    folded: NDArray[np.uint32]
    """`(SIMPLE_POINTS + 1,)`"""
    joins: NDArray[np.bool_]
    """`(KNOWN_POINTS + 1,)`: it stands in pairs with its neighbours."""
    asks: NDArray[np.bool_]
    """Of these, the ones that ask for something alone."""
    words: NDArray[np.bool_]
    """It stands in words of letters and digits."""


@cache
def characters() -> Characters:
    """0.1 s the first time."""
    everything = np.arange(KNOWN_POINTS, dtype=np.uint32).tobytes().decode("utf-32-le", "surrogatepass")
    joins, words = np.zeros((2, KNOWN_POINTS + 1), bool)
    for run in JOINED_RUNS.finditer(everything):
        joins[run.start() : run.end()] = True
    for run in WORD_RUNS.finditer(everything):
        words[run.start() : run.end()] = True
    asks = joins.copy()
    asks[[ord(character) for character in FUNCTION_CHARACTERS]] = False
    return Characters(folded=_folded(), joins=joins, asks=asks, words=words)


def _folded() -> NDArray[np.uint32]:
    folded = np.full(SIMPLE_POINTS + 1, COMPLEX, np.uint32)
    for points in _THEMSELVES:
        folded[points.start : points.stop] = points
    joining = _joining()
    for block in _BLOCKS:
        forms = fold("\0".join(map(chr, block))).split("\0")
        for point, form in zip(block, forms, strict=True):
            if len(form) == 1 and form not in joining and chr(point) not in joining:
                folded[point] = ord(normalised_character(form))
    folded[ord("\0")] = ord("\0")  # Parts the texts.
    folded[ord("\\")] = COMPLEX  # May begin an escape.
    return folded


def _joining() -> frozenset[str]:
    """What may become one with the character before it, or change places with its neighbours."""
    joining: set[str] = set(map(chr, _JAMO))
    for character in (chr(point) for block in _BLOCKS for point in block):
        decomposition = unicodedata.decomposition(character).split()
        if len(decomposition) == 2 and not decomposition[0].startswith("<"):
            joining.add(chr(int(decomposition[1], 16)))
        if unicodedata.combining(character):
            joining.add(character)
    return frozenset(joining)
