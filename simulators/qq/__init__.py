"""The QQ platform, as an official bot meets it: events, API, gateway, and what people saw.

    async with QQPlatform("http://127.0.0.1:8080/qq/webhook", app_id, secret) as qq:
        await qq.say("OPENID", "你好")
        print([sight.text for sight in await qq.wait_seen("OPENID")])

docs/engineers/qq-simulator.md tells the rest. A test takes its fixtures with
`pytest_plugins = ["simulators.qq.fixtures"]`.

Invariant: it imports nothing of the bot it talks to and no library for QQ, and its signatures are its own,
from the published description alone.
"""

from .account import Allowance, BotAccount, Rules, Scene
from .clock import ManualClock, SystemClock
from .deliveries import Answer, Attempt, Delivery, Retries
from .events import Quote, attachment, face, mention, mention_all
from .faults import ApiFault
from .hostile import Forgery
from .places import Sight
from .server import QQPlatform
from .signing import Signer

__all__ = [
    "Allowance",
    "Answer",
    "ApiFault",
    "Attempt",
    "BotAccount",
    "Delivery",
    "Forgery",
    "ManualClock",
    "QQPlatform",
    "Quote",
    "Retries",
    "Rules",
    "Scene",
    "Sight",
    "Signer",
    "SystemClock",
    "attachment",
    "face",
    "mention",
    "mention_all",
]
