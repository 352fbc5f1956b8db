"""A OneBot v11 implementation to talk to the bot with, as NapCat would: a reverse websocket client.

    async with OneBotClient("ws://127.0.0.1:8080/onebot/v11/ws", self_id=10001, access_token="…") as qq:
        await qq.say_group(30001, 20001, "你好")
        print((await qq.next_sent()).text)

`qq.script` makes API calls fail, stay unanswered or break the connection. An `async with` is all a
test needs; `jide simulate onebot` is the same from a terminal.

Invariant: it knows the protocol only; it imports nothing of the bot it talks to.
"""

from simulators.onebot.client import HandshakeRefused, OneBotClient
from simulators.onebot.platform import SentMessage
from simulators.onebot.script import Script

__all__ = ["HandshakeRefused", "OneBotClient", "Script", "SentMessage"]
