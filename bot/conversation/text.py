"""Forms of a person's text that rules and commands compare: what people see as equal becomes equal.

Invariant: pure, total (any `str` is accepted, lone surrogates too), and never used for what is stored
or sent: the person's own words stay as they wrote them.
"""

import re
import unicodedata
from functools import lru_cache

from bot.conversation.lexical import fold

_INVISIBLE = dict.fromkeys(
    [
        *range(0x200B, 0x2010),  # zero-width space and joiners, direction marks
        *range(0x202A, 0x202F),  # direction embedding
        *range(0x2060, 0x2065),
        *range(0xFE00, 0xFE10),  # variation selectors: the same emoji, drawn differently
        0x00AD,
        0xFEFF,
        0x20E3,  # keycap frame
    ]
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACES = re.compile(r"\s+")
_SLASHES = "/／"
_IGNORED_AT_START = "".join(map(chr, _INVISIBLE)) + " \t\r\n\u00a0\u3000"
_LATELY = 64
"""Texts whose forms are kept: trifles, rules, commands and products each ask for the same one in a row."""


@lru_cache(_LATELY)
def clean(text: str) -> str:
    """Without invisible characters, with plain single spaces (U+3000 and U+00A0 too), trimmed.

    Case and width stay. Lone surrogates become U+FFFD, so the result can always be encoded.
    """
    visible = _SURROGATE.sub("\ufffd", text.translate(_INVISIBLE))
    return _SPACES.sub(" ", visible).strip()


@lru_cache(_LATELY)
def normalise(text: str) -> str:
    """`clean`, and width, ligatures and case folded (NFKC)."""
    return _SPACES.sub(" ", fold(clean(text))).strip()


@lru_cache(_LATELY)
def content(text: str) -> str:
    """Only the letters and digits of the normalised text: no punctuation, space, symbol, emoji."""
    return "".join(filter(_is_content, normalise(text)))


def is_blank(text: str) -> bool:
    """Nothing in it can be seen."""
    return not clean(text)


def after_slash(text: str) -> str | None:
    """What follows the slash of 「/名字 参数」, half or full width, as written. None: no command.

    Case, width and line breaks stay: the argument may be somebody's words to remember.
    """
    start = text.lstrip(_IGNORED_AT_START)
    if not start or start[0] not in _SLASHES:
        return None
    rest = start[1:].translate(_INVISIBLE).strip()
    return rest if rest and _is_content(rest[0]) else None


def clip(text: str, limit_characters: int) -> str:
    """The text on one line, cut to at most `limit_characters` with an ellipsis."""
    line = clean(text)
    return line if len(line) <= limit_characters else line[: limit_characters - 1].rstrip() + "…"


def _is_content(character: str) -> bool:
    return unicodedata.category(character)[0] in "LNM"
