"""Opens the second server, on loopback, where the operator's monitor looks.

Invariant: its routes are never on the public port.
"""

import sys

from fastapi import FastAPI
from nonebot import get_app, get_driver

from bot.console.extracting import extract_route
from bot.console.pages import make_app
from bot.console.server import HOST, ConsoleServer
from bot.console.site.doorkeeper import Doorkeeper
from bot.container import House
from bot.container.pages import make_pages
from bot.container.playing import Playing
from plugins.console.connecting import connections, note_bots

app: FastAPI = get_app()
house: House = app.state.house
playing: Playing | None = app.state.playing
doorkeeper: Doorkeeper | None = app.state.doorkeeper

note_bots(get_driver(), app.state.arrivals)


@get_driver().on_startup
async def serve() -> None:
    if port := house.settings.console_port:
        token = house.settings.console.token
        door = house.phone_door
        more = [
            *([extract_route(token, _product_names)] if token else []),
            *([door.route] if door is not None else []),
            *([playing.route] if playing is not None else []),
        ]
        if doorkeeper is None or playing is None:
            server = ConsoleServer(make_app(house.watch, more), port)
        else:
            connected = connections(get_driver(), house.settings, app.state.arrivals)
            pages = make_pages(house, doorkeeper, connected, playing)
            server = ConsoleServer(
                make_app(house.watch, more, pages.site, pages.views),
                port,
                on_listening=_say_address,
                on_stop=pages.site.close,
            )
        house.keep_running("console", server.run)


def _say_address() -> None:
    """On the terminal alone: a log is kept and read by others, and hides tokens."""
    assert doorkeeper is not None
    base, token = f"http://{HOST}:{house.settings.console_port}", doorkeeper.setup_token
    where = f"{base}/setup?token={token} （只能用一次，设好密码后直接打开 {base}）" if token else base
    sys.stderr.write(f"在浏览器里试用：{where}\n")


async def _product_names() -> tuple[str, ...]:
    return tuple((await house.catalogue.catalogue()).product_names())
