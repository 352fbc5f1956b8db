"""NoneBot events for what WeChat posts. `event_reading.py` makes them.

Invariant: `openid` is the person an event is about, and `key` is equal on WeChat's retries and only
then (within one appid).
"""

from typing import ClassVar

from nonebot.adapters import Event as BaseEvent

from .message import Message, MessageSegment
from .parsing import Fields


class Event(BaseEvent):
    """What all of WeChat's posts share."""

    takes_reply: ClassVar[bool] = True
    """Whether WeChat shows an answer to this. False: the response is always `success`."""
    nonebot_type: ClassVar[str] = "notice"

    app_id: str
    key: str
    """`openid/MsgId`, or `openid/CreateTime/Event/EventKey`."""
    openid: str
    to_user: str
    """The account's original id (`gh_…`): FromUserName of the reply."""
    create_time: int
    """Unix seconds, by WeChat's clock."""
    fields: Fields
    """All that was posted, as it was."""

    @property
    def unionid(self) -> str:
        """ "" where WeChat sent none."""
        unionid = self.fields.get("UnionId") or self.fields.get("UnionID") or ""
        return unionid if isinstance(unionid, str) else ""

    def get_type(self) -> str:
        return self.nonebot_type

    def get_event_name(self) -> str:
        return f"{self.nonebot_type}.{type(self).__name__.removesuffix('Event').lower()}"

    def get_event_description(self) -> str:
        # NoneBot logs this: neither words nor ids of a person belong there.
        return self.get_event_name()

    def get_log_string(self) -> str:
        return f"[{self.get_event_name()}]"

    def get_message(self) -> Message:
        raise ValueError("this event has no message")

    def get_user_id(self) -> str:
        return self.openid

    def get_session_id(self) -> str:
        return f"{self.app_id}_{self.openid}"

    def is_tome(self) -> bool:
        return True


class _MessageEvent(Event):
    nonebot_type: ClassVar[str] = "message"

    def get_message(self) -> Message:
        return Message("")


class TextEvent(_MessageEvent):
    content: str
    """As typed, white space included."""
    menu_id: str = ""
    """`bizmsgmenuid`, where the text is a tapped menu entry."""

    def get_message(self) -> Message:
        return Message(self.content)


class VoiceEvent(_MessageEvent):
    recognition: str
    """What WeChat heard; "" when it heard nothing or the account has it switched off."""
    media_id: str = ""
    """For download, which takes a certified account."""
    format: str = ""
    """`amr` or `speex`."""

    def get_message(self) -> Message:
        return Message(self.recognition)


class ImageEvent(_MessageEvent):
    picture_url: str
    """Open to anyone for a while; "" when it is no http address. In plain mode as forgeable as the rest."""
    media_id: str = ""
    """For download, which takes a certified account. Kept for three days."""

    def get_message(self) -> Message:
        return Message(MessageSegment.image(self.media_id))


class VideoEvent(_MessageEvent):
    media_id: str
    thumb_media_id: str = ""
    is_short: bool = False
    """`shortvideo`: recorded in WeChat."""


class LocationEvent(_MessageEvent):
    """A place the person chose to send (LOCATION events, which report where a person is, reach nobody)."""

    label: str
    """Its name or address; "" where WeChat has none."""
    latitude: str
    """Decimal degrees north, as written: `Location_X`."""
    longitude: str
    """Decimal degrees east, as written: `Location_Y`."""
    scale: str = ""


class LinkEvent(_MessageEvent):
    """A shared page. Its words are somebody else's, and so may be its address."""

    title: str
    description: str
    url: str


class UnsupportedEvent(_MessageEvent):
    """WeChat's placeholder for what it does not pass on: a sticker, a card of a channel."""


class ClickEvent(Event):
    event_key: str


class FollowEvent(Event):
    scene_id: str | None = None
    """Of the QR code scanned; None when the person came another way."""
    ticket: str = ""


class ScanEvent(Event):
    """A follower scanned one of the account's QR codes."""

    scene_id: str | None = None
    ticket: str = ""


class UnfollowEvent(Event):
    takes_reply: ClassVar[bool] = False


class RevokeEvent(Event):
    """The person withdrew an authorisation or deleted their WeChat account: their data must go."""

    takes_reply: ClassVar[bool] = False


class OtherEvent(Event):
    """Anything else, today's or a future one. Acknowledged at once, answered never."""

    takes_reply: ClassVar[bool] = False
    nonebot_type: ClassVar[str] = "meta_event"


class ViewEvent(OtherEvent):
    """A tapped menu entry that opened a page."""

    url: str


class TemplateResultEvent(OtherEvent):
    """TEMPLATESENDJOBFINISH: what became of a template message."""

    message_id: str
    status: str
    """`success`, `failed:user block`, `failed: system failed`."""
