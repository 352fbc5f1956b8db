"""Opens the second server, on loopback, where the operator's monitor looks.

Invariant: its routes are never on the public port.
"""

from fastapi import FastAPI
from nonebot import get_app, get_driver

from bot.console.extracting import extract_route
from bot.console.pages import make_app
from bot.console.server import ConsoleServer
from bot.container import House

app: FastAPI = get_app()
house: House = app.state.house


@get_driver().on_startup
async def serve() -> None:
    if port := house.settings.console_port:
        token = house.settings.console.token
        door = house.phone_door
        more = [
            *([extract_route(token, _product_names)] if token else []),
            *([door.route] if door is not None else []),
        ]
        house.keep_running("console", ConsoleServer(make_app(house.watch, more), port).run)


async def _product_names() -> tuple[str, ...]:
    return tuple((await house.catalogue.catalogue()).product_names())
