"""WeChat's server, as an official account meets it: deliveries, API, and what people saw.

    async with WeChatServer("http://127.0.0.1:8080/wechat", token, app_id, app_secret="…") as wechat:
        await wechat.say("oAlice", "你好")
        print([sight.shown for sight in wechat.seen("oAlice")])

docs/engineers/wechat-simulator.md tells the rest. A test takes its fixtures with
`pytest_plugins = ["simulators.wechat.fixtures"]`.

Invariant: it imports nothing of the bot it talks to, and its cryptography is its own, from the published
description alone.
"""

from .account import AccountType, Mode
from .accounting import Tally, tally
from .acting import run_scenario, server_for
from .clock import ManualClock, SystemClock
from .deliveries import Attempt, Ending, Schedule
from .faults import ApiFault
from .people import FAULT, Sight, Way, openid_of
from .posts import UNSUPPORTED, Post
from .records import Delivery, Seen
from .replies import BadReply, Reply
from .report import Report
from .script import Scenario, ScenarioError
from .script_reading import load_scenario, read_scenario
from .server import WeChatServer
from .watching import Watch

__all__ = [
    "FAULT",
    "UNSUPPORTED",
    "AccountType",
    "ApiFault",
    "Attempt",
    "BadReply",
    "Delivery",
    "Ending",
    "ManualClock",
    "Mode",
    "Post",
    "Reply",
    "Report",
    "Scenario",
    "ScenarioError",
    "Schedule",
    "Seen",
    "Sight",
    "SystemClock",
    "Tally",
    "Watch",
    "Way",
    "WeChatServer",
    "load_scenario",
    "openid_of",
    "read_scenario",
    "run_scenario",
    "server_for",
    "tally",
]
