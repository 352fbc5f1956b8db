"""NoneBot's Bot for one official account.

Invariant: `send` never calls WeChat: a waiting HTTP response carries the text, or nothing does.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from nonebot.adapters import Adapter as BaseAdapter
from nonebot.adapters import Bot as BaseBot
from nonebot.adapters import Event as BaseEvent
from nonebot.adapters import Message as BaseMessage
from nonebot.adapters import MessageSegment as BaseMessageSegment

from .event import Event
from .message import Message, MessageSegment


class Bot(BaseBot):
    """`self_id` is the appid."""

    def __init__(
        self, adapter: BaseAdapter, self_id: str, offer: Callable[[Event, str | Message], Awaitable[bool]]
    ) -> None:
        super().__init__(adapter, self_id)
        self._offer = offer

    async def send(
        self, event: BaseEvent, message: str | BaseMessage[Any] | BaseMessageSegment[Any], **_: Any
    ) -> bool:
        """Answer `event` with the one passive reply it has.

        True: the open response carries it, or that to WeChat's next delivery does.
        False: none can: it is the second one, the answer was promised to come by customer service, the person
        was told to fetch it, the event takes no answer, or it is over. What was promised is durably so then.

        Raises:
            TypeError: the event is not from WeChat.
            ValueError: a segment is nothing that a passive reply can carry.
        """
        if not isinstance(event, Event):
            raise TypeError("only WeChat's events can be answered here")
        if isinstance(message, MessageSegment):
            message = Message(message)
        return await self._offer(event, message if isinstance(message, Message) else str(message))
