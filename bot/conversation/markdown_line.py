"""Markdown within one line: code, links, emphasis.

Invariant: pure, and linear in the line. Code, addresses and escaped signs are set aside before emphasis is
looked for, so that nothing in them counts as a mark.
"""

import re
from collections.abc import Callable
from typing import TypeAlias

Link: TypeAlias = Callable[[str, str], str]
"""(words, http or https address) → how a channel shows the link."""

_ASIDE = "\ufdee"
"""Stands for a piece set aside. Free: the caller takes out what the house has not assigned."""
_LOOKS_MARKED = re.compile(r"[`\\\[<*_~]")
_TOKEN = re.compile(
    r"""
    (?P<ticks>`+)
    |\\(?P<escaped>[\\`*_{}\[\]()\#+\-.!|>~<])
    |(?P<url>https?://[^\s<>"`“”‘’（）《》【】，。；！？、…]+)
    |(?P<image>!)?\[(?P<words>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]
      \(\s*(?P<to><[^<>]*>|[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)
    |<(?P<auto>(?:https?://|mailto:)[^<>\s]+|[\w.+\-]+@[\w.\-]+)>
    |<a\b(?P<tag>[^<>]*)>(?:(?P<inner>[^<>]*)</a\s*>)?
    |(?P<end></a\s*>)
    |(?P<break><br\s*/?>|</?p>)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HREF = re.compile(r"""(?:^|\s)href\s*=\s*["']?(https?://[^"'\s]+)""", re.IGNORECASE)
_HTTP = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_CONTACT = re.compile(r"(?:mailto|tel):", re.IGNORECASE)
_PATH = re.compile(r"[\x21-\x7e]*[./\#][\x21-\x7e]*")
_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]*:", re.IGNORECASE)
_MARKS_AFTER_URL = "*_~"

_ITALIC = re.compile(r"(?<![A-Za-z0-9*])\*(?![\s*])([^*]*[^\s*])\*(?![A-Za-z0-9*])")
_BOLD = re.compile(r"(?<!\*)(\*{2,3})(?![\s*])([^*]*[^\s*])\1(?!\*)")
_UNDERLINED = re.compile(r"(?<!\w)(_{1,2})(?![\s_])([^_]*[^\s_])\1(?!\w)")
_STRUCK = re.compile(r"~~(?![\s~])([^~]*[^\s~])~~")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]")


def in_words(words: str, address: str) -> str:
    """A link where nothing can be tapped: 「words（address）」."""
    return address if words == address else f"{words}（{address}）"


def flatten_line(line: str, link: Link) -> str:
    """The line without its marks. It holds no line end; `<br>` makes one."""
    if not _LOOKS_MARKED.search(line):
        return line
    reader = _Reader(line, link)
    return reader.restored(_without_emphasis(reader.skeleton()))


class _Reader:
    """Sets aside what is no prose, and puts it back."""

    def __init__(self, line: str, link: Link) -> None:
        self._line = line
        self._link = link
        self._aside: list[str] = []

    def skeleton(self) -> str:
        """The line with each piece that is set aside as one character."""
        line, parts, at = self._line, list[str](), 0
        closings = _closing_ticks(line)
        while (found := _TOKEN.search(line, at)) is not None:
            parts.append(line[at : found.start()])
            shown, at = self._read(found, closings)
            if shown is not None:
                self._aside.append(shown)
                parts.append(_ASIDE)
        parts.append(line[at:])
        return "".join(parts)

    def restored(self, skeleton: str) -> str:
        pieces = iter(self._aside)
        return re.sub(_ASIDE, lambda _: next(pieces), skeleton)

    def _read(self, found: re.Match[str], closings: dict[int, int]) -> tuple[str | None, int]:
        """What a token shows (None: nothing), and where reading goes on."""
        kind, end = found.lastgroup, found.end()
        if found["ticks"]:
            return self._read_code(found, closings)
        if found["escaped"]:
            return found["escaped"], end
        if found["url"]:
            url = found["url"].rstrip(_MARKS_AFTER_URL)
            return url, found.start() + len(url)
        if found["words"] is not None:
            return self._read_link(found), end
        if found["auto"]:
            return _CONTACT.sub("", found["auto"]), end
        if found["tag"] is not None:
            return self._read_anchor(found)
        return ("\n" if kind == "break" else None), end

    def _read_code(self, found: re.Match[str], closings: dict[int, int]) -> tuple[str, int]:
        closing = closings.get(found.start())
        if closing is None:
            return found["ticks"], found.end()
        code = self._line[found.end() : closing]
        if code.startswith(" ") and code.endswith(" ") and code.strip():
            code = code[1:-1]
        return code, closing + len(found["ticks"])

    def _read_link(self, found: re.Match[str]) -> str:
        words = flatten_line(found["words"], _only_words).strip()
        to = found["to"].strip("<>").replace("\\", "")
        if _HTTP.match(to):
            return self._link(words or to, to)
        if _CONTACT.match(to):
            return in_words(words, _CONTACT.sub("", to))
        # A scheme that a chat must not open (javascript:, weixin:): the words alone. So for a picture's file.
        if _SCHEME.match(to) or found["image"]:
            return words
        return in_words(words, to) if _PATH.fullmatch(to) else found[0]

    def _read_anchor(self, found: re.Match[str]) -> tuple[str | None, int]:
        """`<a href="http…">` is a link; any other tag of the kind goes, and what it encloses is read on."""
        href = _HREF.search(found["tag"])
        if href is None or not (found["inner"] or "").strip():
            return None, found.start() + len("<a>") + len(found["tag"])
        return self._link(flatten_line(found["inner"], _only_words).strip(), href[1]), found.end()


def _only_words(words: str, _address: str) -> str:
    return words


def _closing_ticks(line: str) -> dict[int, int]:
    """Where each run of backticks begins → where the next one of its length does."""
    closings: dict[int, int] = {}
    later: dict[int, int] = {}
    for run in reversed(list(re.finditer("`+", line))):
        length = len(run[0])
        if length in later:
            closings[run.start()] = later[length]
        later[length] = run.start()
    return closings


def _without_emphasis(text: str) -> str:
    if "*" in text:
        # Emphasis nests either way round, and each form looks only at what holds none of its own.
        text = _ITALIC.sub(r"\1", _BOLD.sub(_read_bold, _ITALIC.sub(r"\1", text)))
    if "_" in text:
        text = _UNDERLINED.sub(_read_underlined, text)
    return _STRUCK.sub(r"\1", text) if "~~" in text else text


def _read_bold(found: re.Match[str]) -> str:
    """`2**3**4` is a calculation."""
    before, after = found.string[: found.start()][-1:], found.string[found.end() :][:1]
    return found[0] if _ASCII_WORD.match(before) and _ASCII_WORD.match(after) else found[2]


def _read_underlined(found: re.Match[str]) -> str:
    """`__init__` is a name."""
    return found[0] if found[1] == "__" and found[2].isascii() and found[2].isalnum() else found[2]
