# pyright: basic
"""The guard before the webhook of QQ's official bots: ASGI middleware.

Invariant: nothing reaches the adapter's addresses but a post that the platform signed now and that was not handed on
before. The validation of the callback address is answered here: the adapter would sign anything for anyone.
"""

import json
import time
from collections.abc import Callable, Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.channels.door import Refusal, Refusals, Watch, handed_on, leads_to, read_body, respond, values
from bot.channels.qq_guard import (
    REPLAYED,
    RUNNING,
    Admissions,
    Entry,
    Genuine,
    Posted,
    Validation,
    WebhookKey,
    judge,
)

ROUTES = frozenset({"/qq/", "/qq/webhook", "/qq/webhook/"})
"""Where nonebot-adapter-qq listens: `Adapter.startup` of 1.7.3. A test asks the adapter itself."""
LIMIT_BYTES = 128 * 1024
"""A message with quotes and attachments takes a few KB; parsing this much holds the loop for some ms."""
_WRONG_METHOD = Refusal(status=405, reason="不是 POST 请求")


class QqGuard:
    """Before the whole application: `app.add_middleware(QqGuard, secrets=…, is_setup_open=…)`."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        secrets: Mapping[str, str],
        is_setup_open: Callable[[], bool],
        now: Callable[[], float] = time.time,
        watch: Watch | None = None,
        admissions: Admissions | None = None,
        limit_bytes: int = LIMIT_BYTES,
        validated: Callable[[str], None] = lambda app_id: None,
    ) -> None:
        """`secrets`: AppSecret by AppID, of the bots that use the webhook; others are refused here.

        `is_setup_open` says whether the operator is setting the callback address up; `validated` is told of which
        bot it was answered. `now`: Unix seconds.
        Raises ConfigurationError when a secret is empty.
        """
        self._app = app
        self._keys = {app_id: WebhookKey(secret) for app_id, secret in secrets.items()}
        self._is_setup_open = is_setup_open
        self._now = now
        self._refusals = Refusals("QQ 官方机器人", watch)
        self._admissions = admissions or Admissions()
        self._limit_bytes = limit_bytes
        self._validated = validated

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not leads_to(scope, ROUTES):
            await self._app(scope, receive, send)
            return
        if scope["method"] != "POST":
            await self._refuse(send, _WRONG_METHOD)
            return
        body = await read_body(scope, receive, limit_bytes=self._limit_bytes)
        verdict = body if isinstance(body, Refusal) else self._judge(scope, body)
        if isinstance(verdict, Refusal):
            await self._refuse(send, verdict)
        elif isinstance(verdict, Validation):
            self._validated(values(scope, b"x-bot-appid")[0].decode("latin-1"))
            answer = {"plain_token": verdict.plain_token, "signature": verdict.signature}
            await respond(send, 200, json.dumps(answer).encode(), b"application/json")
        else:
            assert isinstance(body, bytes)
            await self._admit(verdict, scope, handed_on(body, receive), send)

    def _judge(self, scope: Scope, body: bytes) -> Refusal | Validation | Genuine:
        posted = Posted(
            app_ids=values(scope, b"x-bot-appid"),
            signatures=values(scope, b"x-signature-ed25519"),
            timestamps=values(scope, b"x-signature-timestamp"),
            body=body,
        )
        return judge(posted, self._keys, self._now(), self._is_setup_open)

    async def _admit(self, genuine: Genuine, scope: Scope, receive: Receive, send: Send) -> None:
        entry = self._admissions.enter(genuine, self._now())
        if entry is Entry.NEW:
            await self._hand_on(genuine, scope, receive, send)
        elif entry is Entry.TAKEN:
            await respond(send, 200)
        else:
            await self._refuse(send, REPLAYED if entry is Entry.REPLAYED else RUNNING)

    async def _hand_on(self, genuine: Genuine, scope: Scope, receive: Receive, send: Send) -> None:
        is_taken = False

        async def watched(message: Message) -> None:
            nonlocal is_taken
            if message["type"] == "http.response.start":
                is_taken = 200 <= message["status"] < 300
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            self._admissions.leave(genuine, self._now(), is_taken=is_taken)

    async def _refuse(self, send: Send, refusal: Refusal) -> None:
        self._refusals.note(refusal)
        await respond(send, refusal.status)
