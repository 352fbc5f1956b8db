"""Reply text to pages, and a page to the XML of a passive reply.

Invariant: every page is at most 2,000 bytes of UTF-8, valid in XML 1.0, and cut between grapheme
clusters; the pages without their marks make up the whole text.
"""

import re

from wechatpy.replies import TextReply

from .graphemes import is_boundary
from .parsing import strip_illegal

PAGE_BYTES = 2000
"""WeChat delivers 2,047 bytes and drops 2,048 (measured by users); the rest is our margin."""
MORE = "\n({page}/{pages}) 回复“继续”"
LAST = "\n({page}/{pages})"
_SENTENCE_END = re.compile(r"""[。！？!?…；;\n]+[”’」』）)】》"' \n]*""")
"""A quote or bracket belongs to the sentence that it closes."""
_PAUSE = re.compile(r"[，、：,: \t]+")

_FENCE = re.compile(r"^[ \t]*```[^\n]*\n?", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}[ \t]+", re.MULTILINE)
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[([^\[\]\n]+)\]\(([^()\s]+)\)")


def plain(text: str) -> str:
    """Markdown to what WeChat shows well. Only marks that surely are marks go: `c++`, `#话题#` stay."""
    text = strip_illegal(text).replace("\r\n", "\n").replace("\r", "\n")
    for mark, kept in ((_FENCE, ""), (_HEADING, ""), (_BOLD, r"\1"), (_CODE, r"\1"), (_LINK, r"\1 \2")):
        text = mark.sub(kept, text)
    return text.strip()


def pages(text: str, *, limit_bytes: int = PAGE_BYTES, more: str = MORE, last: str = LAST) -> tuple[str, ...]:
    """Cut a reply. () for nothing to say, one page without marks where it fits.

    `more` and `last` end the pages; they know `{page}` and `{pages}`.
    """
    text = plain(text)
    if len(text.encode()) <= limit_bytes:
        return (text,) if text else ()
    # The mark names the number of pages, which depends on the room the mark takes.
    expected = 9
    while True:
        room = limit_bytes - max(
            len(mark.format(page=expected, pages=expected).encode()) for mark in (more, last)
        )
        parts = _cut(text, room)
        if len(parts) <= expected:
            break
        expected = expected * 10 + 9
    total = len(parts)
    return tuple(
        part + (more if page < total else last).format(page=page, pages=total)
        for page, part in enumerate(parts, start=1)
    )


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
    for pattern in (_SENTENCE_END, _PAUSE):
        ends = [found.end() for found in pattern.finditer(text, half, fits)]
        for end in reversed(ends):
            if is_boundary(text, end):
                return end
    for end in range(fits, 0, -1):
        if is_boundary(text, end):
            return end
    # One cluster longer than a page, a heap of combining marks: between code points, then.
    return max(fits, 1)


def shorten(text: str, limit_bytes: int = PAGE_BYTES) -> str:
    """`text` if it fits, else its start and 「…」. For text that did not come from `pages`."""
    text = strip_illegal(text)
    if len(text.encode()) <= limit_bytes:
        return text
    return text[: _page_end(text, limit_bytes - len("…".encode()))] + "…"


def reply_xml(*, to_user: str, from_user: str, text: str, created: int) -> str:
    """A passive text reply. `created`: Unix seconds.

    wechatpy writes CDATA without looking inside, so `]]>` is split over two sections here.
    """
    content = shorten(text).replace("]]>", "]]]]><![CDATA[>")
    return TextReply(source=from_user, target=to_user, content=content, time=created).render()
