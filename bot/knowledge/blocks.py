"""Blocks: the headings, paragraphs, tables and code of a Markdown or plain-text document.

Invariant: reading never fails. What is not recognised is a paragraph; only a Markdown document's
front matter, its rules and the marks of headings and fences are left out.
"""

import re
import unicodedata
from collections.abc import Iterator
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
_STOPS = tuple("。！？!?；;：:…、,.|")
"""What no heading ends with."""

_NUMERAL = "[0-9〇零一二三四五六七八九十百]+"
_PLAIN_HEADINGS = (
    (re.compile(rf"第{_NUMERAL}[章篇编]|第{_NUMERAL}部分|附录"), 1),
    (re.compile(rf"第{_NUMERAL}节|[一二三四五六七八九十]+、"), 2),
    (re.compile(r"[（(][一二三四五六七八九十]+[）)]"), 3),
)
_NUMBERED = re.compile(r"(\d+(?:\.\d+)*)[.、．]?\s+\S|(\d+(?:\.\d+)+)[.、．]?[\u4e00-\u9fff]")
_TITLE_LEVEL = 0
_BELOW_CHINESE = 3
"""Where 一、 and （一） are used, 1. and 1.1 stand below them."""
_BY_LAYOUT = 9
"""A heading known by its place alone stands below all numbered ones."""
_INDENT = re.compile(r"(?: {2,}|\t|\u3000)\s*\S")


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
    paragraphs = [
        lines
        for paragraph in re.split(r"\n\s*\n(?=\s*\S)", text)
        if (lines := [line for line in paragraph.split("\n") if line.strip()])
    ]
    has_chinese = any(_chinese_level(line) > 0 for lines in paragraphs for line in lines)
    headings = _Headings(_BELOW_CHINESE if has_chinese else 0)
    blocks: list[Block] = []
    for position, lines in enumerate(paragraphs):
        following = paragraphs[position + 1][0] if position + 1 < len(paragraphs) else ""
        if position == 0 and following and len(lines) == 1 and headings.is_title(lines[0]):
            blocks.append(Block(kind=BlockKind.HEADING, text=lines[0].strip(), level=_TITLE_LEVEL))
        else:
            blocks.extend(_paragraph_blocks(lines, following, headings))
    return blocks


def _paragraph_blocks(lines: list[str], following: str, headings: "_Headings") -> Iterator[Block]:
    """The blocks of a plain paragraph: its first line may be a heading, and lines within."""
    held: list[str] = []
    for position, line in enumerate(lines):
        level = headings.level(lines, position, following)
        if not level:
            held.append(line)
            continue
        if held:
            yield Block(kind=BlockKind.PARAGRAPH, text=_unwrapped(held))
            held = []
        yield Block(kind=BlockKind.HEADING, text=line.strip(), level=level)
    if held:
        yield Block(kind=BlockKind.PARAGRAPH, text=_unwrapped(held))


@dataclass(frozen=True, slots=True)
class _Headings:
    """What a heading is in one plain document."""

    below: int
    """The level below which 1. and 1.1 stand."""

    def level(self, lines: list[str], position: int, following: str) -> int:
        """The level of a line of a paragraph, 0 when it is no heading.

        `following`: the first line of the next paragraph.
        """
        line = lines[position]
        before = lines[position - 1] if position else ""
        after = lines[position + 1] if position + 1 < len(lines) else ""
        level = self._numbered_level(line)
        if not level:
            is_above = bool(_INDENT.match(after or following)) and not _INDENT.match(line)
            begins = position == 0 or bool(_INDENT.match(before))
            return _BY_LAYOUT if begins and is_above and _may_be_heading(line) else 0
        # The items of a list follow one another; 1. and 2. are steps wherever they share a paragraph.
        rivals = (before, after) if self._is_sure(line) else (*lines[:position], *lines[position + 1 :])
        is_item = any(self._numbered_level(rival) == level for rival in rivals)
        return 0 if is_item or (position and not self._is_sure(line)) else level

    def _is_sure(self, line: str) -> bool:
        """第一章, 一、, （一） and 1.1 are headings also in the middle of a paragraph, 1. is not."""
        return _chinese_level(line) > 0 or self._numbered_level(line) > self.below + 1

    def is_title(self, line: str) -> bool:
        return self._numbered_level(line) == 0 and _may_be_heading(line)

    def _numbered_level(self, line: str) -> int:
        if not _may_be_heading(line):
            return 0
        if level := _chinese_level(line):
            return level
        numbered = _NUMBERED.match(line.strip())
        return self.below + (numbered[1] or numbered[2]).count(".") + 1 if numbered else 0


def _chinese_level(line: str) -> int:
    """The level of 第一章, 一、 and （一）; 0 for other lines."""
    if not _may_be_heading(line):
        return 0
    return next((level for form, level in _PLAIN_HEADINGS if form.match(line.strip())), 0)


def _may_be_heading(line: str) -> bool:
    text = line.strip()
    return 0 < len(text) <= _LONGEST_PLAIN_HEADING and not text.endswith(_STOPS) and "，" not in text


def _unwrapped(lines: list[str]) -> str:
    """The lines of a paragraph, with those joined again that an editor broke to fit a width."""
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    lines = [line[margin:] for line in lines]
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
