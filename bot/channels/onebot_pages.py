"""Pages: a reply without marks, a long one cut into messages that a QQ client shows whole.

Invariant: the pages joined are the text as `shown`; none is empty or longer than `LONGEST`; none begins
inside what a reader sees as one character; no tap and no Markdown is left in them.
"""

import re
import unicodedata

from bot.conversation.markdown import flatten
from bot.conversation.taps import without_taps

LONGEST = 1_500
"""Characters. QQ takes about 4,500 bytes in a message; longer ones are refused or turned into a
forwarded card, which fails more often (PROTOCOLS.md: split)."""

_ENDS = (
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"[。！？!?；;…]+[”’」』）)]*|\.\s"),
    re.compile(r"[，、,：:]|\s"),
)
"""Where to cut, best first: paragraph, line, sentence, clause."""
_JOINERS = frozenset("\u200d\ufe0e\ufe0f\u20e3")


def shown(text: str) -> str:
    """The text as QQ shows it: no Markdown, links in words, nothing to tap."""
    return without_taps(flatten(text)).strip()


def pages_of(text: str) -> tuple[str, ...]:
    """The text in pages, at the best place in the second half of each. "" has none."""
    text = shown(text)
    pages: list[str] = []
    while len(text) > LONGEST:
        cut = _cut(text)
        pages.append(text[:cut])
        text = text[cut:]
    return (*pages, text) if text else tuple(pages)


def _cut(text: str) -> int:
    """Where the first page of a text that is too long ends."""
    for end in _ENDS:
        found = [match.end() for match in end.finditer(text, LONGEST // 2, LONGEST)]
        clean = [cut for cut in found if not _is_inside_character(text, cut)]
        if clean:
            return clean[-1]
    cut = LONGEST
    while cut > LONGEST // 2 and _is_inside_character(text, cut):
        cut -= 1
    return cut


def _is_inside_character(text: str, cut: int) -> bool:
    """Whether a cut here parts a letter from its mark, or an emoji from its other half."""
    before, after = text[cut - 1], text[cut]
    if after in _JOINERS or before == "\u200d" or unicodedata.category(after).startswith("M"):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff":  # a skin tone
        return True
    flags = 0  # two regional indicators are one flag
    while flags < cut and "\U0001f1e6" <= text[cut - 1 - flags] <= "\U0001f1ff":
        flags += 1
    return "\U0001f1e6" <= after <= "\U0001f1ff" and flags % 2 == 1
