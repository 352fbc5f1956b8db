"""Where the finished sentences of an unfinished Markdown text end, so that what stands before may be shown alone.

Invariant: pure; no place is inside code, a table, a heading, a link, a tag, emphasis, brackets or quotation marks, nor
in a number or an abbreviation, whatever may be appended to the text. When in doubt there is none: a sentence that is
shown later costs less than one that was shown in halves.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

MOST_TRIED = 32
"""Places looked at closely, from the last on: each costs a look at its whole line, and a text made to cost time has
thousands."""

_QUOTED = re.compile(r"[ \t]*(?:>[ \t]?)+")
_PREFIX = re.compile(r"(?:[ \t]*(?:>|[-*+•](?=[ \t])|\d{1,9}[.)、](?=[ \t])))*[ \t]*")
"""Marks of quotations and list items before a line's own words."""
_FENCE = re.compile(r"`{3,}|~{3,}")
_NEVER = "never"
"""In the place of a fence's mark: readers of Markdown disagree where this one ends."""
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
_ITEM = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,9}[.)])[ \t]+\S|\d{1,9}、)")
_LEADS_ON = "：:，,、;；—(（"
"""A line that ends so is about what follows it."""
_TITLE = re.compile(r"[ \t]*(\*\*|__)[^\n]*\1[ \t]*\Z")
"""A line in bold alone is a heading in all but name."""

_CLOSERS = "”’」』）)】》〉\"'*_~`"
_END = re.compile(
    rf"[。！？｡](?:[。！？｡?]|!(?=[^\[]))*(?P<wide>[{_CLOSERS}]*)"
    rf"|[!?]+(?P<narrow>[{_CLOSERS}]*)(?=\s|\Z)"
    rf"|(?<=[^\s.])\.(?P<stop>[{_CLOSERS}]*)(?=\s|\Z)"
)
"""ASCII marks end a sentence only before white space: 「https://a.cn/?q=1」, 「3.5」, 「a.cn」. `![` begins a picture."""
_WORD_BEFORE = re.compile(r"[^\s(（“\"']*\Z")
_LONGEST_WORD = 20
"""Characters looked at before a full stop."""
_ABBREVIATIONS = frozenset(
    ("e.g", "i.e", "cf", "vs", "no", "nos", "mr", "mrs", "ms", "dr", "prof", "st", "fig", "vol")
)

