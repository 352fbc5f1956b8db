"""NoneBot events for what WeChat posts, and the one function that makes them from fields.

Invariant: `openid` is the person an event is about, and `key` is equal on WeChat's retries and only
then (within one appid).
"""

import hashlib
import re
from typing import Any, ClassVar

from nonebot.adapters import Event as BaseEvent
from pydantic import PrivateAttr

from .message import Message
from .parsing import Fields

_OPENID = re.compile(r"[^\s/<>&\x00-\x1f\x7f]{1,128}")
"""Real ones are 28 characters of base64url. No "/", which separates the parts of a key."""
_DIGITS = re.compile(r"[0-9]{1,20}", re.ASCII)
_LATEST_TIME = 253_402_300_799
"""31 December 9999: later times are no dates."""
_LONGEST_EVENT_KEY = 128
"""EventKey may hold a URL. A longer one enters the key as its hash."""
UNSUPPORTED_TEXT = "【收到不支持的消息类型，暂无法显示】"
"""WeChat's text in place of a sticker or card it does not pass on."""
_MEDIA = frozenset({"image", "video", "shortvideo", "location", "link"})
_SUBJECT_EVENTS = frozenset(
    {"user_authorization_revoke", "user_authorization_cancellation", "user_info_modified"}
)
"""Sent by the platform itself: the person is in OpenID, not in FromUserName."""


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

    _sent: list[str] = PrivateAttr(default_factory=list)
    _is_closed: bool = PrivateAttr(default=False)

    @property
    def sent(self) -> tuple[str, ...]:
        """What handlers sent in answer, in order."""
        return tuple(self._sent)

    def collect(self, text: str) -> bool:
        """Take `text` as an answer. False when this event was already answered."""
        if not self._is_closed:
            self._sent.append(text)
        return not self._is_closed

    def close(self) -> None:
        self._is_closed = True

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

    def get_message(self) -> Message:
        return Message(self.recognition)


class UnsupportedEvent(_MessageEvent):
    """A message with no text we can read: image, video, location, link, or WeChat's own placeholder."""


class ClickEvent(Event):
    event_key: str


class FollowEvent(Event):
    scene_id: str | None = None
    """Of the QR code scanned; None when the person came another way."""


class ScanEvent(Event):
    """A follower scanned one of the account's QR codes."""

    scene_id: str | None = None


class UnfollowEvent(Event):
    takes_reply: ClassVar[bool] = False


class RevokeEvent(Event):
    """The person withdrew an authorisation or deleted their WeChat account: their data must go."""

    takes_reply: ClassVar[bool] = False


class OtherEvent(Event):
    """Anything else, today's or a future one. Acknowledged at once, answered never."""

    takes_reply: ClassVar[bool] = False
    nonebot_type: ClassVar[str] = "meta_event"


def read_event(app_id: str, fields: Fields) -> Event | None:
    """The event these fields describe; None when a field every post needs is missing or malformed."""
    kind = _text(fields, "MsgType")
    name = _text(fields, "Event") if kind == "event" else ""
    subject = "OpenID" if name in _SUBJECT_EVENTS else "FromUserName"
    openid, to_user = _text(fields, subject), _text(fields, "ToUserName")
    created = _text(fields, "CreateTime")
    if not (_OPENID.fullmatch(openid) and _OPENID.fullmatch(to_user) and _DIGITS.fullmatch(created)):
        return None
    key = _key(fields, openid, int(created), kind, name)
    if int(created) > _LATEST_TIME or not kind or (kind == "event" and not name) or key is None:
        return None
    shared: dict[str, Any] = {
        "app_id": app_id,
        "key": key,
        "openid": openid,
        "to_user": to_user,
        "create_time": int(created),
        "fields": fields,
    }
    return _read_notice(name, fields, shared) if kind == "event" else _read_message(kind, fields, shared)


def _text(fields: Fields, name: str) -> str:
    """A field that is missing or has children reads as "". White space around it is layout."""
    value = fields.get(name, "")
    return value.strip() if isinstance(value, str) else ""


def _key(fields: Fields, openid: str, created: int, kind: str, name: str) -> str | None:
    """Same on retries, different otherwise. None: the MsgId is no number."""
    if kind == "event":
        event_key = _text(fields, "EventKey")
        if len(event_key) > _LONGEST_EVENT_KEY:
            event_key = hashlib.sha256(event_key.encode()).hexdigest()
        return f"{openid}/{created}/{name}/{event_key}"
    message_id = _text(fields, "MsgId") or _text(fields, "MsgID")
    return f"{openid}/{message_id}" if _DIGITS.fullmatch(message_id) else None


def _read_message(kind: str, fields: Fields, shared: dict[str, Any]) -> Event | None:
    if kind == "text":
        content = fields.get("Content", "")
        if not isinstance(content, str):
            return None  # Markup that was never typed as text.
        if content.strip() == UNSUPPORTED_TEXT:
            return UnsupportedEvent(**shared)
        return TextEvent(**shared, content=content, menu_id=_text(fields, "bizmsgmenuid"))
    if kind == "voice":
        return VoiceEvent(**shared, recognition=_text(fields, "Recognition"))
    return UnsupportedEvent(**shared) if kind in _MEDIA else OtherEvent(**shared)


def _read_notice(name: str, fields: Fields, shared: dict[str, Any]) -> Event:
    event_key = _text(fields, "EventKey")
    match name:
        case "CLICK":
            return ClickEvent(**shared, event_key=event_key)
        case "SCAN":
            return ScanEvent(**shared, scene_id=event_key or None)
        case "subscribe":
            # Other prefixes (last_trade_no_, scanbarcode|) are no scenes.
            scene = event_key.removeprefix("qrscene_") if event_key.startswith("qrscene_") else None
            return FollowEvent(**shared, scene_id=scene)
        case "unsubscribe":
            return UnfollowEvent(**shared)
        case "user_authorization_revoke" | "user_authorization_cancellation":
            return RevokeEvent(**shared)
        case _:
            return OtherEvent(**shared)
