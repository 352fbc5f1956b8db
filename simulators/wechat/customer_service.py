"""`message/custom/send` and `message/custom/typing`: what is refused, and what the person then sees.

Invariant: a message that is refused costs nothing; one that is accepted is in the person's sights before
the answer leaves.

Source: 微信官方文档 · 公众号 · 客服消息 (发消息, 客服输入状态). Someone who unfollowed gets 45015, as its text
says; 43004 and 43019 come by scripted fault only.
"""

import re
from collections.abc import Mapping
from typing import Any

from .clock import Clock
from .errcodes import ApiRefusal
from .media import Media
from .people import TYPING_SECONDS, People, Person, Sight, Tap, Way
from .replies import Article, news_text
from .windows import Refusal

LONGEST_TEXT_BYTES = 2048
TYPING_AFTER_SECONDS = 30.0
"""「下发输入状态，需要之前30秒内跟用户有过消息交互」."""
_ESCAPE = re.compile(rb"(?<!\\)(?:\\\\)*\\u(?!00[01][0-9a-fA-F])[0-9a-fA-F]{4}")
"""JSON's own escape of a character that could stand there itself; control characters may not."""


def refuse_escapes(body: bytes) -> None:
    """Raises ApiRefusal 40033: WeChat would show `\\u4f60` as it stands."""
    if _ESCAPE.search(body):
        raise ApiRefusal(40033)


class CustomerService:
    def __init__(self, people: People, media: Media, clock: Clock) -> None:
        self._people = people
        self._media = media
        self._clock = clock

    def send(self, message: Mapping[str, Any]) -> None:
        """Raises ApiRefusal."""
        person = self._addressed(message)
        sight = self._sight(message)
        now = self._clock.now()
        match person.window.spend(now) if person.is_following else Refusal.CLOSED:
            case Refusal.CLOSED:
                raise ApiRefusal(45015)
            case Refusal.SPENT:
                raise ApiRefusal(45047)
            case None:
                person.interacted_at = now
                self._people.show(person.openid, sight)

    def type(self, message: Mapping[str, Any]) -> None:
        """Raises ApiRefusal."""
        person = self._addressed(message)
        now = self._clock.now()
        match message.get("command"):
            case "CancelTyping":
                person.typing_until = 0.0
            case "Typing":
                is_fresh = person.interacted_at is not None and (
                    now - person.interacted_at <= TYPING_AFTER_SECONDS
                )
                if not person.is_following or not is_fresh:
                    raise ApiRefusal(45080)
                if now < person.typing_until:
                    raise ApiRefusal(45081)
                person.typing_until = now + TYPING_SECONDS
                person.typings.append(now)
            case _:
                raise ApiRefusal(45072)

    def _addressed(self, message: Mapping[str, Any]) -> Person:
        person = self._people.find(str(message.get("touser", "")))
        if person is None:
            raise ApiRefusal(40003)
        return person

    def _sight(self, message: Mapping[str, Any]) -> Sight:
        kind = message.get("msgtype")
        content = message.get(str(kind))
        if kind not in ("text", "image", "news", "msgmenu"):
            raise ApiRefusal(40008)
        if not isinstance(content, dict):
            raise ApiRefusal(47001)
        now, way = self._clock.now(), Way.CUSTOMER_SERVICE
        match kind:
            case "text":
                return Sight(at=now, way=way, kind=kind, text=_text(content.get("content")))
            case "image":
                medium = self._media.get(str(content.get("media_id", "")))
                return Sight(at=now, way=way, kind=kind, text="[图片]", media_id=medium.id)
            case "news":
                articles = _articles(content.get("articles"))
                return Sight(at=now, way=way, kind=kind, text=news_text(articles), articles=articles)
            case _:
                menu = _menu(content.get("list"))
                head, tail = str(content.get("head_content", "")), str(content.get("tail_content", ""))
                text = "\n".join(line for line in (head, *(tap.label for tap in menu), tail) if line)
                return Sight(at=now, way=way, kind=str(kind), text=_text(text), menu=menu)


def _text(content: object) -> str:
    if not isinstance(content, str) or not content:
        raise ApiRefusal(44004)
    if len(content.encode()) > LONGEST_TEXT_BYTES:
        raise ApiRefusal(45002)
    return content


def _articles(articles: object) -> tuple[Article, ...]:
    if not isinstance(articles, list) or not articles:
        raise ApiRefusal(44003)
    if len(articles) > 1:
        raise ApiRefusal(45008)
    fields = articles[0] if isinstance(articles[0], dict) else {}
    if not fields.get("title"):
        raise ApiRefusal(44003)
    return (
        Article(
            title=str(fields["title"]),
            description=str(fields.get("description", "")),
            picture_url=str(fields.get("picurl", "")),
            url=str(fields.get("url", "")),
        ),
    )


def _menu(lines: object) -> tuple[Tap, ...]:
    if not isinstance(lines, list) or not lines:
        raise ApiRefusal(44004)
    taps: list[Tap] = []
    for line in lines:
        if not isinstance(line, dict) or not line.get("id") or not line.get("content"):
            raise ApiRefusal(47001)
        content = str(line["content"])
        taps.append(Tap(label=content, content=content, menu_id=str(line["id"])))
    return tuple(taps)
