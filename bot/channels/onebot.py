# pyright: basic
"""OneBot v11, outgoing: pages → a QQ client, and what is known of them afterwards.

Invariant: a page is handed to the client at most once, as a text segment, so that nothing in a reply
is ever read as a CQ code; whatever is not certainly undelivered counts as unknown.
"""

from collections.abc import Callable, Mapping

import anyio
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

from bot.conversation.message import PLAYGROUND, Message
from bot.delivery import GoesOn, SendOutcome, Sent, always

_DEADLINE_SECONDS = 20.0
"""NapCat gives up on a send after about 10 s; later than this no answer will come."""
_RETCODE_TIMEOUT = 1200
"""NapCat: "Timeout". The message has often been delivered (PROTOCOLS.md §3)."""


class OneBotOutbox:
    """Sends replies through whichever client of the bot is connected now.

    It needs only the stored `Message`, so an answer can still go out after a restart.
    """

    replies_passively = False

    def __init__(self, bots: Callable[[], Mapping[str, AnyBot]]) -> None:
        """`bots` gives the connected bots by their own id: `nonebot.get_bots`."""
        self._bots = bots

    def is_ready(self, message: Message) -> bool:
        """The bot this message came to is connected."""
        return self._bot_for(message) is not None

    async def send(self, message: Message, pages: tuple[str, ...], goes_on: GoesOn = always) -> Sent:
        """Answer `message`, page by page; in a group the first page names the asker.

        FAILED only while no page may have arrived; UNKNOWN once one may have and one may not.
        Sending stops at the first page that fails or gets no answer.
        """
        for number, page in enumerate(pages):
            if number and not await goes_on(number):
                return Sent(outcome=SendOutcome.SENT, pages=number)  # Forgotten meanwhile: there is no rest.
            latest = await self._send_page(message, _page(message, page, is_first=number == 0))
            if latest is not SendOutcome.SENT:
                is_failed = latest is SendOutcome.FAILED and number == 0
                outcome = SendOutcome.FAILED if is_failed else SendOutcome.UNKNOWN
                return Sent(outcome=outcome, pages=number)
        return Sent(outcome=SendOutcome.SENT, pages=len(pages))

    async def _send_page(self, message: Message, segments: Segments) -> SendOutcome:
        bot = self._bot_for(message)
        if bot is None:
            return SendOutcome.FAILED
        group = message.conversation.group
        try:
            with anyio.fail_after(_DEADLINE_SECONDS):
                if group:
                    await bot.call_api("send_group_msg", group_id=_number(group), message=segments)
                else:
                    user = _number(message.sender.openid)
                    await bot.call_api("send_private_msg", user_id=user, message=segments)
        except ActionFailed as failure:
            return _outcome_of(failure)
        except ApiNotAvailable:
            return SendOutcome.FAILED
        except (NetworkError, TimeoutError, WebSocketClosed):
            return SendOutcome.UNKNOWN
        return SendOutcome.SENT

    def _bot_for(self, message: Message) -> Bot | None:
        """The bot whose id the message is filed under; a try-out message goes to the newest client."""
        app_id = message.conversation.app_id
        bots = self._bots()
        if app_id != PLAYGROUND:
            bot = bots.get(app_id)
            return bot if isinstance(bot, Bot) else None
        return next((bot for bot in reversed(list(bots.values())) if isinstance(bot, Bot)), None)


def _page(message: Message, page: str, *, is_first: bool) -> Segments:
    segments = Segments(MessageSegment.text(page))
    if is_first and message.conversation.group and message.sender.openid:
        return Segments([MessageSegment.at(message.sender.openid), MessageSegment.text(" "), *segments])
    return segments


def _outcome_of(failure: ActionFailed) -> SendOutcome:
    """A refusal is certain; a time-out inside the client is not."""
    words = f"{failure.info.get('message')} {failure.info.get('msg')} {failure.info.get('wording')}"
    is_timeout = failure.info.get("retcode") == _RETCODE_TIMEOUT or "timeout" in words.lower()
    return SendOutcome.UNKNOWN if is_timeout or "超时" in words else SendOutcome.FAILED


def _number(id_: str) -> int | str:
    """OneBot ids are numbers; some implementations use other words."""
    return int(id_) if id_.removeprefix("-").isdecimal() else id_
