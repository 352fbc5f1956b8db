"""Reply text to pages as a person reads them.

Invariant: every page as sent is at most 2,000 bytes of UTF-8 with room for its mark, and is cut between
grapheme clusters, never inside a link or a tap; the pages joined are the whole text.
"""

import re
from bisect import bisect_right

from .graphemes import is_boundary
from .links import ANCHOR, TAP_ANCHOR, TAP_END, TAP_START, shown, tidy

PAGE_BYTES = 2000
"""WeChat delivers 2,047 bytes and drops 2,048 (measured by users); the rest is our margin."""
MARK_BYTES = 160
"""Kept free on each of several pages. The default mark with its tap as a link takes 103."""
HEADING_BYTES = 64
"""Kept free besides on each of several: a held page is handed over with the question it answers."""
MORE = f"\n({{number}}/{{total}}) 回复“{TAP_START}继续{TAP_END}”"
LAST = "\n({number}/{total})"
SENTENCE_END = re.compile(r"""[。！？!?…；;\n]+[”’」』）)】》"' \n]*""")
"""A quote or bracket belongs to the sentence that it closes."""
_PAUSE = re.compile(r"[，、：,: \t]+")
_LINK = re.compile(f"(?:{ANCHOR.pattern})|(?:{TAP_ANCHOR.pattern})")
_BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)+")


def pages(text: str, *, limit_bytes: int = PAGE_BYTES) -> tuple[str, ...]:
    """Cut a reply. () for nothing to say. The pages carry no marks yet: see `mark_page`.

    A text that fits is one page; of several, each keeps MARK_BYTES and HEADING_BYTES free.
    Taps count as the links they become.
    """
    text = _BLANK_LINES.sub("", tidy(text)).rstrip()
    sent = shown(text)
    if len(sent.encode()) <= limit_bytes:
        return (text,) if text else ()
    room = limit_bytes - MARK_BYTES - HEADING_BYTES
    return tuple(TAP_ANCHOR.sub(f"{TAP_START}\\1{TAP_END}", part) for part in _cut(sent, room))


def mark_page(page: str, number: int, total: int, *, more: str = MORE, last: str = LAST) -> str:
    """A page as it is handed over: which it is, and how to get the next. A lone page stays as it is.

    `more` and `last` know `{number}` and `{total}`.
    """
    if total < 2:
        return page
    mark = more if number < total else last
    return page.rstrip("\n") + mark.replace("{number}", str(number)).replace("{total}", str(total))


def shorten(text: str, limit_bytes: int = PAGE_BYTES) -> str:
    """`text`, tidy and as sent, if it fits, else its start and 「…」. For what did not come from `pages`."""
    if len(text.encode()) <= limit_bytes:
        return text
    return text[: _page_end(text, limit_bytes - len("…".encode()))] + "…"


def _cut(text: str, room: int) -> list[str]:
    """Parts of at most `room` bytes that join to `text`."""
    parts: list[str] = []
    rest = text
    while rest:
        end = _page_end(rest, room)
        parts.append(rest[:end])
        rest = rest[end:]
    return parts


def _page_end(text: str, room: int) -> int:
    """Where the first page ends: a sentence, else a pause, both past half the page, else a cluster."""
    encoded = text[:room].encode()
    fits = len(encoded[:room].decode(errors="ignore"))
    if fits == len(text):
        return fits
    half = len(encoded[: room // 2].decode(errors="ignore"))
    links = _Links(text, fits)
    for pattern in (SENTENCE_END, _PAUSE):
        ends = [found.end() for found in pattern.finditer(text, half, fits)]
        for end in reversed(ends):
            if is_boundary(text, end) and not links.is_inside(end):
                return end
    for end in range(fits, 0, -1):
        if is_boundary(text, end) and not links.is_inside(end):
            return end
    # One cluster longer than a page, a heap of combining marks: between code points, then.
    return links.start_of(fits) or max(fits, 1)


class _Links:
    """Where the links of a text are."""

    def __init__(self, text: str, end: int) -> None:
        """Those that begin before `end`."""
        spans: list[tuple[int, int]] = []
        for found in _LINK.finditer(text):
            if found.start() >= end:
                break
            spans.append(found.span())
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def is_inside(self, at: int) -> bool:
        return self.start_of(at) is not None

    def start_of(self, at: int) -> int | None:
        """Where the link begins that a cut at `at` would part."""
        before = bisect_right(self._starts, at - 1) - 1
        return self._starts[before] if before >= 0 and at < self._ends[before] else None
