"""Pages for the QQ official bot: plain text without addresses and without anything that calls people.

Invariant: the pages joined are the text as `shown`; none is empty or longer than `LONGEST`; no tap, Markdown
or code of the platform is left in them, and no address that QQ refuses. What was rewritten is said, once.
"""

import re
from collections.abc import Collection

from bot.channels.onebot_pages import LONGEST
from bot.channels.onebot_pages import pages_of as plain_pages
from bot.conversation.markdown import flatten
from bot.conversation.taps import as_shown, without_taps

__all__ = ["LONGEST", "QQPages", "halves", "without_dots"]

DOT = "。"
"""In place of the dots of an address. Any sign would do that QQ doesn't read as one and everyone can type."""

_ENDINGS = (
    "com|cn|net|org|io|co|cc|top|xyz|info|tv|vip|shop|app|dev|site|online|tech|club|wang|ink|ltd|edu|gov|mil|biz"
    "|ai|hk|tw|jp|kr|uk|de|fr|ru|eu|asia|mobi|icu|gg|moe|cloud|wiki|中国|公司|网络|网址"
)
"""Of the addresses people here write without `https://`. Not `md`, `py`, `js`: those are files."""
_WORDY_ENDINGS = "me|to|so|be|ly|im|us|pro|fun|pub|link|live|group|name|work|page|store"
"""Those that are words too, and need a path: 「ok.So」 is no address, `t.me/x` is."""
_ADDRESS = re.compile(
    r"(?P<scheme>(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.\-]{1,20}://)[^\s<>\"'`“”‘’（）《》【】，。；！？、…]+"
    r"|(?:(?<![A-Za-z0-9.\-_+])(?:[A-Za-z0-9.\-_+]{1,64}@)?(?:[A-Za-z0-9\-]{1,63}\.){1,8}|[\u4e00-\u9fff]\.)"
    rf"(?:(?:{_ENDINGS})(?![A-Za-z0-9\-_])|(?:{_WORDY_ENDINGS})(?=/))(?:[:/?#][!-;=?-~]*)?",
    re.IGNORECASE,
)
_AFTER_ADDRESS = ".,:;!?)]}*_~"
"""Belongs to the sentence, not to the address."""
_HOST = re.compile(r"(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)")
_LETTER_DOT = re.compile(r"(?<=[^\W\d_])\.(?=[^\W_])|(?<=[^\W_])\.(?=[^\W\d_])")
"""What QQ has been seen to take for an address: a letter or a Chinese character next to a dot."""
_CODES = re.compile(r"<(?=[@#]|emoji:|qqbot-|faceType=)|(?<!\w)@(?=everyone\b)")
"""Where a text would call people, or name a channel, in words of a model or of a memory."""
_HARMLESS = {"<": "＜", "@": "＠"}
_UNSENDABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

_SENTENCE = re.compile(r"\n+|[。！？!?；;…]+[”’」』）)]*")
_CLAUSE = re.compile(r"[，、,：:]|\s")


class QQPages:
    """A reply in pages, as the `Paginate` of its channel."""

    def __init__(self, rewritten: str, registered: Collection[str] = ()) -> None:
        """`rewritten` tells people what `。` in an address is. `registered`: hosts that the operator entered
        at q.qq.com (开发设置, 消息 URL 配置); their addresses, and those of their subdomains, go out as they are."""
        self._rewritten = rewritten
        self._registered = tuple(host.lower().strip(".") for host in registered if host)

    def shown(self, text: str) -> str:
        """The text as QQ shows it."""
        plain = _UNSENDABLE.sub("", without_taps(flatten(text)))
        plain = _CODES.sub(lambda code: _HARMLESS[code[0]], plain).strip()
        sendable = _ADDRESS.sub(self._address, plain)
        return self.told(sendable) if sendable != plain else plain

    def pages_of(self, text: str) -> tuple[str, ...]:
        """The text in pages, at the best place in the second half of each. "" has none."""
        return plain_pages(as_shown(self.shown(text)))

    def told(self, text: str) -> str:
        """A text in which addresses were rewritten, with the words that say so, once."""
        return text if self._rewritten in text else f"{text}\n{self._rewritten}"

    def without_addresses(self, page: str) -> str:
        """A page that QQ refused for an address we did not see: every dot in a word rewritten, and said.

        The same page where there is none.
        """
        rewritten = without_dots(page)
        return self.told(rewritten) if rewritten != page else page

    def _address(self, found: re.Match[str]) -> str:
        whole = found[0]
        end = len(whole.rstrip(_AFTER_ADDRESS))
        address, after = whole[:end], whole[end:]
        scheme = found["scheme"] or ""
        if end <= len(scheme) or self._is_registered(address.removeprefix(scheme)):
            return whole
        # A second one within (a redirect) would be an address of its own.
        return address.removeprefix(scheme).replace("://", "：//").replace(".", DOT) + after

    def _is_registered(self, address: str) -> bool:
        host_found = _HOST.match(address)
        host = host_found[1].lower() if host_found else ""
        return any(host == name or host.endswith(f".{name}") for name in self._registered)


def without_dots(text: str) -> str:
    """The text without dots that touch a letter and another letter, digit or character; no scheme either."""
    return _LETTER_DOT.sub(DOT, re.sub(r"\b[A-Za-z][A-Za-z0-9+.\-]{1,20}://", "", text))


def halves(page: str) -> tuple[str, str] | None:
    """A page that QQ finds too long, in two, cut near its middle. None where it is one character."""
    if len(page) < 2:
        return None
    middle = len(page) // 2
    for ends in (_SENTENCE, _CLAUSE):
        found = [end.end() for end in ends.finditer(page, len(page) // 4, len(page) * 3 // 4)]
        if found:
            cut = min(found, key=lambda place: abs(place - middle))
            return page[:cut], page[cut:]
    # Nothing that begins with a letter is the second half of an emoji or an accent.
    clean = [cut for cut in range(1, len(page)) if page[cut].isalnum() and page[cut - 1] != "\u200d"]
    cut = min(clean, key=lambda place: abs(place - middle), default=middle)
    return page[:cut], page[cut:]
