"""The real NoneBot FastAPI app with the WeChat adapter, for tests: no network, no `nonebot.init`.

Invariant: a test's driver and matchers are its own; what other test modules registered is untouched.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode

import httpx
from nonebot.config import Config, Env
from nonebot.drivers.fastapi import Driver
from nonebot.internal.matcher import matchers
from nonebot.internal.matcher.provider import DEFAULT_PROVIDER_CLASS
from nonebot.plugin.on import on

from bot.channels.wechat import (
    Adapter,
    Bot,
    CustomerService,
    Deadlines,
    Drafts,
    Event,
    MemoryReplyStore,
    Observer,
    OfficialAccount,
    ReplyStore,
)
from bot.channels.wechat.adapter import UNFINISHED_MARK, WAITING_LINE
from simulators.wechat import WeChatServer

TOKEN = "a-token"
APP_ID = "wx0123456789abcdef"
AES_KEY = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"
ACCOUNT = OfficialAccount(app_id=APP_ID, token=TOKEN)
SAFE_ACCOUNT = OfficialAccount(app_id=APP_ID, token=TOKEN, aes_key=AES_KEY)
BASE = "http://bot.test"

Handler = Callable[[Bot, Event], Awaitable[None]]


async def echo(bot: Bot, event: Event) -> None:
    """Answers everything, so that a reply proves the handler ran."""
    await bot.send(event, "收到")


@dataclass(kw_only=True)
class WeChatApp:
    """One running app."""

    client: httpx.AsyncClient
    transport: httpx.ASGITransport
    adapter: Adapter
    driver: Driver
    store: ReplyStore
    account: OfficialAccount
    seen: list[Event] = field(default_factory=list)
    """Every event a matcher got, in order."""

    async def post(self, query: dict[str, str] | str, body: bytes) -> httpx.Response:
        encoded = query if isinstance(query, str) else urlencode(query)
        return await self.client.post(f"{self.account.path}?{encoded}", content=body)

    async def settle(self) -> None:
        """Wait for runs that answered before they were done."""
        await self.adapter._runs.close()

    def wechat(self, timeout_seconds: float = 30.0, now: Callable[[], float] = time.time) -> WeChatServer:
        """WeChat's server in front of this app."""
        account = self.account
        return WeChatServer(
            BASE + account.path,
            account.token,
            account.app_id,
            account.aes_key,
            timeout_seconds=timeout_seconds,
            transport=self.transport,
            now=now,
        )


@asynccontextmanager
async def wechat_app(
    account: OfficialAccount = ACCOUNT,
    *,
    handler: Handler = echo,
    store: ReplyStore | None = None,
    deadlines: Deadlines | None = None,
    now: Callable[[], float] = time.time,
    more_accounts: Sequence[OfficialAccount] = (),
    observer: Observer | None = None,
    service: CustomerService | None = None,
    drafts: Drafts | None = None,
    waiting_line: str = WAITING_LINE,
    unfinished_mark: str = UNFINISHED_MARK,
) -> AsyncIterator[WeChatApp]:
    """`handler` is what a matcher does with each event: through NoneBot's own dispatch."""
    driver = Driver(Env(environment="test"), Config())
    kept, matchers.provider = matchers.provider, DEFAULT_PROVIDER_CLASS({})
    seen: list[Event] = []

    async def catch_all(bot: Bot, event: Event) -> None:
        seen.append(event)
        await handler(bot, event)

    try:
        on(type="", priority=1, block=False, handlers=[catch_all])
        store = store or MemoryReplyStore()
        adapter = Adapter(
            driver,
            accounts=[account, *more_accounts],
            store=store,
            deadlines=deadlines,
            now=now,
            observer=observer,
            service=service,
            drafts=drafts,
            waiting_line=waiting_line,
            unfinished_mark=unfinished_mark,
        )
        transport = httpx.ASGITransport(app=driver.asgi)
        async with (
            driver.server_app.router.lifespan_context(driver.server_app),
            httpx.AsyncClient(transport=transport, base_url=BASE) as client,
        ):
            yield WeChatApp(
                client=client,
                transport=transport,
                adapter=adapter,
                driver=driver,
                store=store,
                account=account,
                seen=seen,
            )
    finally:
        matchers.provider = kept


class Gate:
    """A handler that answers when it is told to."""

    def __init__(self, text: str = "想好了") -> None:
        self.text = text
        self.runs = 0
        self.entered = asyncio.Event()
        self.open = asyncio.Event()
        self.carried: list[bool] = []
        """What `send` said, each time."""

    async def __call__(self, bot: Bot, event: Event) -> None:
        self.runs += 1
        self.entered.set()
        await self.open.wait()
        self.carried.append(await bot.send(event, self.text))
