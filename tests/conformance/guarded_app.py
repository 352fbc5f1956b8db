"""The real NoneBot app behind our guards, for tests: a driver, one matcher, and the adapter a test brings.

Invariant: a test's driver and matchers are its own; what other test modules registered is untouched.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from nonebot.adapters import Adapter, Bot, Event
from nonebot.config import Config, Env
from nonebot.drivers import combine_driver
from nonebot.drivers.fastapi import Driver
from nonebot.drivers.httpx import Mixin
from nonebot.internal.matcher import matchers
from nonebot.internal.matcher.provider import DEFAULT_PROVIDER_CLASS
from nonebot.plugin.on import on
from starlette.types import ASGIApp, Receive, Scope, Send

BothWays: type[Driver] = combine_driver(Driver, Mixin)  # pyright: ignore[reportAssignmentType, reportArgumentType]


@dataclass(kw_only=True)
class GuardedApp:
    """One running app."""

    app: ASGIApp
    driver: Driver
    adapter: Any
    seen: list[Event] = field(default_factory=list)
    """Every event the matcher got, in order."""
    reached: list[str] = field(default_factory=list)
    """The path of every request that came past the guard."""

    async def settle(self) -> None:
        """Wait for the tasks in which the adapter hands its events on."""
        while tasks := [task for task in self.adapter.tasks if not task.done()]:
            await asyncio.gather(*tasks)


@asynccontextmanager
async def guarded_app(
    make_adapter: Callable[[Driver], Adapter],
    guard: Callable[[ASGIApp], ASGIApp],
    *,
    handler: Callable[[Bot, Event], Any] | None = None,
) -> AsyncIterator[GuardedApp]:
    """`handler` is what the matcher does with each event, besides noting it."""
    # A call nobody answers must not hold up the end of a test.
    driver = BothWays(Env(environment="test"), Config(api_timeout=2.0))
    kept, matchers.provider = matchers.provider, DEFAULT_PROVIDER_CLASS({})
    running = GuardedApp(app=driver.asgi, driver=driver, adapter=None)

    async def catch_all(bot: Bot, event: Event) -> None:
        running.seen.append(event)
        if handler is not None:
            await handler(bot, event)

    async def behind(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            running.reached.append(scope["path"])
        await driver.asgi(scope, receive, send)

    try:
        on(type="", priority=1, block=False, handlers=[catch_all])
        running.adapter = make_adapter(driver)
        running.app = guard(behind)
        async with driver.server_app.router.lifespan_context(driver.server_app):
            yield running
    finally:
        matchers.provider = kept


@asynccontextmanager
async def served(app: ASGIApp) -> AsyncIterator[int]:
    """A real server for an app whose lifespan runs already. Yields the port on 127.0.0.1."""
    config = uvicorn.Config(app, "127.0.0.1", 0, lifespan="off", log_config=None, log_level="critical")
    server = uvicorn.Server(config)
    # The signals are pytest's.
    task = asyncio.create_task(server._serve())
    try:
        while not server.started:
            await asyncio.sleep(0.01)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = server.force_exit = True
        await task
