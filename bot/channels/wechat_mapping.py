"""WeChat event ⇄ `Message`, reply text → pages: the only file that knows both sides.

Invariant: the sender is whom WeChat says the event is about, never anything found in a text.
"""

from datetime import UTC, datetime

from bot.channels.wechat.event import (
    ClickEvent,
    Event,
    FollowEvent,
    RevokeEvent,
    TextEvent,
    UnfollowEvent,
    UnsupportedEvent,
    VoiceEvent,
)
from bot.channels.wechat.rendering import pages
from bot.conversation.message import AccountKey, Conversation, Kind, Message

CHANNEL = "wechat"
_EDGE = " \t\r\n\u3000\u00a0\u200b\u200c\u200d\u2060\ufeff"
"""White space of Chinese keyboards and what copying from web pages leaves: never meant as words."""


def to_message(event: Event) -> Message | None:
    """The message an event carries; None for what nobody answers (a scan by a follower, a card event)."""
    said = _said(event)
    if said is None:
        return None
    kind, text = said
    return Message(
        key=event.key,
        kind=kind,
        sender=AccountKey(channel=CHANNEL, app_id=event.app_id, openid=event.openid),
        conversation=Conversation(channel=CHANNEL, app_id=event.app_id),
        text=text.strip(_EDGE),
        sent_at=datetime.fromtimestamp(event.create_time, UTC),
        unionid=event.unionid,
    )


def pages_of(text: str) -> tuple[str, ...]:
    """A reply as WeChat can carry it, 2,000 bytes a page; () for silence."""
    return pages(text)


def _said(event: Event) -> tuple[Kind, str] | None:
    match event:
        case TextEvent():
            return Kind.TEXT, event.content
        case VoiceEvent():
            return Kind.VOICE, event.recognition
        case UnsupportedEvent():
            return Kind.UNSUPPORTED, ""
        case ClickEvent():
            return Kind.CLICK, event.event_key
        case FollowEvent():
            return Kind.FOLLOW, ""
        case UnfollowEvent():
            return Kind.UNFOLLOW, ""
        case RevokeEvent():
            return Kind.REVOKE, ""
        case _:
            return None
