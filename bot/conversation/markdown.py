"""Markdown as a chat shows it: the words without the marks, read once for every channel.

Invariant: pure, and linear in the text; only what surely is a mark goes, so that `c++`, `#话题#`, `a*b*c`,
`file_name_1` stay. No word is lost, code stays as it was written, and a link keeps its address in the
form its channel has for links.

This module reads lines: headings, quotations, lists, tables, fences. `markdown_line.py` reads within one.
"""

import re

from bot.conversation.markdown_line import Link, flatten_line, in_words
from bot.conversation.taps import SHOWN_END, SHOWN_START

__all__ = ["Link", "flatten", "in_words"]

_AS_SHOWN = re.compile(f"{SHOWN_START}([^{SHOWN_START}{SHOWN_END}]*){SHOWN_END}")
_UNASSIGNED = dict.fromkeys(range(0xFDD2, 0xFDF0))
_QUOTATION = re.compile(r"(?: {0,3}>(?=[ \t>]|[^\x00-\x7f]|$)[ \t]?)+")
"""「>=5」 and 「>100 元」 are no quotations."""
_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})[^`\n]*$")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(\S.*)$")
_CLOSING_MARKS = re.compile(r"[ \t]+#+[ \t]*$")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_UNDERLINE = re.compile(r" {0,3}={3,}[ \t]*$")
_ITEM = re.compile(r"([ \t]*)([-*•]|[0-9]{1,9}[.)])[ \t]+(?=\S)")
_TASK = re.compile(r"\[([ xX])\][ \t]+")
_DELIMITER = re.compile(r"[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-+:?[ \t]*\|?[ \t]*$")
_CELL_END = re.compile(r"(?<!\\)\|")
_PLAIN = re.compile(r"[A-Za-z0-9，。！？、；：“”（）《》 \u4e00-\u9fff]*$")
"""Nothing in such a text can be a mark: most replies end here."""
_NARROW_COLUMNS = 2
"""A table this narrow reads well as lines on a phone; in a wider one each cell is named by its column."""
_LONGEST_NAME = 20
"""Characters of a column's name that are worth repeating in each row."""


def flatten(markdown: str, link: Link = in_words) -> str:
    """The text of a reply, without white space at its end or empty lines at its start.

    `link(words, address)` says how a link is shown; addresses are http or https. Taps stay as they are, and
    what `as_shown` marks is left alone and loses its marks.
    """
    if _PLAIN.match(markdown):
        return markdown.strip()
    markdown = markdown.replace("\r\n", "\n").replace("\r", "\n")
    pieces = _AS_SHOWN.split(markdown)
    shown = [
        piece if at % 2 else _flatten_blocks(piece.translate(_UNASSIGNED), link)
        for at, piece in enumerate(pieces)
    ]
    return re.sub(r"\A(?:[ \t]*\n)+", "", "".join(shown)).rstrip()


def _flatten_blocks(text: str, link: Link) -> str:
    lines = text.split("\n")
    shown: list[str] = []
    at = 0
    while at < len(lines):
        line = _unquoted(lines[at])
        if (fence := _FENCE.match(line)) is not None:
            at = _take_code(lines, at, fence, shown)
        elif "|" in line and _begins_table(line, lines, at):
            at = _take_table(lines, at, shown, link)
        elif _RULE.match(line) or (shown and shown[-1].strip() and _UNDERLINE.match(line)):
            at += 1
            # A rule stands between paragraphs: one empty line is enough for that.
            if at < len(lines) and shown and not shown[-1].strip() and not lines[at].strip():
                at += 1
        else:
            shown.append(_flatten_words(line, link))
            at += 1
    return "\n".join(shown)


def _unquoted(line: str) -> str:
    found = _QUOTATION.match(line)
    return line[found.end() :] if found else line


def _take_code(lines: list[str], start: int, fence: re.Match[str], shown: list[str]) -> int:
    """Add a fenced block word for word, less the fence's own indentation. Returns where it ends."""
    indent, mark = len(fence[1]), fence[2]
    is_quoted = _QUOTATION.match(lines[start]) is not None
    words = _unquoted(lines[start])[fence.end(2) :].strip()
    if words and (not words.isascii() or start + 1 == len(lines)):
        # No language's name: somebody opened a fence and wrote on.
        shown.append(words)
    for at in range(start + 1, len(lines)):
        line = _unquoted(lines[at]) if is_quoted else lines[at]
        bare = line.strip()
        if len(bare) >= len(mark) and not bare.strip(mark[0]):
            return at + 1
        leading = len(line) - len(line.lstrip(" \t"))
        shown.append(line[min(indent, leading) :])
    return len(lines)


def _flatten_words(line: str, link: Link) -> str:
    """One line that is neither code nor part of a table."""
    if heading := _HEADING.match(line):
        return flatten_line(_CLOSING_MARKS.sub("", heading[1]), link).strip()
    item = _ITEM.match(line)
    if item is None:
        return flatten_line(line, link).rstrip()
    mark = "-" if item[2] == "*" else item[2]
    words = line[item.end() :]
    if task := _TASK.match(words):
        mark, words = "☐" if task[1] == " " else "☑", words[task.end() :]
    indent = item[1].replace("\t", "  ")
    return f"{indent}{mark} {flatten_line(words, link).rstrip()}"


def _begins_table(head: str, lines: list[str], at: int) -> bool:
    below = _unquoted(lines[at + 1]) if at + 1 < len(lines) else ""
    return "|" in below and bool(_DELIMITER.match(below)) and len(_cells(head)) == len(_cells(below))


def _take_table(lines: list[str], start: int, shown: list[str], link: Link) -> int:
    """Add a table as lines. Returns where it ends."""
    head = [flatten_line(cell, link) for cell in _cells(_unquoted(lines[start]))]
    rows: list[list[str]] = []
    at = start + 2
    while at < len(lines) and "|" in (line := _unquoted(lines[at])):
        rows.append([flatten_line(cell, link) for cell in _cells(line)])
        at += 1
    if len(head) <= _NARROW_COLUMNS or not rows:
        shown += [" | ".join(cells) for cells in (head, *rows)]
    else:
        shown += [_named_cells(head, row) for row in rows]
    return at


def _named_cells(head: list[str], row: list[str]) -> str:
    """「房型：大床；价格：300」. Cells beyond the head have no name."""
    names = [*(name if len(name) <= _LONGEST_NAME else "" for name in head), *[""] * (len(row) - len(head))]
    return "；".join(
        f"{name}：{cell}" if name else cell for name, cell in zip(names, row, strict=False) if cell
    )


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return [cell.strip() for cell in _CELL_END.split(inner)]
