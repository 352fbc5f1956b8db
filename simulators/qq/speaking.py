"""What people do before the bot, by name: each method sends one event and gives its delivery.

Invariant: whoever does something is known, and what may be answered is open, before the event goes out.
"""

import itertools
import secrets
from collections.abc import Sequence
from typing import Any

from . import events
from .account import BotAccount, Scene
from .api import Api, direct_session_of
from .clock import Clock
from .deliveries import Delivery
from .events import Fields
from .places import Places

GUILD = "4611686018427387904"


class Speaking:
    """`QQPlatform`'s larger half. A delivery ends when the event is acknowledged, or given up."""

    account: BotAccount
    clock: Clock
    places: Places
    api: Api
    _message_numbers: "itertools.count[int]"

    async def dispatch(
        self,
        event: str,
        d: Fields,
        *,
        scene: Scene | None = None,
        place: str = "",
        event_id: str = "",
        guild_id: str = "",
    ) -> Delivery:
        """Any event. With `scene` and `place`, it may be answered there as far as its type allows."""
        raise NotImplementedError

    async def say(self, openid: str, text: str, *, message_id: str = "", **how: Any) -> Delivery:
        """C2C_MESSAGE_CREATE. `how`: as of `events.c2c_message`."""
        d = events.c2c_message(message_id or self.new_id(), openid, text, self.clock.now(), **how)
        return await self.dispatch("C2C_MESSAGE_CREATE", d, scene=Scene.C2C, place=openid)

    async def say_in(
        self,
        group: str,
        member: str,
        text: str,
        *,
        at_bot: bool = True,
        is_full: bool = False,
        message_id: str = "",
        mentions: Sequence[Fields] = (),
        **how: Any,
    ) -> Delivery:
        """A member writes in a group, to the bot: GROUP_AT_MESSAGE_CREATE, the text behind a space.

        `at_bot` False, or `is_full`: in a group whose every message the bot gets, GROUP_MESSAGE_CREATE, the
        mention written out. `how`: as of `events.group_message`.
        """
        is_full = is_full or not at_bot
        content = text if not at_bot else f" {text}"
        if is_full and at_bot:
            content = f" <@{self.account.member_openid}>{content}"
            mentions = [self._own_mention(), *mentions]
        d = events.group_message(
            message_id or self.new_id(),
            group,
            member,
            content,
            self.clock.now(),
            mentions=mentions,
            **how,
        )
        event = "GROUP_MESSAGE_CREATE" if is_full else "GROUP_AT_MESSAGE_CREATE"
        return await self.dispatch(event, d, scene=Scene.GROUP, place=group)

    async def say_in_channel(
        self,
        channel: str,
        user: str,
        text: str,
        *,
        guild: str = GUILD,
        at_bot: bool = True,
        message_id: str = "",
        mentions: Sequence[Fields] = (),
        **how: Any,
    ) -> Delivery:
        """AT_MESSAGE_CREATE, or MESSAGE_CREATE without the mention. `how`: as of `events.guild_message`."""
        if at_bot:
            text = f"<@!{self.account.id}> {text}"
            mentions = [events.bot_mention(self.account), *mentions]
        d = self._guild_message(message_id, guild, channel, user, text, mentions=mentions, **how)
        self.api.guilds.of_channel[channel] = guild
        event = "AT_MESSAGE_CREATE" if at_bot else "MESSAGE_CREATE"
        return await self.dispatch(event, d, scene=Scene.CHANNEL, place=channel, guild_id=guild)

    async def say_directly(
        self, user: str, text: str, *, guild: str = GUILD, message_id: str = "", **how: Any
    ) -> Delivery:
        """DIRECT_MESSAGE_CREATE. `how`: as of `events.guild_message`."""
        session = direct_session_of(user)
        d = self._guild_message(message_id, session, session, user, text, **how) | {
            "src_guild_id": guild,
            "direct_message": True,
        }
        self.api.guilds.directs[session] = user
        return await self.dispatch("DIRECT_MESSAGE_CREATE", d, scene=Scene.DIRECT, place=user)

    async def befriend(self, openid: str) -> Delivery:
        """Somebody adds the bot: FRIEND_ADD."""
        self.places.open(Scene.C2C, openid).is_left = False
        return await self._friend_event("FRIEND_ADD", openid)

    async def unfriend(self, openid: str) -> Delivery:
        """FRIEND_DEL. Nothing reaches them from then on."""
        self.places.open(Scene.C2C, openid).is_left = True
        return await self._friend_event("FRIEND_DEL", openid)

    async def refuse_pushes(self, openid: str) -> Delivery:
        """Receiving is switched off: C2C_MSG_REJECT."""
        self.places.open(Scene.C2C, openid).is_push_refused = True
        return await self._friend_event("C2C_MSG_REJECT", openid)

    async def receive_pushes(self, openid: str) -> Delivery:
        """Receiving is switched on: C2C_MSG_RECEIVE."""
        self.places.open(Scene.C2C, openid).is_push_refused = False
        return await self._friend_event("C2C_MSG_RECEIVE", openid)

    async def add_to_group(self, group: str, operator: str) -> Delivery:
        """A member brings the bot into a group: GROUP_ADD_ROBOT."""
        self.places.open(Scene.GROUP, group).is_left = False
        return await self._group_event("GROUP_ADD_ROBOT", group, operator)

    async def remove_from_group(self, group: str, operator: str) -> Delivery:
        """GROUP_DEL_ROBOT. Nothing reaches the group from then on."""
        self.places.open(Scene.GROUP, group).is_left = True
        return await self._group_event("GROUP_DEL_ROBOT", group, operator)

    async def refuse_group_pushes(self, group: str, operator: str) -> Delivery:
        """GROUP_MSG_REJECT."""
        self.places.open(Scene.GROUP, group).is_push_refused = True
        return await self._group_event("GROUP_MSG_REJECT", group, operator)

    async def receive_group_pushes(self, group: str, operator: str) -> Delivery:
        """GROUP_MSG_RECEIVE."""
        self.places.open(Scene.GROUP, group).is_push_refused = False
        return await self._group_event("GROUP_MSG_RECEIVE", group, operator)

    async def press(
        self, presser: str, *, group: str = "", button_id: str = "1", button_data: str = ""
    ) -> Delivery:
        """Somebody presses a button, alone with the bot or in a group: INTERACTION_CREATE."""
        where = {"user_openid": presser}
        if group:
            where = {"group_openid": group, "group_member_openid": presser}
        interaction_id = secrets.token_hex(16)
        d = events.interaction(
            interaction_id,
            self.account.app_id,
            self.clock.now(),
            where=where,
            button_id=button_id,
            button_data=button_data,
        )
        self.api.interactions[interaction_id] = None
        scene = Scene.GROUP if group else Scene.C2C
        return await self.dispatch("INTERACTION_CREATE", d, scene=scene, place=group or presser)

    def mute(self, group: str, *, is_muted: bool = True) -> None:
        """The bot may say nothing in a group: 40054002. No event tells of it."""
        self.places.open(Scene.GROUP, group).is_muted = is_muted

    async def _friend_event(self, event: str, openid: str) -> Delivery:
        d = events.friend_event(openid, self.clock.now())
        return await self.dispatch(event, d, scene=Scene.C2C, place=openid)

    async def _group_event(self, event: str, group: str, operator: str) -> Delivery:
        d = events.group_event(group, operator, self.clock.now())
        return await self.dispatch(event, d, scene=Scene.GROUP, place=group)

    def _guild_message(
        self, message_id: str, guild: str, channel: str, user: str, text: str, **how: Any
    ) -> Fields:
        how.setdefault("seq", next(self._message_numbers))
        d = events.guild_message(
            message_id or f"08{secrets.token_hex(12)}",
            guild,
            channel,
            user,
            text,
            self.clock.now(),
            **how,
        )
        self.api.guilds.messages[d["id"]] = d
        return d

    def _own_mention(self) -> Fields:
        return events.mention(self.account.member_openid, self.account.username, is_you=True)

    def new_id(self) -> str:
        """Of a message that is still to be said: for `message_id`."""
        return f"ROBOT1.0_{secrets.token_urlsafe(18)}.{next(self._message_numbers)}!"
