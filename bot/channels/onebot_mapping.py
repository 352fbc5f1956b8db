"""OneBot v11 event → `Message`.

Invariant: identity comes from ids alone (never a nickname or card), and `Message.text` holds only what
the sender typed: no mention, no quotation, no forwarded or shared content.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from nonebot.adapters import Event
from nonebot.adapters.onebot.v11 import MessageEvent, NoticeEvent

from bot.channels.calling import Calls
from bot.channels.onebot_content import kind_of, media_of, own_words, quoted_of
from bot.conversation.message import AccountKey, Conversation, Kind, Message, Role
from bot.conversation.shown_name import shown_name

CHANNEL = "onebot"

_ANONYMOUS = "80000000"
"""The user_id that all anonymous group members share (OneBot 11, event/message.md)."""
_EVERYBODY = frozenset({"all", "0"})
"""What a mention of everyone names; Lagrange writes 0 (Lagrange.Core #797)."""
_MILLISECONDS_FROM = 1e11
"""A `time` beyond this is in milliseconds: NapCat falls back to Date.now()."""


class OneBotMapping:
    """Maps the events of one NoneBot application."""

    def __init__(
        self,
        *,
        nicknames: Sequence[str] = (),
        prefix: str = "",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`prefix` "" means none. `now` stands in for events without a usable time."""
        self._calls = Calls(nicknames=nicknames, prefix=prefix)
        self._now = now

    def to_message(self, event: Event, *, self_id: str, app_id: str) -> Message | None:
        """What a person said or did, or None where there is nothing to answer or keep.

        `self_id` is the bot's own number, `app_id` what accounts are filed under: the same, or
        `PLAYGROUND`.
        """
        if isinstance(event, MessageEvent) and event.message_type in ("private", "group"):
            return self._said(event, self_id, app_id)
        if isinstance(event, NoticeEvent):
            return self._noticed(event, self_id, app_id)
        return None

    def _said(self, event: MessageEvent, self_id: str, app_id: str) -> Message | None:
        openid = _openid(event)
        is_group = event.message_type == "group"
        conversation = _group(event, app_id) if is_group else _private(app_id)
        if openid == self_id or conversation is None or not (openid or is_group):
            return None
        segments = event.original_message
        mentions = [str(segment.data.get("qq", "")) for segment in segments if segment.type == "at"]
        text = own_words(segments)
        is_named = not is_group or self_id in mentions or _quotes(event, self_id)
        text, is_called = self._calls.taken_off(text, is_addressed=is_named, is_group=is_group)
        others = dict.fromkeys(qq for qq in mentions if qq and qq != self_id and qq not in _EVERYBODY)
        return Message(
            # Some implementations count message ids per conversation, and begin anew at each start.
            key=f"{conversation.group or 'private'}:{openid}:{event.message_id}:{_seconds(event)}",
            kind=kind_of(text, segments),
            sender=AccountKey(channel=CHANNEL, app_id=app_id, openid=openid),
            conversation=conversation,
            text=text,
            sent_at=self._sent_at(event),
            is_addressed=is_named or is_called or event.to_me,
            quoted=quoted_of(event, segments),
            mentioned=tuple(AccountKey(channel=CHANNEL, app_id=app_id, openid=qq) for qq in others),
            role=_role(event),
            media=media_of(segments),
            shown_name=(shown_name(event.sender.card) or shown_name(event.sender.nickname))
            if is_group
            else "",
        )

    def _noticed(self, event: NoticeEvent, self_id: str, app_id: str) -> Message | None:
        """Somebody befriended the bot, or the bot joined a group."""
        user = str(getattr(event, "user_id", "") or "")
        is_joining = event.notice_type == "group_increase" and user == self_id
        if not is_joining and (event.notice_type != "friend_add" or not user or user == self_id):
            return None
        # Who let the bot into a group is not known for sure, and a greeting is for everyone.
        sender = AccountKey(channel=CHANNEL, app_id=app_id, openid="" if is_joining else user)
        conversation = _group(event, app_id) if is_joining else _private(app_id)
        if conversation is None:
            return None
        return Message(
            key=f"{event.notice_type}:{conversation.group or user}:{_seconds(event)}",
            kind=Kind.FOLLOW,
            sender=sender,
            conversation=conversation,
            text="",
            sent_at=self._sent_at(event),
        )

    def _sent_at(self, event: Event) -> datetime:
        try:
            return datetime.fromtimestamp(_seconds(event), UTC) if _seconds(event) > 0 else self._now()
        except (OverflowError, OSError, ValueError):
            return self._now()


def _openid(event: MessageEvent) -> str:
    """The sender's id, "" for anonymous members: they all share one."""
    openid = str(event.user_id)
    is_anonymous = event.message_type == "group" and (
        event.sub_type == "anonymous" or openid == _ANONYMOUS or bool(getattr(event, "anonymous", None))
    )
    return "" if is_anonymous or openid == "0" else openid


def _private(app_id: str) -> Conversation:
    return Conversation(channel=CHANNEL, app_id=app_id)


def _group(event: Event, app_id: str) -> Conversation | None:
    """The group of an event. None without a usable id: "" would mean a private chat."""
    group = getattr(event, "group_id", None)
    if not isinstance(group, int | str) or not group:
        return None
    return Conversation(channel=CHANNEL, app_id=app_id, group=str(group))


def _role(event: MessageEvent) -> Role:
    try:
        return Role(event.sender.role or "")
    except ValueError:
        return Role.MEMBER


def _quotes(event: MessageEvent, self_id: str) -> bool:
    """Whether it replies to something the bot said."""
    return event.reply is not None and str(event.reply.sender.user_id) == self_id


def _seconds(event: Any) -> int:
    time = int(event.time)
    return time // 1000 if time > _MILLISECONDS_FROM else time
