# pyright: basic
"""QQ official event → `Message`.

Invariant: identity comes from the platform's ids alone, `Message.text` holds only what the sender typed, and
`Message.key` says what the outbox replies to (`reply_to`), so an answer can go out after a restart.
"""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, timezone

from loguru import logger
from nonebot.adapters import Event
from nonebot.adapters.qq.event import (
    C2CMsgReceiveEvent,
    C2CMsgRejectEvent,
    DirectMessageCreateEvent,
    FriendAddEvent,
    FriendDelEvent,
    FriendRobotEvent,
    GroupAddRobotEvent,
    GroupDelRobotEvent,
    GroupMsgReceiveEvent,
    GroupMsgRejectEvent,
    GroupRobotEvent,
    GuildMessageEvent,
    InteractionCreateEvent,
)

from bot.channels.calling import Calls
from bot.channels.qq_content import kind_of, media_of, own_words, quoted_of
from bot.channels.qq_events import LooseC2CMessage, LooseGroupMessage
from bot.conversation.message import AccountKey, Conversation, Kind, Message, Role
from bot.conversation.shown_name import shown_name

CHANNEL = "qq"
GUILD_CHANNEL = "channel-"
"""Before the id of a guild's channel, which is a number; the openid of a group is not."""

_BEIJING = timezone(timedelta(hours=8))
"""The documents' times are of this zone; one without a zone is too."""
_MILLISECONDS_FROM = 1e11
_GUILD_ROLES = {"4": Role.OWNER, "2": Role.ADMIN}
"""Of a guild (bot-docs role_model.md). 5, who runs one channel, runs no bot."""
_MENTION = re.compile(r"<@!?(\w+)>")


