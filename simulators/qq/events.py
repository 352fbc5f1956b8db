"""The `d` of each event, as the platform writes it.

Invariant: pure; a form of 2023 has only the fields documented then, one of 2026 all that have come since.

Source: QQ 机器人文档 · 事件 (send-receive/event.md, user/manage/event.md, group/manage/event.md), and for the
forms of 2026 what clients of the platform read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .account import BotAccount
from .sending import reference_of, timestamp

TEXT, ARK, QUOTE = 0, 3, 103
"""message_type."""

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A quotation inside a message."""

    text: str
    message_id: str = ""
    """Of the bot's message, or of anybody's; "" for one that is not to be found."""
    is_bot: bool = False
    author: Mapping[str, Any] | None = None
    """As the platform tells it; None: it tells nothing."""
    attachments: Sequence[Mapping[str, Any]] = ()


def attachment(url: str, content_type: str = "image/jpeg", **more: Any) -> Fields:
    """Of a message: image/…, video/mp4, voice, file. `more`: filename, width, height, size."""
    return {"content_type": content_type, "filename": url.rpartition("/")[2], "url": url, **more}


def face(face_id: int, kind: int = 1) -> str:
    """A QQ face, as it stands in a text."""
    return f'<faceType={kind},faceId="{face_id}",ext="eyJ0ZXh0IjoiIn0=">'


def mention(openid: str, username: str = "", *, is_you: bool = False, is_bot: bool = False) -> Fields:
    """One entry of `mentions` in a group."""
    return {
        "scope": "single",
        "id": openid,
        "member_openid": openid,
        "username": username,
        "bot": is_bot or is_you,
        "is_you": is_you,
    }


def mention_all() -> Fields:
    return {"scope": "all", "is_you": True, "username": "全体成员"}


def c2c_message(
    message_id: str,
    openid: str,
    text: str,
    at: float,
    *,
    username: str = "",
    union_openid: str = "",
    quotes: Quote | None = None,
    attachments: Sequence[Fields] = (),
    is_old: bool = False,
) -> Fields:
    d: Fields = {
        "id": message_id,
        "author": {"user_openid": openid},
        "content": text,
        "timestamp": timestamp(at),
    }
    if not is_old:
        d["author"] = {
            "id": openid,
            "user_openid": openid,
            "union_openid": union_openid,
            "username": username,
        }
        d |= _since_2026(message_id, quotes)
    return d | ({"attachments": list(attachments)} if attachments else {})


def group_message(
    message_id: str,
    group: str,
    member: str,
    text: str,
    at: float,
    *,
    username: str = "",
    union_openid: str = "",
    role: str = "member",
    is_bot: bool = False,
    mentions: Sequence[Fields] = (),
    quotes: Quote | None = None,
    attachments: Sequence[Fields] = (),
    is_old: bool = False,
) -> Fields:
    d: Fields = {
        "id": message_id,
        "author": {"member_openid": member},
        "content": text,
        "group_openid": group,
        "timestamp": timestamp(at),
    }
    if not is_old:
        d["author"] = {
            "id": member,
            "member_openid": member,
            "union_openid": union_openid,
            "username": username,
            "bot": is_bot,
            "member_role": role,
        }
        d |= {"group_id": group, "mentions": list(mentions)} | _since_2026(message_id, quotes)
    return d | ({"attachments": list(attachments)} if attachments else {})


def guild_message(
    message_id: str,
    guild: str,
    channel: str,
    user: str,
    text: str,
    at: float,
    *,
    username: str = "",
    roles: Sequence[str] = ("1",),
    is_bot: bool = False,
    mentions: Sequence[Fields] = (),
    quoted_id: str = "",
    attachments: Sequence[Fields] = (),
    seq: int = 1,
) -> Fields:
    """In a channel, and in direct messages."""
    d: Fields = {
        "id": message_id,
        "guild_id": guild,
        "channel_id": channel,
        "author": {"id": user, "username": username, "avatar": "", "bot": is_bot},
        "member": {"joined_at": timestamp(at - 86_400), "nick": username, "roles": list(roles)},
        "content": text,
        "timestamp": timestamp(at),
        "seq": seq,
        "seq_in_channel": str(seq),
    }
    if mentions:
        d["mentions"] = list(mentions)
    if quoted_id:
        d["message_reference"] = {"message_id": quoted_id}
    return d | ({"attachments": list(attachments)} if attachments else {})


def bot_mention(account: BotAccount) -> Fields:
    """The bot, in `mentions` of a guild."""
    return {"id": account.id, "username": account.username, "avatar": "", "bot": True}


def friend_event(openid: str, at: float) -> Fields:
    """FRIEND_ADD, FRIEND_DEL, C2C_MSG_REJECT, C2C_MSG_RECEIVE."""
    return {"openid": openid, "timestamp": int(at)}


def group_event(group: str, operator: str, at: float) -> Fields:
    """GROUP_ADD_ROBOT, GROUP_DEL_ROBOT, GROUP_MSG_REJECT, GROUP_MSG_RECEIVE."""
    return {"group_openid": group, "op_member_openid": operator, "timestamp": int(at)}


def interaction(
    interaction_id: str, app_id: str, at: float, *, where: Mapping[str, str], button_id: str, button_data: str
) -> Fields:
    """A button was pressed. `where`: user_openid, or group_openid and group_member_openid, or a guild's ids."""
    chat_type = 2 if "user_openid" in where else 1 if "group_openid" in where else 0
    resolved = {"button_id": button_id, "button_data": button_data}
    if chat_type == 0:
        resolved["user_id"] = where.get("user_id", "")
    return {
        "id": interaction_id,
        "application_id": app_id,
        "type": 11,
        "version": 1,
        "scene": ("guild", "group", "c2c")[chat_type],
        "chat_type": chat_type,
        "timestamp": timestamp(at),
        "data": {"type": 11, "resolved": resolved},
        **{name: value for name, value in where.items() if name != "user_id"},
    }


def _since_2026(message_id: str, quotes: Quote | None) -> Fields:
    index = reference_of(message_id)
    if quotes is None:
        return {"message_type": TEXT, "message_scene": {"source": "default", "ext": [f"msg_idx={index}"]}}
    quoted = reference_of(quotes.message_id or "lost")
    element: Fields = {"msg_idx": quoted, "message_type": TEXT, "content": quotes.text}
    if quotes.author is not None:
        element["author"] = dict(quotes.author)
    if quotes.attachments:
        element["attachments"] = [dict(each) for each in quotes.attachments]
    scene = {"source": "default", "ext": [f"ref_msg_idx={quoted}", f"msg_idx={index}"]}
    return {"message_type": QUOTE, "message_scene": scene, "msg_elements": [element]}
