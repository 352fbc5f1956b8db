"""NoneBot's message classes for WeChat: text, and what else a passive reply can carry.

Invariant: `str(message)` is the text as the person reads it; a segment that is no text has none.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nonebot.adapters import Message as BaseMessage
from nonebot.adapters import MessageSegment as BaseMessageSegment

from .links import TAP_END, TAP_START

MOST_ARTICLES = 8
"""WeChat shows one in answer to what a person sent, up to eight in answer to an event, and drops the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """One card of a news reply."""

    title: str
    url: str
    description: str = ""
    picture_url: str = ""


class MessageSegment(BaseMessageSegment["Message"]):
    @classmethod
    def get_message_class(cls) -> type["Message"]:
        return Message

    def __str__(self) -> str:
        return str(self.data.get("text", ""))

    def is_text(self) -> bool:
        return self.type == "text"

    @staticmethod
    def text(text: str) -> "MessageSegment":
        return MessageSegment("text", {"text": text})

    @staticmethod
    def tap(words: str) -> "MessageSegment":
        """Words that are sent when they are tapped. At most 20 characters, no white space or markup."""
        return MessageSegment.text(f"{TAP_START}{words}{TAP_END}")

    @staticmethod
    def image(media_id: str) -> "MessageSegment":
        """A picture, uploaded before."""
        return MessageSegment("image", {"media_id": media_id})

    @staticmethod
    def voice(media_id: str) -> "MessageSegment":
        return MessageSegment("voice", {"media_id": media_id})

    @staticmethod
    def video(media_id: str, title: str = "", description: str = "") -> "MessageSegment":
        return MessageSegment("video", {"media_id": media_id, "title": title, "description": description})

    @staticmethod
    def music(
        thumb_media_id: str, url: str, high_quality_url: str = "", title: str = "", description: str = ""
    ) -> "MessageSegment":
        return MessageSegment(
            "music",
            {
                "thumb_media_id": thumb_media_id,
                "url": url,
                "high_quality_url": high_quality_url,
                "title": title,
                "description": description,
            },
        )

    @staticmethod
    def news(articles: Sequence[Article]) -> "MessageSegment":
        """Article cards. Raises ValueError: none, or more than MOST_ARTICLES."""
        if not 1 <= len(articles) <= MOST_ARTICLES:
            raise ValueError(f"a news reply takes 1 to {MOST_ARTICLES} articles, not {len(articles)}")
        return MessageSegment("news", {"articles": tuple(articles)})

    @staticmethod
    def transfer(kf_account: str = "") -> "MessageSegment":
        """Hand the person over to human customer service, to `kf_account` or whoever is free.

        WeChat shows the person nothing of it, and takes no text beside it.
        """
        return MessageSegment("transfer", {"kf_account": kf_account})


class Message(BaseMessage[MessageSegment]):
    @classmethod
    def get_segment_class(cls) -> type[MessageSegment]:
        return MessageSegment

    @staticmethod
    def _construct(msg: str) -> Iterable[MessageSegment]:
        yield MessageSegment.text(msg)
