"""A OneBot v11 implementation to talk to the bot with, as NapCat would: a reverse websocket client.

    async with OneBotClient("ws://127.0.0.1:8080/onebot/v11/ws", self_id=10001, access_token="…") as qq:
        await qq.say_group(30001, 20001, "你好")
        print((await qq.next_sent()).text)

`qq.script` makes API calls fail, stay unanswered or break the connection; `qq.mute`, `qq.mute_everybody` and
`qq.leave_group` do so for as long as it lasts. `crowd` and `let_speak` fill a group with people, `account_of`
says what each got. `MALFORMED` are frames to send with `qq.send_raw`; `qq.go_half_open()` and `qq.twin()` are
what becomes of connections. An `async with` is all a test needs; `jide simulate onebot` is the same from a terminal.

Invariant: it knows the protocol only; it imports nothing of the bot it talks to.
"""

from simulators.onebot.client import HandshakeRefused, OneBotClient
from simulators.onebot.crowd import Account, Line, Said, account_of, crowd, let_speak
from simulators.onebot.malformed import MALFORMED
from simulators.onebot.platform import SentMessage
from simulators.onebot.posting import post_event
from simulators.onebot.script import (
    FORWARD_REFUSED,
    MUTED,
    NO_PERMISSION,
    RICH_MEDIA_FAILED,
    RISK_CONTROL,
    TIMED_OUT,
    TIMED_OUT_AND_LOST,
    Failure,
    Script,
)
from simulators.onebot.speaking import number_of

__all__ = [
    "FORWARD_REFUSED",
    "MALFORMED",
    "MUTED",
    "NO_PERMISSION",
    "RICH_MEDIA_FAILED",
    "RISK_CONTROL",
    "TIMED_OUT",
    "TIMED_OUT_AND_LOST",
    "Account",
    "Failure",
    "HandshakeRefused",
    "Line",
    "OneBotClient",
    "Said",
    "Script",
    "SentMessage",
    "account_of",
    "crowd",
    "let_speak",
    "number_of",
    "post_event",
]
