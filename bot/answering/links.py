"""Take out links that come from memory: a reply never sends people where a memory points.

Invariant: pure, linear; everything that is no link stays as it is. Nothing that comes behind the end of a sentence
changes what becomes of the words before it (`sentences.py`), so that they may be shown before the rest is there.
"""

import re2

from bot.conversation.taps import clean, without_taps

_LINK = re2.compile(
    r"(?i)[a-z][a-z0-9+.\-]{1,15}://[^\s<>\"“”()，。；！？（）》]+"
    r"|\b(?:[a-z0-9\-]+\.)+(?:com|cn|net|org|io|cc|me|top|xyz|vip|club|shop|site|info|app|dev|link|ly|co|tv|wang|ru|tk)"
    r"(?:[:/?#][^\s<>\"“”()，。；！？（）》]*)?"
)

_TAG = re2.compile(r"(?i)<a\b[^>]*>|</a>")
"""WeChat shows it as something to tap, also as a command to the bot itself: never from people's text."""


def may_hold_link(text: str) -> bool:
    """Whether it has a mark that every address has one of."""
    return "." in text or "://" in text


def without_links(text: str, substitute: str, *, only: str | None = None, allowed: str = "") -> str:
    """The text with links replaced by `substitute`: those that `only` holds (None: all), but not those
    that `allowed` holds. Link tags, links into WeChat itself and the house's own characters always go."""
    # In this order: what is taken out may join what stands around it to a tag or an address.
    text = without_taps(text)
    if "<" in text:
        text = _TAG.sub("", text)
    text = clean(text)
    if not may_hold_link(text):
        return text
    pieces: list[str] = []
    end = 0
    for match in _LINK.finditer(text):
        link = text[match.start() : match.end()].rstrip("/.")
        if link in allowed or (only is not None and link not in only):
            continue
        pieces += (text[end : match.start()], substitute)
        end = match.end()
    return "".join((*pieces, text[end:]))
