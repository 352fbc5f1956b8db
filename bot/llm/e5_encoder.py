"""The encoder of multilingual-e5-small in numpy: one vector for each token of a text.

Invariant: the same numbers always give the same rows; their mean, at length 1, is the vector that the engine gives
for the text (cosine above .99, tested).
Why not the engine: it gives the mean alone. The weights take 85 MB once unpacked; those of the words stay in the file.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.llm.e5_file import ModelFile, unpacked

Rows = NDArray[np.float32]

_ROOT_2_OVER_PI = np.float32(0.7978845608)
_CUBIC = np.float32(0.044715)
"""GELU by the hyperbolic tangent (Hendrycks and Gimpel, 2016): within .001 of the exact one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Norm:
    weight: Rows
    bias: Rows

    def __call__(self, rows: Rows, epsilon: float) -> Rows:
        rows = rows - rows.mean(axis=1, keepdims=True)
        spread = np.einsum("ij,ij->i", rows, rows) / rows.shape[1] + epsilon
        rows /= np.sqrt(spread)[:, None]
        rows *= self.weight
        rows += self.bias
        return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class _Dense:
    weight: Rows
    bias: Rows

    def __call__(self, rows: Rows) -> Rows:
        made = rows @ self.weight
        made += self.bias
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    attend: _Dense
    """Query, key and value side by side."""
    merge: _Dense
    after_attention: _Norm
    widen: _Dense
    narrow: _Dense
    after: _Norm


class Encoder:
    """Unpacks the weights: 0.2 s."""

    def __init__(self, file: ModelFile) -> None:
        self._shape = file.shape
        self._words = file.blocks("emb.word", file.shape.width)
        self._places = file.floats("emb.pos").reshape(-1, file.shape.width)
        self._kind = file.floats("emb.type")[: file.shape.width]
        self._first = _norm(file, "emb.ln")
        self._layers = [_layer(file, number) for number in range(file.shape.layers)]

    def rows(self, numbers: list[int]) -> Rows:
        """`(n, width)` float32 for the tokens of one text, at most `Shape.longest`."""
        rows = unpacked(self._words[numbers]) + self._places[: len(numbers)] + self._kind
        rows = self._first(rows, self._shape.epsilon)
        for layer in self._layers:
            rows = layer.after_attention(
                rows + layer.merge(self._attention(layer, rows)), self._shape.epsilon
            )
            rows = layer.after(rows + layer.narrow(_gelu(layer.widen(rows))), self._shape.epsilon)
        return rows

    def _attention(self, layer: _Layer, rows: Rows) -> Rows:
        count, heads = len(rows), self._shape.heads
        asked, offered, told = layer.attend(rows).reshape(count, 3, heads, -1).transpose(1, 2, 0, 3)
        weights = asked @ offered.transpose(0, 2, 1)
        weights *= np.float32((self._shape.width // heads) ** -0.5)
        weights -= weights.max(axis=2, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=2, keepdims=True)
        return (weights @ told).transpose(1, 0, 2).reshape(count, -1)


def _gelu(rows: Rows) -> Rows:
    inner = rows * rows
    inner *= _CUBIC
    inner += np.float32(1)
    inner *= rows
    inner *= _ROOT_2_OVER_PI
    np.tanh(inner, out=inner)
    inner += np.float32(1)
    inner *= rows
    inner *= np.float32(0.5)
    return inner


def _norm(file: ModelFile, name: str) -> _Norm:
    return _Norm(weight=file.floats(f"{name}.w"), bias=file.floats(f"{name}.b"))


def _dense(file: ModelFile, *names: str, inputs: int) -> _Dense:
    return _Dense(
        weight=np.concatenate([file.matrix(f"{name}.w", inputs) for name in names], axis=1),
        bias=np.concatenate([file.floats(f"{name}.b") for name in names]),
    )


def _layer(file: ModelFile, number: int) -> _Layer:
    at, shape = f"l{number}", file.shape
    return _Layer(
        attend=_dense(file, f"{at}.q", f"{at}.k", f"{at}.v", inputs=shape.width),
        merge=_dense(file, f"{at}.ao", inputs=shape.width),
        after_attention=_norm(file, f"{at}.aln"),
        widen=_dense(file, f"{at}.fi", inputs=shape.width),
        narrow=_dense(file, f"{at}.fo", inputs=shape.inner_width),
        after=_norm(file, f"{at}.oln"),
    )
