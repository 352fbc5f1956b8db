"""Words a person may tap instead of typing, and the invisible characters that carry them.

Invariant: the characters U+FDD0–U+FDEF (which Unicode reserves for a program's own use) come from the
catalogue and the house's code alone: what people, memories or models write never keeps one, nor a link
into WeChat itself, so nobody can make the bot show a tap that speaks for its reader.
"""

import re

TAP_START, TAP_END = "\ufdd0", "\ufdd1"
"""Around the words of a tap: tapping sends them, as if they were typed."""
SHOWN_START, SHOWN_END = "\ufdd2", "\ufdd3"
"""Around text that is already as its channel shows it, so that it is not read as Markdown again."""
TAP_BYTES = 62
"""What WeChat's link around a tap takes beside the words, which it holds twice."""

_RESERVED = dict.fromkeys(range(0xFDD0, 0xFDF0))
_WRITTEN = re.compile(r"‹([^‹›{}<>&\"'\s]{1,20})›")
"""A tap as the catalogue writes it. No place for a value inside: no one's words become a tap."""
_TAP = re.compile(f"{TAP_START}([^\ufdd0-\ufdef]*){TAP_END}")
_INTO_WECHAT = re.compile(r"weixin:/[^\s<>\"'“”‘’（）()，。]*", re.IGNORECASE)


def with_taps(sentence: str) -> str:
    """A sentence of the catalogue with its `‹words›` marked as taps."""
    return _WRITTEN.sub(f"{TAP_START}\\1{TAP_END}", sentence)


def without_taps(text: str) -> str:
    """The words alone, for a channel that has no taps, for memory and for a terminal."""
    return text.translate(_RESERVED)


def clean(text: str) -> str:
    """What somebody else wrote, without the house's characters and without `weixin:` links."""
    return _INTO_WECHAT.sub("", text.translate(_RESERVED))


def as_shown(text: str) -> str:
    """Mark a piece of a reply as already rendered for its channel: a stored page, say."""
    return f"{SHOWN_START}{text}{SHOWN_END}"


def shown_bytes(text: str) -> int:
    """UTF-8 bytes a text takes where it takes the most: on WeChat, with its taps as links."""
    taps = sum(TAP_BYTES + len(words.encode("utf-8", "replace")) for words in _TAP.findall(text))
    return len(without_taps(text).encode("utf-8", "replace")) + taps
