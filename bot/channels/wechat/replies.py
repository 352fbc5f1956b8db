"""A reply to the XML of a passive reply: one kind of thing a message, as WeChat takes it.

Invariant: whatever is in a reply, its XML is well-formed, and CreateTime is a whole number: anything else
becomes 「该公众号提供的服务出现故障」 in the person's chat.

Source: 微信官方文档 · 公众号 · 被动回复用户消息, and 将消息转发到客服.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from .links import shown
from .message import Article, Message, MessageSegment
from .parsing import strip_illegal
from .rendering import shorten

Value: TypeAlias = "str | int | Mapping[str, Value] | Sequence[Value]"
"""A text, a number, child elements, or several elements of one name."""

_MEDIA: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "image": ("Image", {"MediaId": "media_id"}),
    "voice": ("Voice", {"MediaId": "media_id"}),
    "video": ("Video", {"MediaId": "media_id", "Title": "title", "Description": "description"}),
    "music": (
        "Music",
        {
            "Title": "title",
            "Description": "description",
            "MusicUrl": "url",
            "HQMusicUrl": "high_quality_url",
            "ThumbMediaId": "thumb_media_id",
        },
    ),
}
"""Segment type → element → its children and where their text is."""


def message_xml(
    reply: str | Message, *, to_user: str, from_user: str, created: int, taps: bool = True
) -> str:
    """The passive reply for a text or a message; "" where it holds nothing a person would see.

    One reply carries one thing: the first segment that is no text, else the text. `created`: Unix seconds.
    """
    segment = None
    if isinstance(reply, Message):
        segment = next((each for each in reply if not each.is_text()), None)
    if segment is not None:
        kind, body = _body_of(segment)
        return envelope_xml(kind, body, to_user=to_user, from_user=from_user, created=created)
    return reply_xml(to_user=to_user, from_user=from_user, text=str(reply), created=created, taps=taps)


def reply_xml(*, to_user: str, from_user: str, text: str, created: int, taps: bool = True) -> str:
    """A passive text reply, shortened where it did not come from `pages`; "" for an empty text."""
    content = shorten(shown(text, taps=taps))
    if not content.strip():
        return ""
    return envelope_xml("text", {"Content": content}, to_user=to_user, from_user=from_user, created=created)


def image_xml(*, to_user: str, from_user: str, media_id: str, created: int) -> str:
    """A passive reply with a picture that was uploaded before."""
    message = Message(MessageSegment.image(media_id))
    return message_xml(message, to_user=to_user, from_user=from_user, created=created)


def news_xml(*, to_user: str, from_user: str, articles: Sequence[Article], created: int) -> str:
    """A passive reply with article cards.

    Raises:
        ValueError: none, or more than WeChat takes.
    """
    message = Message(MessageSegment.news(articles))
    return message_xml(message, to_user=to_user, from_user=from_user, created=created)


def transfer_xml(*, to_user: str, from_user: str, created: int, kf_account: str = "") -> str:
    """Hand the person's message, and what follows it, to a human: `kf_account`, or whoever is free."""
    message = Message(MessageSegment.transfer(kf_account))
    return message_xml(message, to_user=to_user, from_user=from_user, created=created)


def envelope_xml(kind: str, body: Mapping[str, Value], *, to_user: str, from_user: str, created: int) -> str:
    """A passive reply of a kind with the elements in `body`. Raises TypeError: `created` is no whole number."""
    if not isinstance(created, int):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("created must be a whole number of seconds")
    return (
        f"<xml>{_element('ToUserName', to_user)}{_element('FromUserName', from_user)}"
        f"{_element('CreateTime', created)}{_element('MsgType', kind)}"
        f"{''.join(_element(name, value) for name, value in body.items())}</xml>"
    )


def _body_of(segment: MessageSegment) -> tuple[str, Mapping[str, Value]]:
    data = segment.data
    if segment.type in _MEDIA:
        name, children = _MEDIA[segment.type]
        return segment.type, {name: {child: str(data.get(key, "")) for child, key in children.items()}}
    if segment.type == "transfer":
        account = str(data.get("kf_account", ""))
        return "transfer_customer_service", {"TransInfo": {"KfAccount": account}} if account else {}
    if segment.type == "news":
        items = [_item(article) for article in cast("Sequence[Article]", data["articles"])]
        return "news", {"ArticleCount": len(items), "Articles": {"item": items}}
    raise ValueError(f"WeChat has no passive reply of the kind {segment.type!r}")


def _item(article: Article) -> Mapping[str, Value]:
    return {
        "Title": article.title,
        "Description": article.description,
        "PicUrl": article.picture_url,
        "Url": article.url,
    }


def _element(name: str, value: Value) -> str:
    """Text as CDATA, which ends at a `]]>` wherever it is: one inside is spread over two sections."""
    if isinstance(value, str):
        content = strip_illegal(value).replace("]]>", "]]]]><![CDATA[>")
        return f"<{name}><![CDATA[{content}]]></{name}>"
    if isinstance(value, int):
        return f"<{name}>{value}</{name}>"
    if isinstance(value, Mapping):
        return f"<{name}>{''.join(_element(child, inner) for child, inner in value.items())}</{name}>"
    return "".join(_element(name, each) for each in value)