class QQMapping:
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

    def to_message(self, event: Event, *, app_id: str, bot_id: str = "") -> Message | None:
        """What a person said or did, or None where there is nothing to answer or keep.

        `app_id` is the bot's appid; `bot_id` its own user id in guilds, "" where it isn't known.
        """
        match event:
            case LooseC2CMessage() | LooseGroupMessage():
                return self._said(event, app_id)
            case GuildMessageEvent():
                return self._said_in_guild(event, app_id, bot_id)
            case FriendAddEvent() | FriendDelEvent() | GroupAddRobotEvent() | GroupDelRobotEvent():
                return self._came_or_went(event, app_id)
            case InteractionCreateEvent():
                return self._tapped(event, app_id)
            case C2CMsgRejectEvent() | GroupMsgRejectEvent():
                logger.info(
                    "QQ: {}: no messages wanted but replies, which is all we send", event.get_event_name()
                )
            case C2CMsgReceiveEvent() | GroupMsgReceiveEvent():
                logger.info("QQ: {}: messages wanted again", event.get_event_name())
        return None

    def _said(self, event: LooseC2CMessage | LooseGroupMessage, app_id: str) -> Message | None:
        is_group = isinstance(event, LooseGroupMessage)
        openid = event.author.member_openid if is_group else event.author.user_openid
        place = event.group_openid if is_group else openid
        if event.author.bot or not place:
            return None
        mentions = [each for each in event.mentions or () if each.scope == "single"]
        is_named = event.to_me or any(each.is_you for each in mentions)
        text, is_called = self._calls.taken_off(own_words(event), is_addressed=is_named, is_group=is_group)
        people = (each for each in mentions if not each.is_you and not each.bot)
        others = dict.fromkeys(each.member_openid or each.id for each in people)
        return Message(
            key=f"{'group' if is_group else 'c2c'}:{event.id}",
            kind=kind_of(event, text),
            sender=_account(app_id, openid),
            conversation=_conversation(app_id, place if is_group else ""),
            text=text,
            sent_at=self._time(event.timestamp),
            is_addressed=is_named or is_called,
            quoted=quoted_of(event),
            mentioned=tuple(_account(app_id, other) for other in others if other not in ("", openid)),
            unionid=(event.author.union_openid or "").strip(),
            role=_role(event.author.member_role) if is_group else Role.MEMBER,
            media=media_of(event),
            shown_name=shown_name(event.author.username) if is_group else "",
        )

    def _said_in_guild(self, event: GuildMessageEvent, app_id: str, bot_id: str) -> Message | None:
        is_direct = isinstance(event, DirectMessageCreateEvent)
        openid = event.author.id
        if event.author.bot or not openid or openid == bot_id:
            return None
        named = [user.id for user in event.mentions or () if user.id] or _MENTION.findall(event.content or "")
        is_named = is_direct or event.to_me or (bool(bot_id) and bot_id in named)
        text, is_called = self._calls.taken_off(
            own_words(event), is_addressed=is_named, is_group=not is_direct
        )
        bots = {user.id for user in event.mentions or () if user.bot}
        others = [
            other for other in dict.fromkeys(named) if other not in (openid, bot_id) and other not in bots
        ]
        return Message(
            key=f"direct:{event.guild_id}:{event.id}" if is_direct else f"channel:{event.id}",
            kind=kind_of(event, text),
            sender=_account(app_id, openid),
            conversation=_conversation(app_id, "" if is_direct else f"{GUILD_CHANNEL}{event.channel_id}"),
            text=text,
            sent_at=self._time(event.timestamp),
            is_addressed=is_named or is_called,
            quoted=quoted_of(event),
            mentioned=tuple(_account(app_id, other) for other in others),
            unionid=(event.author.union_openid or "").strip(),
            role=Role.MEMBER if is_direct else _guild_role(event),
            media=media_of(event),
            shown_name="" if is_direct else _name_in_guild(event),
        )

    def _came_or_went(self, event: FriendRobotEvent | GroupRobotEvent, app_id: str) -> Message | None:
        """A friend, or a group. Who let the bot into a group isn't who it greets: nobody is the sender."""
        is_group = isinstance(event, GroupRobotEvent)
        who = event.group_openid if is_group else event.openid
        if not who:
            return None
        name = event.__type__.value
        when = int(event.timestamp.timestamp()) if event.timestamp else 0
        union = getattr(getattr(event, "author", None), "union_openid", None) or ""
        return Message(
            key=_event_key(event, f"{name}:{who}:{when}"),
            kind=Kind.FOLLOW if isinstance(event, FriendAddEvent | GroupAddRobotEvent) else Kind.UNFOLLOW,
            sender=_account(app_id, "" if is_group else who),
            conversation=_conversation(app_id, who if is_group else ""),
            text="",
            sent_at=self._time(event.timestamp),
            unionid="" if is_group else union.strip(),
        )

    def _tapped(self, event: InteractionCreateEvent, app_id: str) -> Message | None:
        """A tapped button that another plugin of the operator's made: ours sends none."""
        tapped = event.data.resolved
        group = event.group_openid or (f"{GUILD_CHANNEL}{event.channel_id}" if event.channel_id else "")
        openid = (event.group_member_openid if event.group_openid else event.user_openid) or tapped.user_id
        if not tapped.button_data or not openid:
            return None
        return Message(
            key=_event_key(event, f"INTERACTION_CREATE:{event.id}"),
            kind=Kind.CLICK,
            sender=_account(app_id, openid),
            conversation=_conversation(app_id, group),
            text=tapped.button_data.strip(),
            sent_at=self._time(event.timestamp),
        )

    def _time(self, stamp: str | int | datetime | None) -> datetime:
        """RFC 3339, seconds or milliseconds since 1970 (as a number or its digits), or a datetime."""
        try:
            if isinstance(stamp, str) and not stamp.strip().isdecimal():
                stamp = datetime.fromisoformat(stamp.strip())
            if isinstance(stamp, datetime):
                return (stamp if stamp.tzinfo else stamp.replace(tzinfo=_BEIJING)).astimezone(UTC)
            seconds = int(stamp or 0)
            seconds = seconds / 1000 if seconds > _MILLISECONDS_FROM else seconds
            return datetime.fromtimestamp(seconds, UTC) if seconds > 0 else self._now()
        except (OverflowError, OSError, ValueError):
            return self._now()


def _account(app_id: str, openid: str) -> AccountKey:
    return AccountKey(channel=CHANNEL, app_id=app_id, openid=openid)


def _conversation(app_id: str, group: str) -> Conversation:
    return Conversation(channel=CHANNEL, app_id=app_id, group=group)


def _event_key(event: FriendRobotEvent | GroupRobotEvent | InteractionCreateEvent, otherwise: str) -> str:
    """What can be replied to has an id; without one only a redelivery is to be known again."""
    return f"event:{event.event_id}" if event.event_id else f"mute:{otherwise}"


def _role(stated: str | None) -> Role:
    try:
        return Role(stated or "")
    except ValueError:
        return Role.MEMBER


def _name_in_guild(event: GuildMessageEvent) -> str:
    return shown_name(event.member and event.member.nick) or shown_name(event.author.username)


def _guild_role(event: GuildMessageEvent) -> Role:
    held = (event.member.roles if event.member else None) or ()
    return next((role for number, role in _GUILD_ROLES.items() if number in held), Role.MEMBER)
