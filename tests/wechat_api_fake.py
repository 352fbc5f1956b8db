"""WeChat's API as one function: scripted answers, every request kept, time that stands still."""

import json
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from typing import Any

from nonebot.drivers import Request, Response

from bot.channels.wechat.api import ApiClient, TokenStore

APP_ID = "wxFake"
SECRET = "5ecret-of-the-account"
OPENID = "oAlice0000000000000000000001"
SEND = "/cgi-bin/message/custom/send"
TYPING = "/cgi-bin/message/custom/typing"
TOKEN = "/cgi-bin/stable_token"
USER = "/cgi-bin/user/info"
OK = {"errcode": 0, "errmsg": "ok"}

Scripted = dict[str, Any] | Response | Exception | Callable[[], Awaitable[Response]]


def failing(errcode: int, errmsg: str = "") -> dict[str, Any]:
    return {"errcode": errcode, "errmsg": errmsg or f"said about {OPENID} rid: 0"}


def respond(body: Any, kind: str = "application/json") -> Response:
    content = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    return Response(200, headers={"Content-Type": kind}, content=content)


class FakeWeChat:
    """Call it with a Request. What is not scripted is answered "ok"; tokens are made when forced to, or
    when the last one is over.

    The clock is `time`; sleeping moves it.
    """

    def __init__(self, time: float = 1_700_000_000.0) -> None:
        self.time = time
        self.requests: list[Request] = []
        self.slept: list[float] = []
        self.token_number = 0
        self.token_expires_at = 0.0
        self._scripts: dict[str, deque[Scripted]] = defaultdict(deque)

    def script(self, path: str, *answers: Scripted) -> None:
        """The next answers of `path`, in order."""
        self._scripts[path].extend(answers)

    def calls(self, path: str) -> list[Request]:
        return [request for request in self.requests if request.url.path == path]

    def bodies(self, path: str) -> list[dict[str, Any]]:
        return [json.loads(request.content) for request in self.calls(path)]  # type: ignore[arg-type]

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    async def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        path = request.url.path
        scripted = self._scripts[path].popleft() if self._scripts[path] else None
        if isinstance(scripted, Exception):
            raise scripted
        if isinstance(scripted, Response):
            return scripted
        if callable(scripted):
            return await scripted()
        if scripted is not None:
            return respond(scripted)
        return respond(self._token(request) if path == TOKEN else OK)

    def _token(self, request: Request) -> dict[str, Any]:
        body = json.loads(request.content)  # type: ignore[arg-type]
        # As WeChat does it: the next token is made five minutes before the end.
        if body["force_refresh"] or self.time >= self.token_expires_at - 300:
            self.token_number += 1
            self.token_expires_at = self.time + 7200
        return {"access_token": f"t0ken-{self.token_number}", "expires_in": self.token_expires_at - self.time}

    def client(self, *, tokens: TokenStore | None = None, **changed: Any) -> ApiClient:
        settings: dict[str, Any] = {
            "app_id": APP_ID,
            "app_secret": SECRET,
            "api_base": "https://api.test",
            "sleep": self.sleep,
        }
        return ApiClient(request=self, tokens=tokens, now=self.now, **(settings | changed))
