"""What the connecting pages ask of NoneBot: HTTP, and which bots came and went.

Invariant: a played bot is nobody's connection.
"""

from nonebot.adapters import Bot
from nonebot.drivers import Driver

from bot.channels.wechat_service import driver_http
from bot.connecting.arrivals import Arrivals
from bot.console.site.views.connect import Connections
from bot.container.connecting import Connecting
from bot.playground.official_stage import APP_ID
from bot.playground.onebot_stage import SELF_ID
from bot.settings import Settings

CONNECTS = {"OneBot V11": "onebot"}
"""Adapters whose bots hold a connection."""
POSTS = {"QQ": "qq"}
"""Their bots are there from the first event that proved itself, or from a gateway's welcome."""

PLAYED = frozenset({"10000", str(SELF_ID), APP_ID})
"""Under which `jide simulate` and the playground come."""


def connections(driver: Driver, settings: Settings, arrivals: Arrivals) -> Connections:
    return Connections(house=Connecting(settings, driver_http(driver)), arrivals=arrivals)


def note_bots(driver: Driver, arrivals: Arrivals) -> None:
    """From now on."""

    async def came(bot: Bot) -> None:
        name = bot.adapter.get_name()
        if bot.self_id in PLAYED:
            return
        if name in CONNECTS:
            arrivals.note_connection(CONNECTS[name], bot.self_id)
        elif name in POSTS:
            arrivals.note_proof(POSTS[name], bot.self_id)

    async def went(bot: Bot) -> None:
        if (channel := CONNECTS.get(bot.adapter.get_name())) is not None:
            arrivals.note_end(channel, bot.self_id)

    driver.on_bot_connect(came)
    driver.on_bot_disconnect(went)
