"""Markdown as people read it in a chat: the words without the marks.

Invariant: pure, linear; only what surely is a mark goes, so that `c++`, `a*b*c`, `2 * 3` and `file_name_1`
stay. No word is lost, and a link keeps its address.
"""

import re2

_CODE = re2.compile(r"`([^`\n]+)`")
_ESCAPED = re2.compile(r"\\([\\`*_{}\[\]()#+\-.!|>~])")
_LINK = re2.compile(r"\[([^\[\]\n]+)\]\(([^()\s]+)(?:\s+\"[^\"\n]*\")?\)")
_MARKS = (
    (re2.compile(r"(?m)^[ \t]*(?:```|~~~)[^\n]*\n?"), ""),
    (re2.compile(r"(?m)^ {0,3}#{1,6}[ \t]+"), ""),
    (re2.compile(r"(?m)^ {0,3}(?:>[ \t]?)+"), ""),
    (re2.compile(r"(?m)^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*(?:\n|$)"), ""),
    (re2.compile(r"(?m)^[ \t]*\|[ \t]*|[ \t]*\|[ \t]*$"), ""),
    (re2.compile(r"!\[([^\[\]\n]*)\]\([^()\n]*\)"), r"\1"),
    (re2.compile(r"<((?:https?://|mailto:)[^<>\s]+)>"), r"\1"),
    (re2.compile(r"\*\*\*([^*\s][^*\n]*[^*\s]|[^*\s])\*\*\*"), r"\1"),
    (re2.compile(r"\*\*([^*\s][^*\n]*[^*\s]|[^*\s])\*\*"), r"\1"),
    (re2.compile(r"~~([^~\n]+)~~"), r"\1"),
    (re2.compile(r"(?i)<br[ \t]*/?>"), "\n"),
)
_SINGLE_MARKS = (
    (re2.compile(r"(^|[^\pL\pN_])_{1,2}([^_\s][^_\n]*[^_\s]|[^_\s])_{1,2}([^\pL\pN_]|$)"), r"\1\2\3"),
    (re2.compile(r"(^|[^A-Za-z0-9*])\*([^*\s][^*\n]*[^*\s]|[^*\s])\*([^A-Za-z0-9*]|$)"), r"\1\2\3"),
)
"""They share the character between two of them, so they are taken off twice."""
_SIGNS = "\\`*_{}[]()#+-.!|>~<"
_HIDE = {ord(sign): chr(0xE000 + ord(sign)) for sign in _SIGNS}
_SHOW = {ord(hidden): chr(sign) for sign, hidden in _HIDE.items()}
"""Code and escaped signs are put out of the way as characters of the private use area."""


def plain_text(markdown: str) -> str:
    """The text of a piece of Markdown; the cells of a table row stay separated by 「 | 」."""
    text = _CODE.sub(lambda found: found.group(1).translate(_HIDE), markdown)
    text = _ESCAPED.sub(lambda found: found.group(1).translate(_HIDE), text)
    for form, kept in _MARKS:
        text = form.sub(kept, text)
    text = _LINK.sub(lambda found: f"{found.group(1)}（{found.group(2)}）", text)
    for form, kept in _SINGLE_MARKS * 2:
        text = form.sub(kept, text)
    return text.translate(_SHOW).strip()
