"""Any platform's event → `Message`: picks the channel's own mapping.

Invariant: an event of a platform nobody maps is nobody's message.
"""

from nonebot.adapters import Bot, Event
from nonebot.adapters.onebot.v11 import Bot as OneBot
from nonebot.adapters.qq import Bot as QQBot

from bot.channels import wechat_mapping
from bot.channels.onebot_mapping import OneBotMapping
from bot.channels.qq_mapping import QQMapping
from bot.channels.wechat import Event as WeChatEvent
from bot.channels.wechat import MessageSegment
from bot.channels.wechat_mapping import CHANNEL
from bot.commands.context import HUMAN
from bot.conversation.message import PLAYGROUND, Message


class EventMapping:
    """The mappings of one NoneBot application."""

    def __init__(
        self,
        onebot: OneBotMapping,
        qq: QQMapping,
        *,
        is_onebot_tryout: bool,
        transfers: bool = False,
        played: str = "",
    ) -> None:
        """`is_onebot_tryout`: OneBot clients come with the try-out token, so their people are playground.
        `played`: the id of the OneBot client that is only played, whose people are too.
        `transfers`: who asks for a human on WeChat is handed over to the account's customer service."""
        self._onebot = onebot
        self._qq = qq
        self._transfers = transfers
        self._is_onebot_tryout = is_onebot_tryout
        self._played = played

    def to_message(self, bot: Bot, event: Event) -> Message | None:
        """None for what nobody answers."""
        if isinstance(event, WeChatEvent):
            return wechat_mapping.to_message(event)
        if isinstance(bot, OneBot):
            is_playground = self._is_onebot_tryout or bot.self_id == self._played
            app_id = PLAYGROUND if is_playground else bot.self_id
            return self._onebot.to_message(event, self_id=bot.self_id, app_id=app_id)
        if isinstance(bot, QQBot):
            return self._qq.to_message(event, app_id=bot.self_id, bot_id=_own_id(bot))
        return None

    def to_reply(self, message: Message, decided_by: str, page: str) -> str | MessageSegment:
        """What is sent for the first page of a passive reply. Handed over, a person is shown nothing."""
        is_handed_over = self._transfers and decided_by == HUMAN and message.sender.channel == CHANNEL
        return MessageSegment.transfer() if is_handed_over else page


def _own_id(bot: QQBot) -> str:
    """Its user id in guilds; "" while the platform has not told it."""
    try:
        return bot.self_info.id
    except RuntimeError:
        return ""
