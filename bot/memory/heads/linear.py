"""A linear head over a vector and the signs of its text: logits of a few classes, from a table of weights.

Invariant: the weights fit one embedder, which the table names; nothing is computed of another's vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from bot.conversation.ports import Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear:
    model_id: str
    """Of the embedder it was trained on."""
    classes: tuple[str, ...]
    weights: NDArray[np.float32]
    """`(features + 1, classes)`, the last row the bias."""

    def shares(self, features: Matrix) -> NDArray[np.float32]:
        """`(n, classes)`: how likely each class is; rows sum to 1. `features`: `(n, features)`."""
        logits = features @ self.weights[:-1] + self.weights[-1]
        grown = np.exp(logits - logits.max(axis=1, keepdims=True))
        return grown / grown.sum(axis=1, keepdims=True)


def read_linear(name: str, features: Sequence[str], dimension: int) -> Linear:
    """The table of that name in this folder: the embedder, the classes, the names of the signs, then a line of weights
    for each feature. `dimension`: of the vectors before the signs.

    Raises ValueError where it was trained for other signs: train anew.
    """
    lines = files("bot.memory.heads").joinpath(name).read_text("utf-8").splitlines()
    model_id, classes, signs = lines[0], lines[1].split("\t"), lines[2].split("\t")
    weights = np.array([line.split(" ") for line in lines[3:]], dtype=np.float32)
    if tuple(signs) != tuple(features) or weights.shape != (dimension + len(features) + 1, len(classes)):
        raise ValueError(f"{name} was trained for other signs")
    return Linear(model_id=model_id, classes=tuple(classes), weights=weights)


def written(linear: Linear, features: Sequence[str]) -> str:
    """As `read_linear` reads it."""
    rows = (" ".join(f"{value:.4g}" for value in row) for row in linear.weights)
    return "\n".join((linear.model_id, "\t".join(linear.classes), "\t".join(features), *rows)) + "\n"
