# pyright: basic
"""OneBot v11, outgoing: pages → a QQ client, and what is known of them afterwards.

Invariant: a page is handed to the client once, and once more only where a merged forward with it was refused for
certain; always as a text segment, so that nothing in a reply is ever read as a CQ code; whatever is not certainly
undelivered counts as unknown.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from enum import StrEnum

from nonebot.adapters import Bot as AnyBot
from nonebot.adapters.onebot.v11 import (
    ActionFailed,
    Bot,
    MessageSegment,
    NetworkError,
)
from nonebot.adapters.onebot.v11 import Message as Segments
from nonebot.adapters.onebot.v11.exception import ApiNotAvailable
from nonebot.exception import WebSocketClosed

from bot.alerts import OperatorAlerts
from bot.channels.onebot_forward import alone, batches, nodes
from bot.channels.onebot_guard import Played
from bot.channels.onebot_troubles import Cause, Troubles, is_uncertain
from bot.conversation.message import PLAYGROUND, Message
from bot.delivery import GoesOn, SendOutcome, Sent, always

_DEADLINE_SECONDS = 20.0
"""NapCat gives up on a send after about 10 s; later than this no answer will come."""
_CLOSED = frozenset({Cause.MUTED, Cause.ALL_MUTED, Cause.NO_PERMISSION})
"""Where one form of a page is refused for this, so is every other."""


class Ending(StrEnum):
    """What became of one call."""

    SENT = "sent"
    REFUSED = "refused"
    """Certainly not delivered, in this form."""
    CLOSED = "closed"
    """Certainly not delivered, and no other form would be."""
    UNKNOWN = "unknown"


class OneBotOutbox:
    """Sends replies through whichever client of the bot is connected now.

    It needs only the stored `Message`, so an answer can still go out after a restart.
    """

    replies_passively = False

    def __init__(
        self,
        bots: Callable[[], Mapping[str, AnyBot]],
        troubles: Troubles | None = None,
        *,
        name: str = "记得",
        is_tryout: bool = True,
        played: Played | None = None,
    ) -> None:
        """`bots` gives the connected bots by their own id: `nonebot.get_bots`. `name`: who speaks in a merged
        forward. `is_tryout`: clients come with the try-out token; else `PLAYGROUND` is `played` alone."""
        self._bots = bots
        self._troubles = troubles or Troubles(OperatorAlerts())
        self._name = name
        self._is_tryout = is_tryout
        self._played = played

    def is_ready(self, message: Message) -> bool:
        """The bot this message came to is connected, and logged in."""
        bot = self._bot_for(message)
        return bot is not None and self._troubles.is_online(bot.self_id)

    async def send(self, message: Message, pages: tuple[str, ...], goes_on: GoesOn = always) -> Sent:
        """Answer `message`; in a group the first page names the asker. Of a long reply all but the first page
        is folded into merged forwards; one that is refused for certain goes out page by page.

        FAILED only while no page may have arrived; UNKNOWN once one may have and one may not.
        Sending stops at the first page that fails or gets no answer.
        """
        if await self._is_silenced(message):
            return Sent(outcome=SendOutcome.FAILED, pages=0)
        done = 0
        waiting = deque(batches(len(pages)))
        while waiting:
            if done and not await goes_on(done):
                return Sent(outcome=SendOutcome.SENT, pages=done)  # Forgotten meanwhile: there is no rest.
            batch = waiting.popleft()
            ending = await self._send_batch(message, pages, batch)
            if ending is Ending.SENT:
                done = batch.stop
            elif ending is Ending.REFUSED and len(batch) > 1:
                waiting.extendleft(reversed(list(alone(batch))))
            else:
                is_failed = ending is not Ending.UNKNOWN and not done
                outcome = SendOutcome.FAILED if is_failed else SendOutcome.UNKNOWN
                return Sent(outcome=outcome, pages=done)
        return Sent(outcome=SendOutcome.SENT, pages=done)

    async def _send_batch(self, message: Message, pages: tuple[str, ...], batch: range) -> Ending:
        bot = self._bot_for(message)
        if bot is None:
            return Ending.CLOSED
        if len(batch) > 1:
            folded = nodes(pages[batch.start : batch.stop], self_id=bot.self_id, name=self._name)
            return await self._call(bot, message, "forward_msg", {"messages": folded})
        page = _page(message, pages[batch.start], is_first=batch.start == 0)
        return await self._call(bot, message, "msg", {"message": page})

    async def _call(self, bot: Bot, message: Message, what: str, words: Mapping[str, Segments]) -> Ending:
        group = message.conversation.group
        address = {"group_id": _number(group)} if group else {"user_id": _number(message.sender.openid)}
        try:
            async with asyncio.timeout(_DEADLINE_SECONDS):
                await bot.call_api(f"send_{'group' if group else 'private'}_{what}", **address, **words)
        except ActionFailed as failure:
            if is_uncertain(failure):
                return Ending.UNKNOWN
            cause = await self._troubles.refused(bot.self_id, group, failure)
            return Ending.CLOSED if cause in _CLOSED else Ending.REFUSED
        except ApiNotAvailable:
            return Ending.CLOSED
        except (NetworkError, TimeoutError, WebSocketClosed):
            return Ending.UNKNOWN
        self._troubles.delivered(bot.self_id, group)
        return Ending.SENT

    async def _is_silenced(self, message: Message) -> bool:
        """A ban is known, and holds for this bot."""
        bot, group = self._bot_for(message), message.conversation.group
        ban = self._troubles.ban_of(bot.self_id, group) if bot is not None and group else None
        if bot is None or ban is None:
            return False
        if ban.is_everybodys and await _is_admin(bot, group):
            self._troubles.lifted(bot.self_id, group)
            return False
        await self._troubles.held_back(bot.self_id, group, ban)
        return True

    def _bot_for(self, message: Message) -> Bot | None:
        """The bot whose id the message is filed under; a try-out message goes to the newest client, a played one
        where it came from."""
        app_id = message.conversation.app_id
        bots = self._bots()
        if app_id != PLAYGROUND:
            bot = bots.get(app_id)
            return bot if isinstance(bot, Bot) else None
        played = self._played
        stage = bots.get(played.self_id) if played is not None else None
        stage = stage if isinstance(stage, Bot) else None
        if not self._is_tryout or (played is not None and played.is_at_work()):
            return stage
        clients = (bot for bot in reversed(list(bots.values())) if isinstance(bot, Bot) and bot is not stage)
        return next(clients, stage)


async def _is_admin(bot: Bot, group: str) -> bool:
    """Whom no ban of a whole group silences. Unknown is no."""
    try:
        async with asyncio.timeout(_DEADLINE_SECONDS):
            member = await bot.call_api(
                "get_group_member_info", group_id=_number(group), user_id=_number(bot.self_id)
            )
    except (ActionFailed, ApiNotAvailable, NetworkError, TimeoutError, WebSocketClosed):
        return False
    return isinstance(member, dict) and member.get("role") in ("owner", "admin")


def _page(message: Message, page: str, *, is_first: bool) -> Segments:
    segments = Segments(MessageSegment.text(page))
    if is_first and message.conversation.group and message.sender.openid:
        return Segments([MessageSegment.at(message.sender.openid), MessageSegment.text(" "), *segments])
    return segments


def _number(id_: str) -> int | str:
    """OneBot ids are numbers; some implementations use other words."""
    return int(id_) if id_.removeprefix("-").isdecimal() else id_
