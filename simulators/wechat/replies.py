"""The body of a response → what WeChat would show, or that it would show a fault.

Invariant: anything not wholly right raises `BadReply`; there is no half-right reply.

Source: 微信官方文档 · 公众号 · 被动回复用户消息.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree

from . import envelope
from .account import Account, Mode

LONGEST_TEXT_BYTES = 2047
"""UTF-8, measured: one more and the person sees a fault."""
MOST_ARTICLES = 8
"""To an event; a message gets one. WeChat drops the rest."""

_NO_REPLY = (b"", b"success")


class BadReply(Exception):
    """WeChat would show a fault for this; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    title: str
    description: str = ""
    picture_url: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A passive reply."""

    kind: str
    """text, image, voice, video, music, news or transfer_customer_service."""
    text: str = ""
    """As delivered, markup included; a stand-in such as [图片] for what is no text."""
    media_id: str = ""
    articles: tuple[Article, ...] = ()
    kf_account: str = ""
    """Of a transfer, when one was named."""

    @property
    def is_shown(self) -> bool:
        return self.kind != "transfer_customer_service"


def news_text(articles: Iterable[Article]) -> str:
    """What a person reads of them."""
    return "\n".join(line for each in articles for line in (each.title, each.description) if line)


def read_reply(body: bytes, account: Account, openid: str = "", *, is_event: bool = True) -> Reply | None:
    """None: handled without a reply. `openid`: who must be addressed; "" asks no one.

    Raises:
        BadReply: WeChat would show a fault.
    """
    if body in _NO_REPLY:
        return None
    root = _opened(_parsed(body), account)
    if openid and (root.findtext("FromUserName"), root.findtext("ToUserName")) != (
        account.original_id,
        openid,
    ):
        raise BadReply("FromUserName or ToUserName is not the other one's")
    try:
        int(root.findtext("CreateTime") or "")
    except ValueError:
        raise BadReply("CreateTime is no whole number") from None
    return _content(root, is_event=is_event)


def _parsed(body: bytes | str) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(body)  # noqa: S314 - the answer of the bot under test
    except (ElementTree.ParseError, ValueError) as error:
        raise BadReply(f"not XML: {error}") from error


def _opened(root: ElementTree.Element, account: Account) -> ElementTree.Element:
    encrypted = root.findtext("Encrypt")
    if encrypted is None:
        if account.mode is Mode.SAFE:
            raise BadReply("plain in safe mode")
        return root
    if account.mode is Mode.PLAIN:
        raise BadReply("encrypted in plain mode")
    timestamp, nonce = root.findtext("TimeStamp") or "", root.findtext("Nonce") or ""
    if not timestamp or not nonce or not encrypted:
        raise BadReply("TimeStamp, Nonce or Encrypt is missing")
    claimed = root.findtext("MsgSignature") or ""
    if not envelope.is_signature(claimed, account.token, timestamp, nonce, encrypted):
        raise BadReply("MsgSignature does not fit")
    try:
        return _parsed(envelope.decrypt(encrypted, aes_key=account.aes_key, app_id=account.app_id))
    except ValueError as error:
        raise BadReply(f"cannot be decrypted: {error}") from error


def _content(root: ElementTree.Element, *, is_event: bool) -> Reply:
    kind = root.findtext("MsgType") or ""
    match kind:
        case "text":
            return Reply(kind=kind, text=_text(root.findtext("Content") or ""))
        case "image":
            return Reply(kind=kind, text="[图片]", media_id=_media(root, "Image"))
        case "voice":
            return Reply(kind=kind, text="[语音]", media_id=_media(root, "Voice"))
        case "video":
            return Reply(kind=kind, text="[视频]", media_id=_media(root, "Video"))
        case "music":
            return Reply(kind=kind, text="[音乐]", media_id=_media(root, "Music", "ThumbMediaId"))
        case "news":
            articles = _articles(root)[: MOST_ARTICLES if is_event else 1]
            return Reply(kind=kind, text=news_text(articles), articles=articles)
        case "transfer_customer_service":
            return Reply(kind=kind, kf_account=root.findtext("TransInfo/KfAccount") or "")
        case _:
            raise BadReply(f"MsgType {kind!r}")


def _text(content: str) -> str:
    if not 0 < len(content.encode()) <= LONGEST_TEXT_BYTES:
        raise BadReply(f"Content has {len(content.encode())} bytes")
    return content


def _media(root: ElementTree.Element, parent: str, name: str = "MediaId") -> str:
    media_id = root.findtext(f"{parent}/{name}") or ""
    if not media_id:
        raise BadReply(f"no {parent}/{name}")
    return media_id


def _articles(root: ElementTree.Element) -> tuple[Article, ...]:
    """WeChat drops those beyond its limit."""
    items = root.findall("Articles/item")
    try:
        count = int(root.findtext("ArticleCount") or "")
    except ValueError:
        raise BadReply("ArticleCount is no whole number") from None
    if not items or count != len(items):
        raise BadReply(f"ArticleCount is {count}, there are {len(items)}")
    articles = tuple(
        Article(
            title=item.findtext("Title") or "",
            description=item.findtext("Description") or "",
            picture_url=item.findtext("PicUrl") or "",
            url=item.findtext("Url") or "",
        )
        for item in items
    )
    if not all(article.title for article in articles):
        raise BadReply("an article without a title")
    return articles
