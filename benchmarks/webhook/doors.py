"""The ways in that are measured: ours, FastAPI with wechatpy, nonebot-adapter-wxmp, and NoneBot's floor.

Invariant: each answers a text message with its text; the floor alone says nothing.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.asgi import App
from benchmarks.webhook import floor

TOKEN = "benchmark"
FLOOR = "NoneBot 的底"
AES_KEY = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"


@dataclass(kw_only=True)
class Door:
    """One way to receive a message and answer it."""

    name: str
    app: App
    path: str
    app_id: str
    aes_key: str = ""
    uses: Any = None
    """NoneBot's matchers while this door is measured."""
    is_echo: bool = True
    """False: it says nothing (the floor)."""
    cpu_ms: list[float] = field(default_factory=list[float])
    """A message, of each round."""


def _matchers_of(handler: Callable[..., Any]) -> Any:
    """A set of matchers that holds this handler's alone."""
    from nonebot.internal.matcher import matchers
    from nonebot.internal.matcher.provider import DEFAULT_PROVIDER_CLASS
    from nonebot.plugin.on import on

    kept, matchers.provider = matchers.provider, DEFAULT_PROVIDER_CLASS({})
    on(type="message", priority=1, block=True, handlers=[handler])
    own, matchers.provider = matchers.provider, kept
    return own


def _driver() -> Any:
    from nonebot.config import Config, Env
    from nonebot.drivers.fastapi import Driver

    return Driver(Env(environment="benchmark"), Config())


@asynccontextmanager
async def ours(aes_key: str) -> AsyncGenerator[Door]:
    """The adapter, the mapping to a `Message`, and the reply's XML; nobody behind them."""
    from nonebot.matcher import current_bot, current_event

    from bot.channels.wechat import Adapter, OfficialAccount
    from bot.channels.wechat_mapping import pages_of, to_message

    async def echo() -> None:
        # As plugins/chat takes them.
        bot, event = current_bot.get(), current_event.get()
        message = to_message(event)  # pyright: ignore[reportArgumentType]
        assert message is not None
        await bot.send(event, pages_of(message.text)[0])

    driver = _driver()
    Adapter(driver, accounts=[OfficialAccount(app_id="wxours", token=TOKEN, aes_key=aes_key)])
    async with driver.server_app.router.lifespan_context(driver.server_app):
        yield Door(
            name="记得，AES" if aes_key else "记得，明文",
            app=driver.asgi,
            path="/wechat",
            app_id="wxours",
            aes_key=aes_key,
            uses=_matchers_of(echo),
        )


@asynccontextmanager
async def bare() -> AsyncGenerator[Door]:
    """What NoneBot itself costs: a route, an event made of nothing, one matcher that does nothing."""

    async def nothing() -> None:
        pass

    driver = _driver()
    floor.Adapter(driver)
    async with driver.server_app.router.lifespan_context(driver.server_app):
        yield Door(
            name=FLOOR,
            app=driver.asgi,
            path=floor.PATH,
            app_id="wxbare",
            uses=_matchers_of(nothing),
            is_echo=False,
        )


@asynccontextmanager
async def wxmp() -> AsyncGenerator[Door]:
    """nonebot-adapter-wxmp, on the driver that it finds as NoneBot's own."""
    import nonebot
    from nonebot.adapters import Bot, Event
    from nonebot.adapters.wxmp import Adapter  # pyright: ignore[reportMissingImports]

    async def echo(bot: Bot, event: Event) -> None:
        await bot.send(event, event.get_plaintext())

    driver = nonebot.get_driver()
    driver.register_adapter(Adapter)  # pyright: ignore[reportUnknownMemberType]
    app: Any = nonebot.get_app()
    async with app.router.lifespan_context(app):
        yield Door(
            name="nonebot-adapter-wxmp，明文",
            app=nonebot.get_asgi(),
            path="/wxmp/revice/wxpeer",
            app_id="wxpeer",
            uses=_matchers_of(echo),
        )


@asynccontextmanager
async def bare_route(aes_key: str) -> AsyncGenerator[Door]:
    """FastAPI and wechatpy, as their documentation puts them together."""
    from fastapi import FastAPI, Request, Response
    from wechatpy import parse_message  # pyright: ignore[reportAttributeAccessIssue]
    from wechatpy.crypto import WeChatCrypto  # pyright: ignore[reportAttributeAccessIssue]
    from wechatpy.replies import create_reply  # pyright: ignore[reportAttributeAccessIssue]
    from wechatpy.utils import check_signature  # pyright: ignore[reportAttributeAccessIssue]

    app = FastAPI()
    crypto = WeChatCrypto(TOKEN, AES_KEY, "wxroute") if aes_key else None

    async def receive(request: Request) -> Response:
        asked = request.query_params
        check_signature(TOKEN, asked["signature"], asked["timestamp"], asked["nonce"])
        body = await request.body()
        if crypto is not None:
            body = crypto.decrypt_message(body, asked["msg_signature"], asked["timestamp"], asked["nonce"])
        message: Any = parse_message(body)
        xml = create_reply(message.content, message).render()
        if crypto is not None:
            xml = crypto.encrypt_message(xml, asked["nonce"], asked["timestamp"])
        return Response(xml, media_type="application/xml")

    app.add_api_route("/route", receive, methods=["POST"])
    yield Door(
        name="FastAPI 和 wechatpy，AES" if aes_key else "FastAPI 和 wechatpy，明文",
        app=app,
        path="/route",
        app_id="wxroute",
        aes_key=aes_key,
    )
