"""The real app with WeChat's API behind it: the simulator's server on a socket, our own client before it.

Invariant: what a test calls customer service is the real `ApiCustomerService`, over real HTTP.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
from nonebot.drivers.httpx import Mixin

from bot.channels.wechat import Bot, Deadlines, Event, OfficialAccount
from bot.channels.wechat.api import ApiClient, DriverHttp
from bot.channels.wechat.service import SENT, ApiCustomerService, ServiceOutcome
from simulators.wechat import WeChatServer, posts
from tests.conformance.wechat_app import ACCOUNT, BASE, WeChatApp, wechat_app

SECRET = "a-secret-of-the-account"
SEND, TYPING, TOKEN = "message/custom/send", "message/custom/typing", "stable_token"
HANG_SECONDS = 30.0


@dataclass(kw_only=True)
class SlowHouse:
    """A house that answers each question when it is told to. What no response carries goes by customer
    service; what that does not take is held for the person's next message."""

    service: ApiCustomerService
    answers: dict[str, str]
    """By question. What is not in it is answered at once, by what is held or by 「在」."""
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)
    outcomes: list[ServiceOutcome] = field(default_factory=list)
    held: dict[str, list[str]] = field(default_factory=dict)
    """By openid."""
    runs: int = 0

    async def __call__(self, bot: Bot, event: Event) -> None:
        self.runs += 1
        openid, question = event.get_user_id(), event.get_plaintext()
        if question not in self.answers:
            waiting = self.held.get(openid)
            await bot.send(event, waiting.pop(0) if waiting else "在")
            return
        await self.may_answer.wait()
        if await bot.send(event, self.answers[question]):
            return
        if self.service.is_open(event.app_id, openid):
            self.outcomes.append(await self.service.send_text(event.app_id, openid, self.answers[question]))
            if self.outcomes[-1] == SENT:
                return
        self.held.setdefault(openid, []).append(self.answers[question])


@dataclass(kw_only=True)
class Stage:
    wechat: WeChatServer
    app: WeChatApp
    client: ApiClient
    service: ApiCustomerService
    house: SlowHouse

    async def known_open(self, openid: str) -> None:
        """As after an earlier question of theirs: the typing sign was taken."""
        self.wechat.people.arrive(posts.text(openid, "你好"))
        await self.service.typing(self.app.account.app_id, openid)
        assert self.service.is_open(self.app.account.app_id, openid)

    async def deliver(self, openid: str, question: str, msg_id: int, times: int = 3) -> list[str]:
        """What so many deliveries of one question show; for a house that does not let them wait."""
        self.wechat.people.arrive(posts.text(openid, question))
        xml = self.wechat.xml(openid, "text", {"Content": question}, msg_id)
        bodies = [(await self.app.post(*self.wechat.post(xml))).content for _ in range(times)]
        await self.until(lambda: not self.app.adapter._runs._courtesies)
        replies = [self.wechat.read(body, openid) for body in bodies]
        return [reply.text if reply else "" for reply in replies]

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(HANG_SECONDS):
            while not condition():
                await asyncio.sleep(0.001)

    async def answered(self) -> None:
        """Let the house answer what it was asked, and wait until it has. From then on it is quick."""
        self.app.adapter._runs._deadlines = Deadlines()
        self.house.may_answer.set()
        await self.until(lambda: all(run.task.done() for run in self.app.adapter._runs._in_flight.values()))


@asynccontextmanager
async def on_stage(
    account: OfficialAccount = ACCOUNT,
    *,
    answers: dict[str, str],
    deadlines: Deadlines | None = None,
    app_secret: str = SECRET,
    **server: Any,
) -> AsyncIterator[Stage]:
    """`app_secret`: the one that the bot has. `server`: of `WeChatServer`."""

    async def reach(scope: Any, receive: Any, send: Any) -> None:
        # WeChat is there first: the address of its API goes into the client.
        await app.driver.asgi(scope, receive, send)

    http = DriverHttp(Mixin())
    try:
        async with WeChatServer(
            BASE + account.path,
            account.token,
            account.app_id,
            account.aes_key,
            app_secret=SECRET,
            transport=httpx.ASGITransport(app=reach),
            **server,
        ) as wechat:
            client = ApiClient(
                app_id=account.app_id, app_secret=app_secret, api_base=wechat.api.base_url, request=http
            )
            service = ApiCustomerService({account.app_id: client})
            house = SlowHouse(service=service, answers=answers)
            async with wechat_app(account, handler=house, service=service, deadlines=deadlines) as app:
                yield Stage(wechat=wechat, app=app, client=client, service=service, house=house)
    finally:
        await http.close()
