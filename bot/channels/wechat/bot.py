"""NoneBot's Bot for one official account.

Invariant: `send` never calls WeChat: it leaves the text on the event, and the waiting HTTP response
carries it.
"""

from typing import Any

from nonebot.adapters import Bot as BaseBot
from nonebot.adapters import Event as BaseEvent
from nonebot.adapters import Message as BaseMessage
from nonebot.adapters import MessageSegment as BaseMessageSegment
from nonebot.exception import ActionFailed

from .event import Event


class ReplyTooLate(ActionFailed):
    """The event was already answered; WeChat takes one passive reply a message."""

    def __init__(self) -> None:
        super().__init__("WeChat")


class Bot(BaseBot):
    """`self_id` is the appid."""

    async def send(
        self, event: BaseEvent, message: str | BaseMessage[Any] | BaseMessageSegment[Any], **_: Any
    ) -> None:
        """Answer `event`. The first text of a run becomes the passive reply.

        Raises:
            TypeError: the event is not from WeChat.
            ReplyTooLate: its run is over.
        """
        if not isinstance(event, Event):
            raise TypeError("only WeChat's events can be answered here")
        if not event.collect(str(message)):
            raise ReplyTooLate
