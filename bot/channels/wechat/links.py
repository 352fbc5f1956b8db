"""What a person can tap in a WeChat text: links to pages, and words that tapping sends.

Invariant: after `tidy` a text holds no tag but `<a href="http(s)…">words</a>`, no `weixin:` address, and
nothing XML 1.0 cannot carry; links into WeChat itself come from taps alone, in `shown`.

A tap is words between TAP_START and TAP_END, two characters Unicode reserves for a program's own use:
whoever uses this adapter keeps them out of what people and models write (`tidy` drops all but whole taps).
Source of the tap's form: 微信官方文档 · 公众号 · 客服消息 · 菜单消息.
"""

import re

from .parsing import strip_illegal

TAP_START, TAP_END = "\ufdd0", "\ufdd1"
LONGEST_ANCHOR_BYTES = 1000
"""A link is never cut, so it takes at most half a page; a longer one is written out, where it may be cut."""

ANCHOR = re.compile(r'<a href="(https?://[^\s"\'<>`]+)">([^<>\n]+)</a>')
TAP_ANCHOR = re.compile(r'<a href="weixin://bizmsgmenu\?msgmenucontent=[^"]*&msgmenuid=1">([^<>\n]+)</a>')
TAP = re.compile(f"{TAP_START}([^\ufdd0-\ufdef<>&\"'\\s]{{1,20}}){TAP_END}")
_TAG = re.compile(r"</?a(?:[\s/][^<>]*)?>", re.IGNORECASE)
_TAG_START = re.compile(r"<(?=/?a\b)", re.IGNORECASE)
_INTO_WECHAT = re.compile(r"weixin:/[^\s<>\"'“”‘’（）()，。]*", re.IGNORECASE)
_MARK = re.compile("[\ufdd0-\ufdef]")
_RESERVED = dict.fromkeys(range(0xFDD0, 0xFDF0))
_UNSAFE = re.compile(r"[\s\"'<>`^{|}\\]")
_BLANKS = re.compile(r"\s{200,}")
"""More would fill a page that shows nothing, which WeChat takes for a fault."""
_HELD_BLANKS = 200


def anchor(words: str, address: str) -> str:
    """A link to a page. What its address may not hold is percent-encoded; `&` stays, as WeChat expects.

    Without words, where they are an address themselves (they could belie the real one), or beyond
    LONGEST_ANCHOR_BYTES: the address in words.
    """
    address = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), address)
    scheme, colon, rest = address.partition(":")
    address = scheme.lower() + colon + rest
    words = _INTO_WECHAT.sub("", words.translate(_RESERVED)).replace("<", "＜").replace(">", "＞")
    words = " ".join(words.split())
    if not words or "://" in words:
        return address
    link = f'<a href="{address}">{words}</a>'
    return link if len(link.encode(errors="replace")) <= LONGEST_ANCHOR_BYTES else f"{words}（{address}）"


def tidy(text: str) -> str:
    """The text without what must not go out. Taps stay taps; a second time changes nothing."""
    text = strip_illegal(text).replace("\r\n", "\n").replace("\r", "\n")
    if _MARK.search(text):
        text = _without_stray_marks(text)
    if "<" in text or ":/" in text:
        text = _without_foreign_links(text)
    return _BLANKS.sub(lambda found: found[0][:_HELD_BLANKS], text)


def shown(text: str, *, taps: bool = True) -> str:
    """The text as it is sent: `tidy`, and taps as links, or as their words alone."""
    text = tidy(text)
    if TAP_START not in text:
        return text
    return TAP.sub(tap_anchor if taps else r"\1", text)


def tap_anchor(tap: re.Match[str]) -> str:
    words = tap[1]
    return f'<a href="weixin://bizmsgmenu?msgmenucontent={words}&msgmenuid=1">{words}</a>'


def _without_stray_marks(text: str) -> str:
    parts: list[str] = []
    at = 0
    for tap in TAP.finditer(text):
        parts += (text[at : tap.start()].translate(_RESERVED), tap[0])
        at = tap.end()
    return "".join((*parts, text[at:].translate(_RESERVED)))


def _without_foreign_links(text: str) -> str:
    parts: list[str] = []
    at = 0
    for link in ANCHOR.finditer(text):
        parts += (_without_tags(text[at : link.start()]), _tidied(link))
        at = link.end()
    return "".join((*parts, _without_tags(text[at:])))


def _tidied(link: re.Match[str]) -> str:
    words = _INTO_WECHAT.sub("", link[2])
    if words == link[2] and TAP_START not in words and len(link[0].encode()) <= LONGEST_ANCHOR_BYTES:
        return link[0]
    return anchor(words, link[1])


def _without_tags(text: str) -> str:
    """Tags first: what they part may join to an address."""
    text = _INTO_WECHAT.sub("", _TAG.sub("", text))
    return _TAG_START.sub("＜", text)
