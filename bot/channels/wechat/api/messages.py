"""The bodies of customer-service messages, and the bytes of their JSON.

Invariant: the JSON holds no `\\u` escape, which WeChat shows as it is or refuses (40033).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..parsing import strip_illegal

_LINE_BREAKS = ("\r\n", "\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """The one card of a news message that opens an address."""

    title: str
    description: str
    url: str
    picture_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuItem:
    """A line to tap; the tap comes back as a text with `bizmsgmenuid`."""

    id: str
    content: str


def text_message(openid: str, text: str) -> dict[str, Any]:
    return {"touser": openid, "msgtype": "text", "text": {"content": clean(text)}}


def image_message(openid: str, media_id: str) -> dict[str, Any]:
    return {"touser": openid, "msgtype": "image", "image": {"media_id": media_id}}


def news_message(openid: str, article: Article) -> dict[str, Any]:
    """One article: WeChat takes no more."""
    card = {
        "title": clean(article.title),
        "description": clean(article.description),
        "url": article.url,
        "picurl": article.picture_url,
    }
    return {"touser": openid, "msgtype": "news", "news": {"articles": [card]}}


def menu_message(openid: str, head: str, items: Sequence[MenuItem], tail: str) -> dict[str, Any]:
    menu = {
        "head_content": clean(head),
        "list": [{"id": item.id, "content": clean(item.content)} for item in items],
        "tail_content": clean(tail),
    }
    return {"touser": openid, "msgtype": "msgmenu", "msgmenu": menu}


def clean(text: str) -> str:
    """Without control characters, which JSON could only write as `\\u` escapes; line feeds alone break lines."""
    for line_break in _LINE_BREAKS:
        text = text.replace(line_break, "\n")
    return strip_illegal(text)


def encode(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode(errors="replace")
