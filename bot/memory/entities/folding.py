"""A message in the one form that entities are read in, and the way back to the places of the original.

Invariant: pure; every place of the folded text has its piece of the original, in order and without gaps.
"""

import re
import unicodedata
from dataclasses import dataclass

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20, 0xFFE5: 0xA5}
del _FULL_WIDTH[ord("，")]
"""One character for one. The comma stays: between digits it more often parts two numbers than thousands."""
_PLAIN = str.maketrans(
    _FULL_WIDTH | {ord(mark): "-" for mark in "‐‑‒–—―−"} | {ord(mark): "~" for mark in "〜～"}
)
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?")
_KEPT = "，…"
_IS_FOLDED = re.compile(r"[ -\[\]-~\u4e00-\u9fff，。、…]*")
"""Characters that folding leaves as they are, a backslash aside: many messages have no others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """A folded text over its original."""

    text: str
    original: str
    starts: tuple[int, ...] | None
    """Where each folded character begins in the original, and one more for its end. None: at the same place."""

    def piece(self, start: int, end: int) -> str:
        """What stands in the original for a piece of the folded text."""
        first, last = self.span(start, end)
        return self.original[first:last]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The places in the original of a piece of the folded text."""
        if self.starts is None:
            return start, end
        last = end
        # Characters that came of one original share its start: the piece takes it whole.
        while last < len(self.starts) - 1 and self.starts[last] == self.starts[last - 1]:
            last += 1
        return self.starts[start], self.starts[last]


def folded(text: str) -> Folded:
    """Literal `\\uXXXX` decoded, full width and ligatures made plain (NFKC by character), dashes made one."""
    if _IS_FOLDED.fullmatch(text):
        return Folded(text=text, original=text, starts=None)
    plain = text.translate(_PLAIN)
    if "\\u" not in plain and _is_plain(plain):
        return Folded(text=plain, original=text, starts=None)
    pieces: list[str] = []
    starts: list[int] = []
    place = 0
    while place < len(plain):
        escape = _ESCAPE.match(plain, place) if plain[place] == "\\" else None
        end = escape.end() if escape else place + 1
        piece = _decoded(escape) if escape else plain[place]
        if escape and len(piece) > 1 and escape[2] and not _is_pair(escape):
            # Two escapes that are no pair: the second is read on its own.
            end, piece = escape.start(2) - 2, piece[0]
        piece = _folded_piece(piece)
        pieces.append(piece)
        starts += [place] * len(piece)
        place = end
    starts.append(len(text))
    return Folded(text="".join(pieces), original=text, starts=tuple(starts))


def _is_plain(text: str) -> bool:
    return text.isascii() or unicodedata.is_normalized("NFKC", text.replace("，", "").replace("…", ""))


def _folded_piece(piece: str) -> str:
    if piece in _KEPT:
        return piece
    return unicodedata.normalize("NFKC", piece).translate(_PLAIN)


def _is_pair(escape: re.Match[str]) -> bool:
    return 0xD800 <= int(escape[1], 16) <= 0xDBFF


def _decoded(escape: re.Match[str]) -> str:
    units = bytes.fromhex(escape[1] + (escape[2] or ""))
    return units.decode("utf-16-be", "replace")
