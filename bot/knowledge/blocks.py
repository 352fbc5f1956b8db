"""Blocks: the headings, paragraphs, tables and code of a Markdown or plain-text document.

Invariant: reading never fails. What is not recognised is a paragraph; only a Markdown document's
front matter, its rules and the marks of headings and fences are left out.
"""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise


class BlockKind(StrEnum):
    """What a block is, as far as cutting it matters."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of a document between blank lines, or a heading."""

    kind: BlockKind
    text: str
    level: int = 0
    """Of a heading: 1 is the highest."""


_WRAPPED_COLUMNS = 60
"""A line at least this wide that ends in mid-sentence was broken by an editor, not by its writer."""
_LONGEST_PLAIN_HEADING = 30
"""Characters: a longer numbered line of plain text is a sentence."""

_FRONT_MATTER = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)\n", re.DOTALL)
_ATX = re.compile(r" {0,3}(#{1,6})(?:\s+(.*?))?\s*#*\s*")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}([-*_])(?:\s*\1){2,}\s*")
_SETEXT = re.compile(r"=+\s*|-{3,}\s*")
_TABLE_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")
_ITEM = re.compile(r"\s*(?:[-*+•·>|]|\d+[.)、．]|[（(]?[一二三四五六七八九十]+[、）)])")
_SENTENCE_END = tuple("。！？!?；;：:…”」』）).")

_NUMERAL = "[0-9〇零一二三四五六七八九十百]+"
_PLAIN_HEADINGS = (
    (re.compile(rf"第{_NUMERAL}[章篇编]|第{_NUMERAL}部分|附录"), 1),
    (re.compile(rf"第{_NUMERAL}节|[一二三四五六七八九十]+、"), 2),
    (re.compile(r"[（(][一二三四五六七八九十]+[）)]"), 3),
)
_NUMBERED = re.compile(r"(\d+(?:\.\d+)*)[.、．]?\s+\S")


def blocks_of(text: str, *, is_markdown: bool) -> list[Block]:
    """The blocks of a document, in order. Line ends must be line feeds."""
    return _markdown_blocks(_FRONT_MATTER.sub("", text)) if is_markdown else _plain_blocks(text)


def _markdown_blocks(text: str) -> list[Block]:
    blocks: list[Block] = []
    lines = text.split("\n")
    paragraph: list[str] = []
    position = 0

    def close() -> None:
        if paragraph:
            blocks.append(Block(kind=_kind_of(paragraph), text=_unwrapped(paragraph)))
            paragraph.clear()

    while position < len(lines):
        line = lines[position]
        position += 1
        if fence := _FENCE.match(line):
            close()
            end = _fence_end(lines, position, fence[1])
            blocks.append(Block(kind=BlockKind.CODE, text="\n".join(lines[position:end])))
            position = end + 1
        elif atx := _ATX.fullmatch(line):
            close()
            if atx[2]:
                blocks.append(Block(kind=BlockKind.HEADING, text=atx[2], level=len(atx[1])))
        elif len(paragraph) == 1 and _SETEXT.fullmatch(line) and not _ITEM.match(paragraph[0]):
            level = 1 if line.startswith("=") else 2
            blocks.append(Block(kind=BlockKind.HEADING, text=paragraph.pop().strip(), level=level))
        elif line.strip() and not _RULE.fullmatch(line):
            paragraph.append(line)
        else:
            close()
    close()
    return blocks


def _fence_end(lines: list[str], start: int, fence: str) -> int:
    """The line that closes a fence, or the end of the document."""
    for position in range(start, len(lines)):
        line = lines[position].strip()
        if len(line) >= len(fence) and set(line) == {fence[0]}:
            return position
    return len(lines)


def _kind_of(lines: list[str]) -> BlockKind:
    is_table = len(lines) > 1 and "|" in lines[0] and _TABLE_RULE.fullmatch(lines[1]) is not None
    return BlockKind.TABLE if is_table else BlockKind.PARAGRAPH


def _plain_blocks(text: str) -> list[Block]:
    blocks: list[Block] = []
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [line for line in paragraph.split("\n") if line.strip()]
        if not lines:
            continue
        level = _plain_level(lines[0].strip())
        is_list = len(lines) > 1 and _plain_level(lines[1].strip()) > 0
        if level and not is_list:
            blocks.append(Block(kind=BlockKind.HEADING, text=lines[0].strip(), level=level))
            lines = lines[1:]
        if lines:
            blocks.append(Block(kind=BlockKind.PARAGRAPH, text=_unwrapped(lines)))
    return blocks


def _plain_level(line: str) -> int:
    """The level of a plain-text heading, 0 when the line is none."""
    if len(line) > _LONGEST_PLAIN_HEADING or line.endswith(_SENTENCE_END) or "，" in line:
        return 0
    for form, level in _PLAIN_HEADINGS:
        if form.match(line):
            return level
    numbered = _NUMBERED.match(line)
    return numbered[1].count(".") + 1 if numbered else 0


def _unwrapped(lines: list[str]) -> str:
    """The lines of a paragraph, with those joined again that an editor broke to fit a width."""
    text = lines[0].strip()
    for before, line in pairwise(lines):
        is_broken = (
            _columns(before) >= _WRAPPED_COLUMNS
            and not before.rstrip().endswith(_SENTENCE_END)
            and not _ITEM.match(line)
        )
        if not is_broken:
            text += "\n" + line.rstrip()
        elif _is_wide(text[-1]) and _is_wide(line.strip()[0]):
            text += line.strip()
        else:
            text += " " + line.strip()
    return text


def _columns(line: str) -> int:
    return sum(2 if _is_wide(character) else 1 for character in line.rstrip())


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF"
