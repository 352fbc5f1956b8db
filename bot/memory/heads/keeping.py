"""Is a statement worth keeping? Learned from sentences of this project's own (benchmarks/judging/train.py).

Invariant: it only weighs statements that may become facts at all (`bot.memory.never`); without vectors of the embedder
it was trained on it says nothing, and rules alone judge.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Embedder, Matrix
from bot.memory.heads.linear import Linear, read_linear
from bot.memory.heads.signs import SIGNS, signs_of

Shares: TypeAlias = NDArray[np.float32]

DIMENSION = 384
TABLE = "keeping.txt"
KEEP, UNTRUE, ORDER, THIRD = "keep", "untrue", "order", "third"
MOST_WEIGHED = 12
"""Statements of one message that are embedded: each takes about 20 ms of one core."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """What the head makes of a statement."""

    keep: float
    """How likely it says something lasting of the person, 0 to 1."""
    unmeant: float
    """How likely it isn't meant (verse, fiction, a joke) or is an order."""


class KeepHead:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def weigh(self, texts: Sequence[str]) -> tuple[tuple[Weighed, ...], Matrix] | None:
        """Of each text, and the vectors of them as passages. None where there are no vectors it was trained on."""
        linear = _table()
        if not texts or len(texts) > MOST_WEIGHED or not self._fits(linear):
            return None
        try:
            vectors = await self._embedder.embed_passages(texts)
        except EmbedderUnavailable:
            return None
        shares = linear.shares(np.hstack((vectors, np.stack([signs_of(text) for text in texts]))))
        return tuple(_weighed(row, linear.classes) for row in shares), vectors

    def _fits(self, linear: Linear) -> bool:
        try:
            return self._embedder.model_id == linear.model_id
        except EmbedderUnavailable:
            return False


def _weighed(row: Shares, classes: tuple[str, ...]) -> Weighed:
    share = dict(zip(classes, map(float, row), strict=True))
    return Weighed(keep=share[KEEP], unmeant=share[UNTRUE] + share[ORDER])


@cache
def _table() -> Linear:
    return read_linear(TABLE, SIGNS, DIMENSION)
