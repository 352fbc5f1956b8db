# pyright: basic
"""The events of the QQ official bot, made to take what the platform really sends.

Invariant: an event without fields that nobody reads is still an event, and none reaches the log with its
content or its ids.
"""

# The looser models widen what the upstream ones declare, which is the whole point of them.
# pyright: reportIncompatibleVariableOverride=false

import types
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any, Literal

from nonebot.adapters.qq.event import (
    EVENT_CLASSES,
    AtMessageCreateEvent,
    C2CMessageCreateEvent,
    DirectMessageCreateEvent,
    Event,
    FriendRobotEvent,
    GroupAtMessageCreateEvent,
    GroupMessageCreateEvent,
    GroupRobotEvent,
    GuildMessageEvent,
    InteractionCreateEvent,
    MessageCreateEvent,
    QQMessageEvent,
)
from nonebot.adapters.qq.models import (
    Attachment,
    FriendAuthor,
    GroupMemberAuthor,
    GroupMentionEveryone,
    GroupMentionUser,
    Member,
    MessageAttachment,
    QQReplyMessage,
)
from pydantic import BaseModel, model_validator

HOUSE_SEQ = 900
"""`Bot.send` numbers from here, the outbox from 1: an apology must not take the number of an answer."""


class _Quiet:
    """Events that name themselves in the log, and nothing more."""

    def get_event_description(self) -> str:
        return type(self).__name__


class LooseFriend(FriendAuthor):
    id: str = ""
    user_openid: str = ""
    bot: bool | None = None

    @model_validator(mode="after")
    def _fill(self) -> "LooseFriend":
        self.id, self.user_openid = self.id or self.user_openid, self.user_openid or self.id
        return self


class LooseMember(GroupMemberAuthor):
    id: str = ""
    bot: bool | None = None
    member_openid: str = ""
    member_role: str | None = None
    username: str | None = None


class LooseMention(GroupMentionUser):
    scope: Literal["single"] = "single"
    bot: bool | None = None
    id: str = ""
    is_you: bool = False
    member_openid: str = ""
    username: str | None = None


class LooseEveryone(GroupMentionEveryone):
    is_you: bool = True
    username: str | None = None


class LooseAttachment(Attachment):
    content_type: str = ""
    asr_refer_text: str | None = None
    """What the platform heard in a voice message."""


class LooseElement(QQReplyMessage):
    content: str | None = None
    attachments: list[LooseAttachment] | None = None


class LooseScene(BaseModel):
    ext: list[str] = []
    source: str | None = None


class LooseArk(BaseModel):
    prompt: str | None = None


class _LooseMessage(_Quiet, QQMessageEvent):
    content: str | None = None
    timestamp: str | int | None = None
    mentions: list[LooseEveryone | LooseMention] | None = None
    attachments: list[LooseAttachment] | None = None
    message_scene: LooseScene | None = None
    msg_elements: list[LooseElement] | None = None
    ark_data: LooseArk | None = None


class LooseC2CMessage(_LooseMessage, C2CMessageCreateEvent):
    """A private message. `author` has one of its ids at least."""

    author: LooseFriend
    to_me: bool = True
    _reply_seq: int = HOUSE_SEQ


class LooseGroupMessage(_LooseMessage, GroupMessageCreateEvent):
    """A group message: in a group that shows the bot everything, or by a mention."""

    author: LooseMember
    group_id: str = ""
    group_openid: str = ""
    _reply_seq: int = HOUSE_SEQ

    @model_validator(mode="after")
    def _fill(self) -> "LooseGroupMessage":
        self.group_openid = self.group_openid or self.group_id
        return self


class LooseGroupAtMessage(LooseGroupMessage, GroupAtMessageCreateEvent):
    """A group message that mentions the bot: the platform has taken the mention out, not the space after it."""

    to_me: bool = True
    _reply_seq: int = HOUSE_SEQ


class LoosePicture(MessageAttachment):
    url: str = ""
    content_type: str | None = None


class LooseGuildMember(Member):
    joined_at: datetime | None = None


class _LooseGuildMessage(_Quiet, GuildMessageEvent):
    member: LooseGuildMember | None = None
    attachments: list[LoosePicture] | None = None
    embeds: list[Any] | None = None
    ark: Any = None


class LooseChannelMessage(_LooseGuildMessage, MessageCreateEvent):
    """A message in a channel that shows the bot everything."""


class LooseAtMessage(_LooseGuildMessage, AtMessageCreateEvent):
    """A message in a channel that mentions the bot."""

    to_me: bool = True


class LooseDirectMessage(_LooseGuildMessage, DirectMessageCreateEvent):
    """A direct message within a guild."""

    to_me: bool = True


class _LooseUnion(BaseModel):
    union_openid: str | None = None


class _LooseFriendNotice(_Quiet, FriendRobotEvent):
    timestamp: datetime | None = None
    author: _LooseUnion | None = None


class _LooseGroupNotice(_Quiet, GroupRobotEvent):
    timestamp: datetime | None = None
    op_member_openid: str = ""


class LooseInteraction(_Quiet, InteractionCreateEvent):
    """A tapped button."""

    version: int = 1
    timestamp: str | int | None = None
    scene: str = ""
    application_id: str = ""


_LOOSE: Mapping[str, type[Event]] = {
    "C2C_MESSAGE_CREATE": LooseC2CMessage,
    "GROUP_MESSAGE_CREATE": LooseGroupMessage,
    "GROUP_AT_MESSAGE_CREATE": LooseGroupAtMessage,
    "MESSAGE_CREATE": LooseChannelMessage,
    "AT_MESSAGE_CREATE": LooseAtMessage,
    "DIRECT_MESSAGE_CREATE": LooseDirectMessage,
    "INTERACTION_CREATE": LooseInteraction,
}


def _here(namespace: dict[str, Any]) -> None:
    namespace["__module__"] = __name__


@cache
def event_class(name: str) -> type[Event] | None:
    """The class of an event that withstands missing fields and keeps quiet. None: a future event."""
    known = EVENT_CLASSES.get(name)
    if name in _LOOSE or known is None:
        return _LOOSE.get(name)
    looser: type = _Quiet
    if issubclass(known, FriendRobotEvent):
        looser = _LooseFriendNotice
    elif issubclass(known, GroupRobotEvent):
        looser = _LooseGroupNotice
    return types.new_class(f"Loose{known.__name__}", (looser, known), exec_body=_here)
