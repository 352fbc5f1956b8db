"""What people do before the bot's account, by name: each method sends one event.

Invariant: an event that claims nothing odd is as NapCat writes it.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from simulators.onebot.platform import Id, Platform
from simulators.onebot.segments import Segment, at, reply, text

ANONYMOUS = 80_000_000
"""The user_id that all anonymous members share."""


def number_of(name: str) -> int:
    """A stable QQ number for a made-up name; a number is itself."""
    if name.isdecimal():
        return int(name)
    return 10_000_000 + int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) % 90_000_000


class Speaking:
    """`OneBotClient`'s larger half."""

    self_id: Id
    _platform: Platform

    async def send_raw(self, frame: str | bytes) -> None:
        """Send a frame as it is. Raises ConnectionError when disconnected."""
        raise NotImplementedError

    def new_id(self) -> int:
        """The id of a message that is still to be said: for `overrides`."""
        return self._platform.new_id()

    async def send_event(self, event: Mapping[str, Any]) -> None:
        """Send any event."""
        await self.send_raw(json.dumps(event, ensure_ascii=False))

    async def say_private(self, user_id: Id, words: str, *, nickname: str = "", **how: Any) -> Any:
        """A friend writes. Returns the message id; `how` as in `say`."""
        sender = {"nickname": nickname or f"用户{user_id}", "card": ""}
        return await self.say(user_id, [text(words)], sender=sender, **how)

    async def say_group(
        self,
        group_id: Id,
        user_id: Id,
        words: str,
        *,
        at_bot: bool = True,
        nickname: str = "",
        card: str | None = "",
        role: str | None = "member",
        reply_to: Id | None = None,
        mentions: tuple[Id, ...] = (),
        **how: Any,
    ) -> Any:
        """A member writes in a group. `role` None leaves the field out, as NapCat sometimes does.

        Returns the message id; `how` as in `say`. A `reply_to` that nobody wrote is a lost quotation.
        """
        segments = [] if reply_to is None else [reply(reply_to)]
        segments += [at(self.self_id), text(f" {words}")] if at_bot else [text(words)]
        segments += [at(user) for user in mentions]
        sender = {"nickname": nickname or f"用户{user_id}", "card": card}
        if role is not None:
            sender["role"] = role
        return await self.say(user_id, segments, group_id=group_id, sender=sender, **how)

    async def say_anonymous(self, group_id: Id, words: str, *, at_bot: bool = True, **how: Any) -> Any:
        """Somebody writes under a mask: the user_id is everybody's."""
        mask = {"id": 1, "name": "匿名", "flag": "FLAG"}
        overrides = {"sub_type": "anonymous", "anonymous": mask} | dict(how.pop("overrides", {}))
        return await self.say_group(
            group_id, ANONYMOUS, words, at_bot=at_bot, nickname="匿名消息", overrides=overrides, **how
        )

    async def say(
        self,
        user_id: Id,
        segments: list[Segment],
        *,
        group_id: Id | None = None,
        sender: dict[str, Any] | None = None,
        sent_at: int | None = None,
        is_string: bool = False,
        overrides: Mapping[str, Any] | None = None,
    ) -> Any:
        """Somebody sends any segments, now or `sent_at` (seconds), as an array or as CQ codes.

        `overrides` replace fields of the event: a message_id in words, negative or above int32, a
        time in milliseconds, a self_id in words, `anonymous: None`. Returns the message id, as sent.
        """
        event = self._platform.user_message(
            user_id,
            segments,
            group_id=group_id,
            sender=sender or {},
            sent_at=sent_at,
            is_string=is_string,
            overrides=overrides,
        )
        await self.send_event(event)
        return event["message_id"]

    async def befriend(self, user_id: Id) -> None:
        """Somebody adds the bot as a friend."""
        await self.notice("friend_add", user_id=user_id)

    async def join_group(self, group_id: Id, *, user_id: Id | None = None, operator_id: Id = 0) -> None:
        """The bot, or `user_id`, joins a group."""
        joiner = self.self_id if user_id is None else user_id
        if user_id is None:
            self._platform.left.discard(str(group_id))
        await self.notice(
            "group_increase", sub_type="invite", group_id=group_id, user_id=joiner, operator_id=operator_id
        )

    async def leave_group(self, group_id: Id, *, operator_id: Id = 0) -> None:
        """The bot is removed from a group: nothing it sends there arrives any more."""
        self._platform.left.add(str(group_id))
        await self.notice(
            "group_decrease",
            sub_type="kick_me",
            group_id=group_id,
            user_id=self.self_id,
            operator_id=operator_id,
        )

    async def mute(
        self, group_id: Id, *, seconds: int = 600, operator_id: Id = 0, is_noticed: bool = True
    ) -> None:
        """The bot may say nothing in a group, until `unmute`; the time itself does not end it.

        `is_noticed` False: only the refusals tell the bot.
        """
        self._platform.muted.add(str(group_id))
        if is_noticed:
            await self._ban("ban", group_id, self.self_id, seconds, operator_id)

    async def unmute(self, group_id: Id, *, operator_id: Id = 0) -> None:
        self._platform.muted.discard(str(group_id))
        await self._ban("lift_ban", group_id, self.self_id, 0, operator_id)

    async def mute_everybody(self, group_id: Id, *, operator_id: Id = 0) -> None:
        """全体禁言, until `unmute_everybody`; who runs the group may speak (`make_admin`)."""
        self._platform.silent.add(str(group_id))
        await self._ban("ban", group_id, 0, -1, operator_id)

    async def unmute_everybody(self, group_id: Id, *, operator_id: Id = 0) -> None:
        self._platform.silent.discard(str(group_id))
        await self._ban("lift_ban", group_id, 0, 0, operator_id)

    async def make_admin(self, group_id: Id) -> None:
        """The bot becomes an admin of a group."""
        self._platform.admin_of.add(str(group_id))
        await self.notice("group_admin", sub_type="set", group_id=group_id, user_id=self.self_id)

    async def notice(self, notice_type: str, **fields: Any) -> None:
        """Any other notice: group_admin, group_recall, notify …"""
        await self.send_event(self._platform.notice(notice_type, **fields))

    async def heartbeat(self, *, is_online: bool = True) -> None:
        await self.send_event(self._platform.heartbeat(is_online=is_online))

    async def _ban(self, sub_type: str, group_id: Id, user_id: Id, seconds: int, operator_id: Id) -> None:
        await self.notice(
            "group_ban",
            sub_type=sub_type,
            group_id=group_id,
            user_id=user_id,
            operator_id=operator_id,
            duration=seconds,
        )
