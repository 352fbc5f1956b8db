"""OneBot on its stage: a QQ client of our own, connected to the bot through the playground's door.

Invariant: it is one connection under one id, which no real account has; what the bot sends on it is shown here and
goes nowhere else.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from loguru import logger
from typing_extensions import override
from websockets.exceptions import WebSocketException

from bot.conversation.message import PLAYGROUND
from bot.playground.acting import MOST
from bot.playground.playing import Knobs
from bot.playground.qq_stage import QQStage
from bot.playground.qq_state import Act, Answer, Line, Member, Place
from bot.playground.qq_talk import Quoted, Record
from simulators.onebot import HandshakeRefused, OneBotClient, SentMessage, number_of

CHANNEL: Final = "onebot"
SELF_ID: Final = 9_999
"""QQ's own numbers begin at 10000, and `jide simulate` connects under that one: of two connections of one id the
older is closed."""
GROUP: Final = 100
"""As in the examples of `jide simulate`: who is in both is the same person in the same group."""

_GONE = (OSError, WebSocketException)
"""What a connection raises that is not there."""


class OneBotStage(QQStage):
    """Connects with the first act, and again when it has to."""

    def __init__(
        self,
        url: str,
        token: str,
        knobs: Knobs,
        *,
        name: str = "记得",
        now: Callable[[], float] = time.time,
    ) -> None:
        """`url`: of the door, ws://…. `name`: of the bot in QQ."""
        super().__init__(CHANNEL, PLAYGROUND, knobs, now=now)
        self.token = token
        self.client = OneBotClient(url, self_id=SELF_ID, access_token=token, nickname=name)
        self.client.on_sent = self._see
        self._connecting = asyncio.Lock()

    async def close(self) -> None:
        await super().close()
        await self.client.close()

    @override
    def name_of(self, openid: str) -> str:
        member = self._named_by(openid)
        return member.name if member is not None else ""

    def _named(self, place: Place, member: Member) -> tuple[str, str, float]:
        at = int(self.now())
        number = self.client.new_id()
        where = str(GROUP) if place is Place.GROUP else "private"
        return str(number), f"{where}:{number_of(member.name)}:{number}:{at}", at

    async def _say(self, line: Line, at: float, quotes: Quoted | None) -> bool:
        if not await self._connected():
            return False
        sent_at, overrides = int(at), {"message_id": int(line.ref)}
        number = number_of(line.who)
        try:
            if line.place is Place.PRIVATE:
                await self.client.say_private(
                    number, line.text, nickname=line.who, sent_at=sent_at, overrides=overrides
                )
            else:
                await self.client.say_group(
                    GROUP,
                    number,
                    line.text,
                    at_bot=line.is_addressed,
                    nickname=line.who,
                    card=line.shown if line.shown != line.who else "",
                    role=line.role.value,
                    reply_to=int(quotes.ref) if quotes else None,
                    sent_at=sent_at,
                    overrides=overrides,
                )
        except _GONE:
            return False
        return True

    async def _do(self, record: Record, member: Member | None) -> bool:
        if not await self._connected():
            return False
        client, number = self.client, number_of(member.name) if member else 0
        try:
            match record.line.act:
                case Act.JOIN:
                    await client.join_group(GROUP, user_id=number)
                case Act.LEAVE:
                    await client.notice("group_decrease", sub_type="leave", group_id=GROUP, user_id=number)
                case Act.MUTE:
                    await client.mute(GROUP)
                case Act.UNMUTE:
                    await client.unmute(GROUP)
                case Act.REMOVE:
                    await client.leave_group(GROUP)
                case Act.INVITE:
                    await client.join_group(GROUP)
                case _:
                    await client.befriend(number)
        except _GONE:
            return False
        return True

    async def _connected(self) -> bool:
        async with self._connecting:
            if self.client.is_connected:
                return True
            try:
                await self.client.close()
                await self.client.connect()
            except (HandshakeRefused, *_GONE) as error:
                logger.warning("试用场的 QQ 没有连上机器人：{}", type(error).__name__)
                return False
            return True

    def _see(self, sent: SentMessage) -> None:
        place = Place.PRIVATE if sent.group_id is None else Place.GROUP
        named = sent.mentions if place is Place.GROUP else (str(sent.user_id),)
        people = [self._named_by(number) for number in named]
        record = self.talk.guessed(place, next((each.name for each in people if each), ""), sent.text)
        if record is None:
            record = self.talk.add(place, next(filter(None, people), None), Act.UNASKED)
        answer = Answer(
            ref=str(sent.message_id),
            at=self.now(),
            after_seconds=0.0,
            text=sent.text.strip(),
            mentions=tuple(each.shown for each in people if each) if place is Place.GROUP else (),
            is_folded=sent.is_forward,
        )
        self.talk.show(record, answer)
        self.client.forget(MOST)

    def _named_by(self, number: str) -> Member | None:
        return next((each for each in self._members.values() if str(number_of(each.name)) == number), None)
