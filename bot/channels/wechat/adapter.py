"""The adapter: routes, the body limit, and runs, wired to NoneBot.

Invariant: WeChat is answered 200 for whatever is genuine and 403 for whatever is not, never 5xx.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from nonebot import message as nonebot_message
from nonebot.adapters import Adapter as BaseAdapter
from nonebot.adapters import Bot as BaseBot
from nonebot.drivers import URL, Driver, HTTPServerSetup, Request, Response
from nonebot.exception import ApiNotAvailable
from nonebot.utils import logger_wrapper

from .account import AccountError, OfficialAccount
from .bot import Bot
from .drafts import Drafts, NoDrafts
from .event import Event, OtherEvent
from .intake import Intake, Turned
from .limits import BodyLimit
from .observer import Nobody, Observer
from .phases import Deadlines
from .run import Runs
from .security import read_query
from .service import CustomerService
from .store import SUCCESS, MemoryReplyStore, ReplyStore

WAITING_LINE = "这个问题要多想几秒，约 10 秒后回复“继续”看回答"
UNFINISHED_MARK = "（未完，回复“继续”）"
_log = logger_wrapper("WeChat")


class Adapter(BaseAdapter):
    """`driver.register_adapter(Adapter, accounts=[OfficialAccount(...)], store=...)`.

    Needs a driver whose `server_app` takes ASGI middleware: DRIVER=~fastapi.
    """

    def __init__(
        self,
        driver: Driver,
        *,
        accounts: Sequence[OfficialAccount] = (),
        store: ReplyStore | None = None,
        service: CustomerService | None = None,
        drafts: Drafts | None = None,
        deadlines: Deadlines | None = None,
        waiting_line: str = WAITING_LINE,
        unfinished_mark: str = UNFINISHED_MARK,
        taps: bool = True,
        handler: Callable[[BaseBot, Event], Awaitable[None]] | None = None,
        now: Callable[[], float] = time.time,
        observer: Observer | None = None,
        **kwargs: Any,
    ) -> None:
        """`handler` runs an event, by default through NoneBot's matchers. `now`: Unix seconds.

        `service` None: no account sends customer-service messages. The waiting line is said at the last
        delivery of an answer that is not ready; where `drafts` has a part of it, that part with the
        unfinished mark behind it is. `taps` False: what could be tapped is shown as words.

        Raises:
            AccountError: two accounts share a path or an appid.
        """
        super().__init__(driver, **kwargs)
        self._observer = observer or Nobody()
        self._handler = handler or nonebot_message.handle_event
        self._runs = Runs(
            store=store or MemoryReplyStore(),
            handle=self._handle,
            drafts=drafts or NoDrafts(),
            service=service,
            deadlines=deadlines or Deadlines(),
            waiting_line=waiting_line,
            unfinished_mark=unfinished_mark,
            now=now,
        )
        self._connected: dict[str, Bot] = {a.app_id: Bot(self, a.app_id, self._runs.offer) for a in accounts}
        paths = [account.path for account in accounts]
        if len(set(paths)) < len(paths):
            raise AccountError("path", "两个公众号用了同一个路径", "给每个公众号不同的路径")
        if len(self._connected) < len(accounts):
            raise AccountError("app_id", "同一个公众号配置了两次", "删去重复的一个")
        self._set_up([Intake(account, now, taps=taps) for account in accounts])

    @classmethod
    def get_name(cls) -> str:
        return "WeChat"

    def _set_up(self, intakes: Sequence[Intake]) -> None:
        paths = [intake.account.path for intake in intakes]
        server: Any = getattr(self.driver, "server_app", None)
        if not hasattr(server, "add_middleware"):
            raise AccountError("DRIVER", "当前驱动不能提供 HTTP 服务", "设置 DRIVER=~fastapi")
        server.add_middleware(BodyLimit, paths=paths)
        for intake in intakes:
            for method, handle in (("GET", self._verify), ("POST", self._receive)):
                name = f"{self.get_name()} {method} {intake.account.path}"
                setup = HTTPServerSetup(URL(intake.account.path), method, name, partial(handle, intake))
                self.setup_http_server(setup)
        self.driver.on_startup(self._start_up)
        self.driver.on_shutdown(self._shut_down)

    async def _start_up(self) -> None:
        for bot in self._connected.values():
            self.bot_connect(bot)

    async def _shut_down(self) -> None:
        await self._runs.close()
        for bot in tuple(self.bots.values()):
            self.bot_disconnect(bot)

    async def _verify(self, intake: Intake, request: Request) -> Response:
        echo = intake.verify(read_query(request.url.query))
        self._observer.verified(intake.account.app_id, holds=echo is not None)
        if echo is None:
            self._observer.refused()
            _log("WARNING", "服务器配置验证没有通过：请核对 Token 和服务器时间")
            return _respond(403, b"")
        # Control characters have no business in an echostr and lone surrogates cannot be sent.
        return _respond(200, echo.encode(errors="replace"))

    async def _receive(self, intake: Intake, request: Request) -> Response:
        began = time.perf_counter()
        response = await self._answer(intake, request)
        if response.status_code == Turned.REFUSED.value:
            self._observer.refused()
        else:
            self._observer.acknowledged(time.perf_counter() - began)
            self._observer.verified(intake.account.app_id, holds=True)
        return response

    async def _answer(self, intake: Intake, request: Request) -> Response:
        content = request.content
        body = content.encode() if isinstance(content, str) else content
        delivery = intake.accept(read_query(request.url.query), body if isinstance(body, bytes) else b"")
        if isinstance(delivery, Turned):
            return _respond(delivery.value, SUCCESS if delivery is Turned.UNREADABLE else b"")
        if not isinstance(delivery.event, OtherEvent):
            return _respond(200, await self._runs.answer(delivery))
        # LOCATION comes every five seconds with where the person is: nobody sees it.
        if delivery.event.fields.get("Event") != "LOCATION":
            self._runs.begin(delivery)
        return _respond(200, SUCCESS)

    async def _handle(self, event: Event) -> None:
        await self._handler(self._connected[event.app_id], event)

    async def _call_api(self, bot: BaseBot, api: str, **data: Any) -> Any:
        """This adapter answers passively; it calls no API of WeChat's."""
        raise ApiNotAvailable(self.get_name())


def _respond(status: int, body: bytes) -> Response:
    kind = "application/xml" if body.startswith(b"<xml>") else "text/plain"
    headers = {"Content-Type": f"{kind}; charset=utf-8", "X-Content-Type-Options": "nosniff"}
    return Response(status, headers=headers, content=body)
