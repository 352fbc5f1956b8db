"""Find e-mail addresses, WeChat ids and QQ numbers; and the addresses of pages, whose digits mean nothing.

Invariant: pure; linear time.
"""

import re
from collections.abc import Iterator

Span = tuple[int, int]

URL = re.compile(
    r"(?i)(?:https?://|www\.)[^\s\u3000-\u303f\u4e00-\u9fff，]{1,2000}|(?<![@\w.])[a-z0-9-]{2,40}(?:\.[a-z0-9-]{2,30}){0,3}\.(?:com|cn|net|org|io|shop|top)/[^\s\u4e00-\u9fff，]{0,500}"
)
_EMAIL = re.compile(
    r"(?<![A-Za-z0-9._%+\-])[A-Za-z0-9](?:[A-Za-z0-9._%+\-]{0,62}[A-Za-z0-9_])?\s?@\s?(?:[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?[.。]){1,4}[A-Za-z]{2,12}(?![A-Za-z0-9])"
)
_LINK = r"(?:[\s是为:：=,，\"“(]|号码?|叫|ID|id|我的?|加|搜|改[成为]|换成|就是|同号){0,6}"
_WECHAT = re.compile(
    rf"(?i)(?:微信号?|威信|薇信|徽信|v信号?|加\s?v|加\s?微|(?<![A-Za-z])(?:vx|wx|weixin|wechat|v)(?=[\s:号是]|[a-z0-9_]{{6}}))(?!支付|转账|小程序|公众号|群|红包){_LINK}"
    r"((?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9_\-]{5,19})(?![A-Za-z0-9_@.]|\s?@)"
)
_WECHAT_DIGITS = re.compile(
    r"(?i)(?:微信号|微信|v信|vx|wx)(?:[\s是为:号]|加|我的?){0,4}([1-9][0-9]{5,11})(?![0-9A-Za-z元块]|[.\-][0-9])"
)
_ADD_ME = re.compile(
    r"加(?:我|一?下我?|个?好友)(?:[\s:：,，]|吧|号|我的?|聊|哈){0,3}([A-Za-z](?=[A-Za-z_\-]{0,18}[0-9_])[A-Za-z0-9_\-]{5,19})(?![A-Za-z0-9@.])"
)
_WXID = re.compile(r"(?<![A-Za-z0-9_])wxid_[A-Za-z0-9]{8,24}(?![A-Za-z0-9_])")
_QQ = re.compile(
    r"(?i)(?:(?<![A-Za-z])qq|扣扣|企鹅)(?:[\s是为:：=,，]|号码?|群|加|我的?|小号|换成){0,5}([1-9][0-9]{4,10})(?![0-9A-Za-z]|\s?[块元个人@]|[.\-][0-9])"
)
_NAME_OR_NUMBER = re.compile(r"(?i)[A-Z0-9_\-]{5}")
"""What every contact without an @ has: five letters, digits or dashes in a row."""
_SAME_NUMBER = re.compile(r"(?i)qq")


def may_name_contact(text: str) -> bool:
    """Whether a name or number is in it that is long enough for a contact's."""
    return "@" in text or _NAME_OR_NUMBER.search(text) is not None


def may_hold_link(text: str) -> bool:
    """Whether a mark is in it that every address of a page has one of."""
    return "/" in text or "." in text


def without_links(text: str) -> str:
    """The text with spaces in the place of addresses of pages."""
    return URL.sub(lambda link: " " * len(link.group()), text) if may_hold_link(text) else text


def find_contacts(text: str) -> Iterator[tuple[Span, str, float]]:
    """(place, normalised, certainty) in a folded text. Phones are found elsewhere."""
    if not may_name_contact(text):
        return
    if "@" in text:
        for found in _EMAIL.finditer(text):
            yield found.span(), re.sub(r"\s", "", found.group()).replace("。", ".").lower(), 1.0
    for found in _WXID.finditer(text):
        yield found.span(), f"wx:{found.group().lower()}", 1.0
    for pattern, certainty in ((_WECHAT, 1.0), (_WECHAT_DIGITS, 0.8), (_ADD_ME, 0.8)):
        for found in pattern.finditer(text):
            if not _SAME_NUMBER.match(found[1]) and not _is_word(found[1]):
                yield found.span(1), f"wx:{found[1].lower()}", certainty
    for found in _QQ.finditer(text):
        yield found.span(1), f"qq:{found[1]}", 1.0


def _is_word(name: str) -> bool:
    return name.lower() in {"wechat", "weixin", "number", "please", "thanks"}
