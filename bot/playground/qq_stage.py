"""What the QQ stages have in common: a group with its members, private chats, and what was said in both.

Invariant: as of `bot.playground.acting`; who is a member, what their role is and whether the bot is there is decided
here, what of it goes out and how by the platform that is played.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from bot.conversation.message import Role, is_playground
from bot.playground.acting import MOST_PEOPLE, CannotPlay, UnderWay, checked_name, checked_words
from bot.playground.changes import Changes
from bot.playground.playing import Knobs
from bot.playground.qq_state import Act, Line, Member, Place, Played
from bot.playground.qq_talk import Quoted, Record, Talk
from bot.playground.why import Why

LONGEST_TEXT_BYTES = 4_500
"""About what a QQ client takes at once."""
FIRST_MEMBERS = (("小明", Role.OWNER), ("小红", Role.ADMIN), ("小刚", Role.MEMBER))


class QQStage(ABC):
    """One bot, in one group and in everybody's private chat. An act raises CannotPlay."""

    def __init__(
        self, channel: str, app_id: str, knobs: Knobs, *, now: Callable[[], float] = time.time
    ) -> None:
        """`channel`: as `AccountKey.channel`. `now`: Unix seconds."""
        self.channel = channel
        self.app_id = app_id
        self.knobs = knobs
        self.changes = Changes()
        self.now = now
        self.talk = Talk(self.changes, now)
        self._members = {
            name: Member(name=name, role=role, card="", is_here=True) for name, role in FIRST_MEMBERS
        }
        self._is_bot_here = True
        self._is_bot_muted = False
        self._under_way = UnderWay()

    async def close(self) -> None:
        await self._under_way.close()

    def state(self, place: Place, who: str) -> Played:
        """`who`: whose private chat; nobody else's is told of."""
        return Played(
            members=tuple(self._members.values()),
            lines=tuple(map(self._told, self.talk.lines(place, who))),
            is_bot_here=self._is_bot_here,
            is_bot_muted=self._is_bot_muted,
            now=self.now(),
        )

    def note(self, why: Why) -> None:
        """The bot decided something: about one of this stage's messages, or another's."""
        if is_playground(why.sender.app_id) and (why.sender.channel, why.sender.app_id) == (
            self.channel,
            self.app_id,
        ):
            self.talk.decide(why.key, why.decided_by, why.pages)

    def say(self, place: Place, who: str, text: str, *, at_bot: bool = False, quotes: str = "") -> None:
        """`quotes`: the ref of something said there; "" is none."""
        member, text = self._speaking(place, who), checked_words(text, LONGEST_TEXT_BYTES)
        quoted = self.talk.quoted(place, who, quotes)
        if quotes and quoted is None:
            raise CannotPlay("nothing_to_quote")
        ref, key, at = self._named(place, member)
        self.knobs.hold(key)
        is_addressed = place is Place.PRIVATE or at_bot
        record = self.talk.add(
            place,
            member,
            Act.TEXT,
            text,
            ref=ref,
            key=key,
            is_addressed=is_addressed,
            quotes=quoted,
        )
        self._start(record, self._say(record.line, at, quoted))

    def join(self, name: str, role: Role, card: str = "") -> str:
        """Somebody new, or somebody who is back. The name, as it is kept."""
        name = checked_name(name)
        before = self._members.get(name)
        if before is not None and before.is_here:
            raise CannotPlay("is_member_already")
        if before is None and len(self._members) >= MOST_PEOPLE:
            raise CannotPlay("too_many_members")
        self._under_way.check_room()
        member = Member(name=name, role=role, card=_card(card), is_here=True)
        self._members[name] = member
        self._happen(Place.GROUP, member, Act.JOIN)
        return name

    def leave(self, who: str) -> None:
        member = self._speaking(Place.GROUP, who)
        self._members[who] = replace(member, is_here=False)
        self._happen(Place.GROUP, member, Act.LEAVE)

    def describe(self, who: str, role: Role, card: str) -> None:
        """Told with what they say next."""
        self._members[who] = replace(self.member(who), role=role, card=_card(card))
        self.changes.note()

    def befriend(self, who: str) -> None:
        self._under_way.check_room()
        self._happen(Place.PRIVATE, self.member(who), Act.BEFRIEND)

    def mute(self, *, is_muted: bool) -> None:
        """The bot, in the group."""
        if is_muted is not self._is_bot_muted:
            self._under_way.check_room()
            self._is_bot_muted = is_muted
            self._happen(Place.GROUP, None, Act.MUTE if is_muted else Act.UNMUTE)

    def bring(self, *, is_here: bool) -> None:
        """The bot into the group, or out of it."""
        if is_here is not self._is_bot_here:
            self._under_way.check_room()
            self._is_bot_here = is_here
            self._happen(Place.GROUP, None, Act.INVITE if is_here else Act.REMOVE)

    @abstractmethod
    def name_of(self, openid: str) -> str:
        """Of a member by the id that the bot knows them by; "" for who isn't known here."""

    def member(self, who: str) -> Member:
        """Raises CannotPlay: nobody of that name is or was in the group."""
        if who not in self._members:
            raise CannotPlay("unknown_member")
        return self._members[who]

    def _speaking(self, place: Place, who: str) -> Member:
        member = self.member(who)
        if place is Place.GROUP and not member.is_here:
            raise CannotPlay("is_no_member")
        self._under_way.check_room()
        return member

    def _happen(self, place: Place, member: Member | None, act: Act) -> None:
        record = self.talk.add(place, member, act)
        self._start(record, self._do(record, member))

    def _start(self, record: Record, going_out: Coroutine[Any, Any, bool]) -> None:
        async def deliver() -> None:
            if not await going_out:
                self.talk.lose(record)

        self._under_way.start(deliver())

    def _told(self, line: Line) -> Line:
        """With what the platform adds."""
        return line

    @abstractmethod
    def _named(self, place: Place, member: Member) -> tuple[str, str, float]:
        """Of a message that is said now: its ref, its key as the bot knows it, and its time."""

    @abstractmethod
    async def _say(self, line: Line, at: float, quotes: Quoted | None) -> bool:
        """Send a message. False: the bot did not take it."""

    @abstractmethod
    async def _do(self, record: Record, member: Member | None) -> bool:
        """Tell the bot of what happened, as far as the platform does."""


def _card(card: str) -> str:
    return checked_name(card) if card.strip() else ""
