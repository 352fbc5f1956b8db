"""Answers that were promised to customer service: pages → 客服消息, and what is known of them afterwards.

Invariant: nothing is sent that WeChat was not told to expect (`success`, then a customer-service message); a
page that may have arrived is not sent again; a page that WeChat did not take stays held.
"""

from collections.abc import Callable
from typing import Protocol

from bot.channels.wechat.links import shown
from bot.channels.wechat.service import CustomerService, Sending
from bot.conversation.message import Kind, Message
from bot.delivery import SendOutcome, Sent

MESSAGES = 5
"""WeChat's: after a person's message."""
MESSAGES_AFTER_EVENT = 3
"""After a tapped menu entry, a follow or a scan, within a minute."""
_EVENTS = frozenset({Kind.CLICK, Kind.FOLLOW, Kind.SCAN})


class Promises(Protocol):
    """Which messages are owed a customer-service message."""

    def is_owed(self, app_id: str, key: str) -> bool: ...

    def settle(self, app_id: str, key: str) -> None:
        """What could be sent was; the rest waits for its reader."""
        ...


class WeChatOutbox:
    """An `Outbox` of bot.delivery. Ready for promised answers alone: the others are passive replies."""

    replies_passively = True

    def __init__(
        self,
        service: CustomerService,
        promises: Promises,
        mark_page: Callable[[str, int, int], str],
        *,
        taps: bool,
    ) -> None:
        """`mark_page(page, number, total)` tells how to get the next page."""
        self._service = service
        self._promises = promises
        self._mark_page = mark_page
        self._taps = taps

    def is_ready(self, message: Message) -> bool:
        return self._promises.is_owed(message.sender.app_id, message.key)

    async def send(self, message: Message, pages: tuple[str, ...]) -> Sent:
        """Page by page, as many as WeChat takes after one message; the last of those tells of the others."""
        app_id, openid = message.sender.app_id, message.sender.openid
        most = MESSAGES_AFTER_EVENT if message.kind in _EVENTS else MESSAGES
        outcome = SendOutcome.SENT if len(pages) <= most else SendOutcome.FAILED
        done = 0
        for page in pages[:most]:
            is_cut = done + 1 == most < len(pages)
            text = self._mark_page(page, done + 1, len(pages)) if is_cut else page
            sending = (await self._service.send_text(app_id, openid, shown(text, taps=self._taps))).sending
            if sending is not Sending.SENT:
                outcome = SendOutcome.UNKNOWN if sending is Sending.UNKNOWN else SendOutcome.FAILED
                break
            done += 1
        self._promises.settle(app_id, message.key)
        return Sent(outcome=outcome, pages=done, tells_of_rest=done == most < len(pages))
