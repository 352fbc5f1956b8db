"""WeChat event ⇄ `Message`, reply text → pages: the only file that knows both sides.

Invariant: the sender is whom WeChat says the event is about, never anything found in a text.
"""

from datetime import UTC, datetime

from bot.channels.wechat.event import (
    ClickEvent,
    Event,
    FollowEvent,
    ImageEvent,
    LinkEvent,
    LocationEvent,
    RevokeEvent,
    ScanEvent,
    TextEvent,
    UnfollowEvent,
    UnsupportedEvent,
    VideoEvent,
    VoiceEvent,
)
from bot.channels.wechat.links import anchor
from bot.channels.wechat.rendering import pages
from bot.conversation.markdown import flatten
from bot.conversation.message import AccountKey, Conversation, Kind, Media, Message

CHANNEL = "wechat"
_EDGE = " \t\r\n\u3000\u00a0\u200b\u200c\u200d\u2060\ufeff"
"""White space of Chinese keyboards and what copying from web pages leaves: never meant as words."""


def to_message(event: Event) -> Message | None:
    """The message an event carries; None for what nobody answers (an opened page, a card event)."""
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
        quoted=_quoted(event),
        unionid=event.unionid,
        media=_media(event),
    )


def pages_of(text: str) -> tuple[str, ...]:
    """A reply as WeChat can carry it, 2,000 bytes a page, without page marks; () for silence."""
    return pages(flatten(text, link=anchor))


def _said(event: Event) -> tuple[Kind, str] | None:
    match event:
        case TextEvent():
            return Kind.TEXT, event.content
        case VoiceEvent():
            return Kind.VOICE, event.recognition
        case ImageEvent():
            return Kind.IMAGE, ""
        case LocationEvent():
            # Its coordinates go no further: where exactly somebody is, is not needed for an answer.
            return Kind.LOCATION, event.label
        case LinkEvent():
            return Kind.LINK, ""
        case VideoEvent() | UnsupportedEvent():
            return Kind.UNSUPPORTED, ""
        case ClickEvent():
            return Kind.CLICK, event.event_key
        case FollowEvent():
            return Kind.FOLLOW, event.scene_id or ""
        case ScanEvent():
            return Kind.SCAN, event.scene_id or ""
        case UnfollowEvent():
            return Kind.UNFOLLOW, ""
        case RevokeEvent():
            return Kind.REVOKE, ""
        case _:
            return None


def _quoted(event: Event) -> str:
    """The words of a shared page. Not its address: nothing here opens it, and no reply repeats it."""
    if not isinstance(event, LinkEvent):
        return ""
    return "\n".join(words for words in (event.title, event.description) if words)


def _media(event: Event) -> tuple[Media, ...]:
    return (Media(url=event.picture_url, media_id=event.media_id),) if isinstance(event, ImageEvent) else ()
