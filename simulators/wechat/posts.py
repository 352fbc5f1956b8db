"""What WeChat posts: one function for each type of message and event, and its XML.

Invariant: pure. A message has a MsgId, an event has none; only what a person may be answered to, and may
see a fault notice about, is marked so.

Source: 微信官方文档 · 公众号 · 接收普通消息, 接收事件推送.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias
from xml.etree import ElementTree

Value: TypeAlias = str | int | float
Fields: TypeAlias = tuple[tuple[str, Value], ...]

UNSUPPORTED = "【收到不支持的消息类型，暂无法显示】"
"""What arrives as text for a type that the platform does not hand on."""
PLACE = "广州市越秀区"
PLATFORM_SENDER = "oPlatformItself"
"""FromUserName of authorisation events: not the person, who is in OpenID."""

_ENVELOPE = frozenset({"ToUserName", "FromUserName", "CreateTime", "MsgType", "MsgId"})
_SILENT_EVENTS = frozenset(
    {
        "unsubscribe",
        "TEMPLATESENDJOBFINISH",
        "user_authorization_revoke",
        "user_info_modified",
        "user_authorization_cancellation",
    }
)
"""Nobody has the conversation open: neither a reply nor a fault notice is shown."""


class Grant(StrEnum):
    """What an arrival allows to be sent as customer-service messages."""

    MESSAGE = "message"
    EVENT = "event"


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """One message or event."""

    openid: str
    """The person."""
    kind: str
    """MsgType."""
    fields: Fields = ()
    msg_id: int | None = None
    sender: str = ""
    """FromUserName where that is not the person."""

    @property
    def event(self) -> str:
        return str(dict(self.fields).get("Event", "")) if self.kind == "event" else ""

    @property
    def grant(self) -> Grant | None:
        if self.kind != "event":
            return Grant.MESSAGE
        # 客服消息: 点击菜单 (not VIEW), 关注, 扫描二维码.
        return Grant.EVENT if self.event in ("CLICK", "subscribe", "SCAN") else None

    @property
    def wants_answer(self) -> bool:
        """Would a person call it lost when nothing came back?"""
        return self.kind != "event" or self.event == "CLICK"

    @property
    def shows_fault(self) -> bool:
        return self.event not in _SILENT_EVENTS

    @property
    def shows_reply(self) -> bool:
        return self.shows_fault and self.event != "VIEW"


def xml_of(post: Post, *, original_id: str, created_at: int) -> str:
    """As WeChat writes it: text in CDATA, numbers bare, and a `]]>` inside is not escaped."""
    marked = "".join(f"<{name}>{_marked(value)}</{name}>" for name, value in post.fields)
    numbered = "" if post.msg_id is None else f"<MsgId>{post.msg_id}</MsgId>"
    return (
        f"<xml><ToUserName><![CDATA[{original_id}]]></ToUserName>"
        f"<FromUserName><![CDATA[{post.sender or post.openid}]]></FromUserName>"
        f"<CreateTime>{created_at}</CreateTime>"
        f"<MsgType><![CDATA[{post.kind}]]></MsgType>{marked}{numbered}</xml>"
    )


def _marked(value: Value) -> str:
    return f"<![CDATA[{value}]]>" if isinstance(value, str) else str(value)


def text(openid: str, content: str, menu_id: str = "") -> Post:
    """`menu_id`: of the tapped line of a msgmenu, whose content arrives as if it were typed."""
    tapped: Fields = (("bizmsgmenuid", menu_id),) if menu_id else ()
    return Post(openid=openid, kind="text", fields=(("Content", content), *tapped))


def unsupported(openid: str) -> Post:
    return text(openid, UNSUPPORTED)


def voice(openid: str, media_id: str, recognition: str = "") -> Post:
    fields = (("MediaId", media_id), ("Format", "amr"), ("Recognition", recognition))
    return Post(openid=openid, kind="voice", fields=fields)


def image(openid: str, media_id: str, pic_url: str) -> Post:
    return Post(openid=openid, kind="image", fields=(("PicUrl", pic_url), ("MediaId", media_id)))


def video(openid: str, media_id: str, thumb_media_id: str, *, is_short: bool = False) -> Post:
    fields = (("MediaId", media_id), ("ThumbMediaId", thumb_media_id))
    return Post(openid=openid, kind="shortvideo" if is_short else "video", fields=fields)


def location(openid: str, latitude: float, longitude: float, label: str, scale: int = 20) -> Post:
    """A place that the person sends; `report_location` is the phone's own report."""
    fields: Fields = (
        ("Location_X", latitude),
        ("Location_Y", longitude),
        ("Scale", scale),
        ("Label", label),
    )
    return Post(openid=openid, kind="location", fields=fields)


def link(openid: str, title: str, description: str, url: str) -> Post:
    fields = (("Title", title), ("Description", description), ("Url", url))
    return Post(openid=openid, kind="link", fields=fields)


def subscribe(openid: str, *, scene: str = "", trade_no: str = "") -> Post:
    """Following: by itself, by a QR code with `scene`, or after paying (`trade_no`)."""
    if scene:
        return _event(openid, "subscribe", EventKey=f"qrscene_{scene}", Ticket=f"ticket-{scene}")
    return _event(openid, "subscribe", EventKey=f"last_trade_no_{trade_no}" if trade_no else "")


def unsubscribe(openid: str) -> Post:
    return _event(openid, "unsubscribe", EventKey="")


def scan(openid: str, scene: str) -> Post:
    """A follower scanned a QR code with `scene`."""
    return _event(openid, "SCAN", EventKey=scene, Ticket=f"ticket-{scene}")


def report_location(openid: str, latitude: float, longitude: float, precision: float = 65.0) -> Post:
    return _event(openid, "LOCATION", Latitude=latitude, Longitude=longitude, Precision=precision)


def click(openid: str, key: str) -> Post:
    return _event(openid, "CLICK", EventKey=key)


def view(openid: str, url: str) -> Post:
    return _event(openid, "VIEW", EventKey=url)


def template_sent(openid: str, msg_id: int, status: str = "success") -> Post:
    """`status`: success, "failed:user block" or "failed: system failed"."""
    return _event(openid, "TEMPLATESENDJOBFINISH", MsgID=msg_id, Status=status)


def authorization(openid: str, event: str, app_id: str) -> Post:
    """user_authorization_revoke, user_info_modified or user_authorization_cancellation."""
    fields: Fields = (("Event", event), ("OpenID", openid), ("AppID", app_id), ("RevokeInfo", "1"))
    return Post(openid=openid, kind="event", fields=fields, sender=PLATFORM_SENDER)


def _event(openid: str, event: str, **fields: Value) -> Post:
    return Post(openid=openid, kind="event", fields=(("Event", event), *fields.items()))


def post_in(xml: str, openid: str) -> Post | None:
    """What raw XML amounts to; None when it is nothing that WeChat could have sent."""
    try:
        root = ElementTree.fromstring(xml)  # noqa: S314 - written by the test itself
    except (ElementTree.ParseError, ValueError):
        return None
    kind = root.findtext("MsgType")
    if not kind:
        return None
    fields = tuple((child.tag, child.text or "") for child in root if child.tag not in _ENVELOPE)
    number = root.findtext("MsgId") or ""
    msg_id = int(number) if number.isdecimal() else None
    return Post(openid=openid, kind=kind, fields=fields, msg_id=msg_id)
