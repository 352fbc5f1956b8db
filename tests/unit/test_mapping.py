"""Who asks for a human is handed over where the operator wants it, and told otherwise."""

import pytest

from bot.channels.mapping import EventMapping
from bot.channels.onebot_mapping import OneBotMapping
from bot.channels.qq_mapping import QQMapping
from bot.channels.wechat import MessageSegment
from tests.story_fakes import message


@pytest.mark.parametrize(
    ("transfers", "channel", "decided_by", "is_handed_over"),
    [
        (True, "wechat", "human", True),
        (False, "wechat", "human", False),
        (True, "wechat", "command", False),
        (True, "onebot", "human", False),
    ],
)
def test_handing_over(transfers: bool, channel: str, decided_by: str, is_handed_over: bool) -> None:
    mapping = EventMapping(
        OneBotMapping(nicknames=(), prefix=""), QQMapping(), is_onebot_tryout=False, transfers=transfers
    )
    reply = mapping.to_reply(message("1", channel=channel), decided_by, "请留言。")
    assert reply == (MessageSegment.transfer() if is_handed_over else "请留言。")
