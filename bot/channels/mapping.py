"""Any platform's event → `Message`: picks the channel's own mapping.

Invariant: an event of a platform nobody maps is nobody's message.
"""

from nonebot.adapters import Bot, Event
from nonebot.adapters.onebot.v11 import Bot as OneBot

from bot.channels import wechat_mapping
from bot.channels.onebot_mapping import OneBotMapping
from bot.channels.wechat import Event as WeChatEvent
from bot.conversation.message import PLAYGROUND, Message


class EventMapping:
    """The mappings of one NoneBot application."""

    def __init__(self, onebot: OneBotMapping, *, is_onebot_tryout: bool) -> None:
        """`is_onebot_tryout`: OneBot clients come with the try-out token, so their people are playground."""
        self._onebot = onebot
        self._is_onebot_tryout = is_onebot_tryout

    def to_message(self, bot: Bot, event: Event) -> Message | None:
        """None for what nobody answers."""
        if isinstance(event, WeChatEvent):
            return wechat_mapping.to_message(event)
        if isinstance(bot, OneBot):
            app_id = PLAYGROUND if self._is_onebot_tryout else bot.self_id
            return self._onebot.to_message(event, self_id=bot.self_id, app_id=app_id)
        return None