_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_PAIRED = (
    re.compile(r"\*{2,3}(?=[^\s*])[^*]*[^\s*]\*{2,3}"),
    re.compile(r"(?<![A-Za-z0-9*])\*(?=[^\s*])[^*]*\*(?![A-Za-z0-9*])"),
    re.compile(r"(?<!\w)_{1,2}(?=[^\s_])[^_]*_{1,2}(?!\w)"),
    re.compile(r"~~(?=[^\s~])[^~]*~~"),
)
_UNPAIRED = re.compile(r"`|\*\*|~~|(?<![A-Za-z0-9*])\*(?!\s)|(?<!\w)_(?!\s)|<[A-Za-z/!][^>]*\Z")
_BRACKETS = ("“”", "‘’", "「」", "『』", "（）", "()", "【】", "《》", "[]")
_LINK_TAG = re.compile(r"<a\b.*?(?:(</a\s*>)|\Z)", re.IGNORECASE | re.DOTALL)
"""With what it encloses. May run over line ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    text: str
    start: int
    """Its place in the whole text."""
    is_whole: bool
    """Its line end has come."""
    below: str | None
    """The next line, with its line end if that has come; None for the last."""


def sentence_ends(text: str) -> Iterator[int]:
    """Places behind which a new sentence begins, or nothing has come yet; from the last on."""
    tags = [(found.start(), found.end() if found[1] else len(text) + 1) for found in _LINK_TAG.finditer(text)]
    tried = ((line, ends) for line in reversed(list(_prose(text))) for ends in reversed(_places(line)))
    for line, ends in islice(tried, MOST_TRIED):
        settled = next((end for end in reversed(ends) if _is_settled(line, end)), None)
        place = line.start + (settled or 0)
        if settled and not any(start < place < end for start, end in tags):
            yield place


def _prose(text: str) -> Iterator[_Line]:
    """The lines in which sentences can end."""
    fence = ""
    is_quoted = is_table = False
    for line in _lines(text):
        words = line.text[_end_of_prefix(line.text) :]
        if fence:
            code = _QUOTED.sub("", line.text, count=1) if is_quoted else line.text
            fence = "" if _closes(code.strip(), fence) else fence
        elif _FENCE.match(words):
            fence = _opened(line.text, words)
            is_quoted = _QUOTED.match(line.text) is not None
        elif not words.strip():
            is_table = False
        elif is_table or "|" in line.text:
            # A row, or the head of a table whose line of dashes has not come yet.
            is_table = True
        elif not _HEADING.match(words):
            yield line


def _lines(text: str) -> Iterator[_Line]:
    pieces = text.split("\n")
    start = 0
    for number, piece in enumerate(pieces, start=1):
        is_whole = number < len(pieces)
        below = pieces[number] + "\n" * (number + 1 < len(pieces)) if is_whole else None
        yield _Line(text=piece, start=start, is_whole=is_whole, below=below)
        start += len(piece) + 1


def _end_of_prefix(line: str) -> int:
    found = _PREFIX.match(line)
    return found.end() if found else 0


def _opened(line: str, words: str) -> str:
    """The mark of the fence a line opens; "" where it is code within the line."""
    found = _FENCE.match(words)
    mark = found[0] if found else ""
    if "`" in words[len(mark) :]:
        return "" if mark.startswith("`") else _NEVER
    return mark if line[: -len(words)].strip(" \t>") == "" else _NEVER


def _closes(line: str, fence: str) -> bool:
    return len(line) >= len(fence) and not line.strip(fence[0])


def _places(line: _Line) -> list[range]:
    """Where sentences of a line seem to end: each from right behind the mark to behind what may belong to it."""
    places: list[range] = []
    for found in _END.finditer(line.text):
        kind = next(name for name in ("wide", "narrow", "stop") if found[name] is not None)
        # What follows an ASCII mark decides whether it is an end; a Chinese one is an end in itself.
        if kind != "wide" and found.end() == len(line.text) and not line.is_whole:
            continue
        if kind != "stop" or _is_full_stop(line.text, found):
            places.append(range(found.start(kind), found.end(kind) + 1))
    words = line.text.rstrip()
    if _is_over(line, words) and (not places or places[-1][-1] < len(words)):
        places.append(range(len(words), len(words) + 1))
    return places


def _is_full_stop(line: str, found: re.Match[str]) -> bool:
    """Not that of 「1.」 at the start of an item, of an initial, of 「e.g.」, nor before a small letter."""
    before = _WORD_BEFORE.search(line[max(found.start() - _LONGEST_WORD, 0) : found.start()])
    word = before[0].lower() if before else ""
    after = line[found.end() :].lstrip()[:1]
    is_first = not line[: found.start() - len(word)].strip(" \t>")
    is_numbering = word.isdigit() and (is_first or after.isdigit())
    is_initial = len(word) == 1 and word.isascii() and word.isalpha()
    return not (is_numbering or is_initial or word in _ABBREVIATIONS or after.islower())


def _is_settled(line: _Line, end: int) -> bool:
    """Behind a sentence's mark `**` may close what stands before it, or open what follows. A run of such signs is
    never parted, and at the end of what has come it may go on."""
    sign, after = line.text[end - 1], line.text[end : end + 1]
    if sign in "*_~`" and (after == sign or (not after and not line.is_whole)):
        return False
    return not _is_open(line.text[:end])


def _is_open(words: str) -> bool:
    """Something in the line so far is still to be closed."""
    words = _CODE.sub("", words)
    bare = words[_end_of_prefix(words) :]
    for form in _PAIRED:
        bare = form.sub("", bare)
    if _UNPAIRED.search(bare):
        return True
    return words.count('"') % 2 == 1 or any(words.count(a) > words.count(b) for a, b in _BRACKETS)


def _is_over(line: _Line, words: str) -> bool:
    """A list item before the next one, or a paragraph at its end: finished without a full stop."""
    if (
        line.below is None
        or words[-1] in _LEADS_ON
        or _TITLE.match(words)
        or not any(map(str.isalnum, words))
    ):
        return False
    if not line.below.strip():
        return line.below.endswith("\n")
    return bool(_ITEM.match(line.text) and _ITEM.match(line.below))
