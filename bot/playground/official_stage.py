"""QQ's official bot on its stage: the platform signs its events for the bot's webhook, and the bot answers by the API.

Invariant: the API is a call within this process: whatever address the bot believes it has, nothing leaves it.
"""

import hashlib
from dataclasses import replace
from typing import Final

import httpx
from typing_extensions import override

from bot.conversation.message import PLAYGROUND
from bot.playground.acting import MOST
from bot.playground.playing import Knobs
from bot.playground.qq_stage import QQStage
from bot.playground.qq_state import Act, Answer, Line, Member, Place, Window
from bot.playground.qq_talk import Quoted, Record
from simulators.qq import Delivery, QQPlatform, Quote, Scene, Sight, SystemClock
from simulators.qq.clock import Clock

CHANNEL: Final = "qq"
APP_ID: Final = f"{PLAYGROUND}-qq"
API_BASE: Final = "http://api.playground.invalid"
"""A name that there is not (RFC 2606): what misses the stage arrives nowhere."""
_SCENES = {Place.GROUP: Scene.GROUP, Place.PRIVATE: Scene.C2C}


class OfficialStage(QQStage):
    """One bot of the open platform."""

    def __init__(
        self,
        url: str,
        secret: str,
        knobs: Knobs,
        *,
        clock: Clock | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`url`: of the door. `clock` and `transport` of tests."""
        clock = clock or SystemClock()
        super().__init__(CHANNEL, APP_ID, knobs, now=clock.now)
        self.secret = secret
        # Not opened: neither its API nor its gateway listens anywhere.
        self.platform = QQPlatform(url, APP_ID, secret, clock=clock, transport=transport)
        self.platform.places.on_sight = self._see
        self.group = _openid(Place.GROUP, "")

    async def close(self) -> None:
        await super().close()
        await self.platform.close()

    def openid(self, place: Place, name: str) -> str:
        """Another one in the group than in private, as on the platform."""
        return _openid(place, name)

    @override
    def name_of(self, openid: str) -> str:
        """In a group somebody has another id than in private."""
        ids = ((name, self.openid(place, name)) for name in self._members for place in Place)
        return next((name for name, known in ids if known == openid), "")

    def _named(self, place: Place, member: Member) -> tuple[str, str, float]:
        ref = self.platform.new_id()
        return ref, f"{_SCENES[place].value}:{ref}", self.now()

    async def _say(self, line: Line, at: float, quotes: Quoted | None) -> bool:
        openid = self.openid(line.place, line.who)
        quote = None
        if quotes is not None:
            author = {"member_openid": self.openid(line.place, quotes.who)} if quotes.who else None
            quote = Quote(text=quotes.text, message_id=quotes.ref, is_bot=not quotes.who, author=author)
        if line.place is Place.PRIVATE:
            delivery = await self.platform.say(
                openid, line.text, message_id=line.ref, username=line.who, quotes=quote
            )
        else:
            delivery = await self.platform.say_in(
                self.group,
                openid,
                line.text,
                at_bot=line.is_addressed,
                message_id=line.ref,
                username=line.shown,
                role=line.role.value,
                quotes=quote,
            )
        return self._taken(delivery)

    async def _do(self, record: Record, member: Member | None) -> bool:
        operator = self.openid(Place.GROUP, next(iter(self._members)))
        match record.line.act:
            case Act.MUTE | Act.UNMUTE:
                self.platform.mute(self.group, is_muted=record.line.act is Act.MUTE)
                return True
            case Act.REMOVE:
                return self._taken(await self.platform.remove_from_group(self.group, operator))
            case Act.INVITE:
                return self._taken(await self.platform.add_to_group(self.group, operator))
            case Act.BEFRIEND:
                return self._taken(await self.platform.befriend(self.openid(Place.PRIVATE, record.line.who)))
            case _:
                # The platform does not tell a bot who comes and goes.
                return True

    def _taken(self, delivery: Delivery) -> bool:
        self.platform.forget(MOST)
        return delivery.is_acknowledged

    def _told(self, line: Line) -> Line:
        if line.act is not Act.TEXT:
            return line
        sending = self.platform.sending
        allowance = sending.rules.allowance(_SCENES[line.place])
        return replace(
            line,
            window=Window(
                used=sending.windows.used(line.ref),
                most=allowance.messages or 0,
                minutes=round(allowance.seconds / 60),
            ),
        )

    def _see(self, sight: Sight) -> None:
        place = Place.PRIVATE if sight.scene is Scene.C2C else Place.GROUP
        who = "" if place is Place.GROUP else self._person(sight.place)
        record = self.talk.answered(sight.msg_id) or self.talk.guessed(place, who, sight.text)
        if record is None:
            record = self.talk.add(place, self._members.get(who), Act.UNASKED)
        answer = Answer(ref=sight.message_id, at=sight.at, after_seconds=0.0, text=sight.text.strip())
        self.talk.show(record, answer)

    def _person(self, openid: str) -> str:
        return next((name for name in self._members if self.openid(Place.PRIVATE, name) == openid), "")


def _openid(place: Place, name: str) -> str:
    """The same for the same name, so that who was somebody before a restart is so again."""
    return hashlib.sha256(f"{place.value}:{name}".encode()).hexdigest()[:32].upper()
