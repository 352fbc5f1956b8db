"""From the fields of a post to the event they describe.

Invariant: a post without a sender, a time and a kind is no event; neither is one whose text is markup.
"""

import hashlib
import re
from typing import Any

from .event import (
    ClickEvent,
    Event,
    FollowEvent,
    ImageEvent,
    LinkEvent,
    LocationEvent,
    OtherEvent,
    RevokeEvent,
    ScanEvent,
    TemplateResultEvent,
    TextEvent,
    UnfollowEvent,
    UnsupportedEvent,
    VideoEvent,
    ViewEvent,
    VoiceEvent,
)
from .parsing import Fields

_OPENID = re.compile(r"[^\s/<>&\x00-\x1f\x7f]{1,128}")
"""Real ones are 28 characters of base64url. No "/", which separates the parts of a key."""
_DIGITS = re.compile(r"[0-9]{1,20}", re.ASCII)
_HTTP = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_LATEST_TIME = 253_402_300_799
"""31 December 9999: later times are no dates."""
_LONGEST_EVENT_KEY = 128
"""EventKey may hold a URL. A longer one enters the key as its hash."""
UNSUPPORTED_TEXT = "【收到不支持的消息类型，暂无法显示】"
"""WeChat's text in place of a sticker or card it does not pass on."""
_WHEREABOUTS = frozenset({"Latitude", "Longitude", "Precision"})
"""What a LOCATION event reports every five seconds, and nobody asked for."""
_SUBJECT_EVENTS = frozenset(
    {"user_authorization_revoke", "user_authorization_cancellation", "user_info_modified"}
)
"""Sent by the platform itself: the person is in OpenID, not in FromUserName."""


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
        # Results of two templates in one second differ in nothing else (they write MsgID).
        event_key = _text(fields, "EventKey") or _text(fields, "MsgID")
        if len(event_key) > _LONGEST_EVENT_KEY:
            event_key = hashlib.sha256(event_key.encode()).hexdigest()
        return f"{openid}/{created}/{name}/{event_key}"
    message_id = _text(fields, "MsgId") or _text(fields, "MsgID")
    return f"{openid}/{message_id}" if _DIGITS.fullmatch(message_id) else None


def _read_message(kind: str, fields: Fields, shared: dict[str, Any]) -> Event | None:
    match kind:
        case "text":
            return _read_text(fields, shared)
        case "voice":
            heard, media_id = _text(fields, "Recognition"), _text(fields, "MediaId")
            return VoiceEvent(**shared, recognition=heard, media_id=media_id, format=_text(fields, "Format"))
        case "image":
            url = _text(fields, "PicUrl")
            return ImageEvent(
                **shared, picture_url=url if _HTTP.match(url) else "", media_id=_text(fields, "MediaId")
            )
        case "video" | "shortvideo":
            return VideoEvent(
                **shared,
                media_id=_text(fields, "MediaId"),
                thumb_media_id=_text(fields, "ThumbMediaId"),
                is_short=kind == "shortvideo",
            )
        case "location":
            return LocationEvent(
                **shared,
                label=_text(fields, "Label"),
                latitude=_text(fields, "Location_X"),
                longitude=_text(fields, "Location_Y"),
                scale=_text(fields, "Scale"),
            )
        case "link":
            title, description = _text(fields, "Title"), _text(fields, "Description")
            return LinkEvent(**shared, title=title, description=description, url=_text(fields, "Url"))
        case _:
            return OtherEvent(**shared)


def _read_text(fields: Fields, shared: dict[str, Any]) -> Event | None:
    content = fields.get("Content", "")
    if not isinstance(content, str):
        return None  # Markup that was never typed as text.
    if content.strip() == UNSUPPORTED_TEXT:
        return UnsupportedEvent(**shared)
    return TextEvent(**shared, content=content, menu_id=_text(fields, "bizmsgmenuid"))


def _read_notice(name: str, fields: Fields, shared: dict[str, Any]) -> Event:
    event_key, ticket = _text(fields, "EventKey"), _text(fields, "Ticket")
    match name:
        case "CLICK":
            return ClickEvent(**shared, event_key=event_key)
        case "SCAN":
            return ScanEvent(**shared, scene_id=event_key or None, ticket=ticket)
        case "subscribe":
            # Other prefixes (last_trade_no_, scanbarcode|) are no scenes.
            scene = event_key.removeprefix("qrscene_") if event_key.startswith("qrscene_") else None
            return FollowEvent(**shared, scene_id=scene, ticket=ticket)
        case "unsubscribe":
            return UnfollowEvent(**shared)
        case "user_authorization_revoke" | "user_authorization_cancellation":
            return RevokeEvent(**shared)
        case "VIEW":
            return ViewEvent(**shared, url=event_key)
        case "TEMPLATESENDJOBFINISH":
            status = _text(fields, "Status")
            return TemplateResultEvent(**shared, message_id=_text(fields, "MsgID"), status=status)
        case "LOCATION":
            kept = {key: value for key, value in fields.items() if key not in _WHEREABOUTS}
            shared["fields"] = kept | {"Event": name}
            return OtherEvent(**shared)
        case _:
            return OtherEvent(**shared)
