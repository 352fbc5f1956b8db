"""ASGI middleware that bounds what a stranger can make us read, on WeChat's paths only.

Invariant: no more than the limit is ever held of a body, and a fault behind it never becomes a 5xx.

NoneBot's FastAPI driver reads a body whole, and tries it as JSON and as a form, before any handler.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any, TypeAlias

from nonebot.utils import logger_wrapper

_Message: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[_Message]]
_Send: TypeAlias = Callable[[_Message], Awaitable[None]]
_App: TypeAlias = Callable[[_Message, _Receive, _Send], Awaitable[None]]

BODY_BYTES = 64 * 1024
"""A text message is at most a few KB; a million sibling tags would hold the event loop for seconds."""
READ_SECONDS = 5.0
"""WeChat itself gives up after five; a slower sender is no WeChat."""
DISCARD_BYTES = 16 * 1024 * 1024
"""Read and thrown away beyond the limit: a sender cut off in mid-send sees a reset, not the refusal."""
_LONGEST_LENGTH = 9
"""Digits of a Content-Length worth reading."""

_log = logger_wrapper("WeChat")


class BodyLimit:
    """Reads the body within the limit, hands it on whole, and stands between faults and the caller."""

    def __init__(
        self,
        app: _App,
        *,
        paths: Collection[str],
        limit_bytes: int = BODY_BYTES,
        read_seconds: float = READ_SECONDS,
    ) -> None:
        self._app = app
        self._paths = frozenset(paths)
        self._limit_bytes = limit_bytes
        self._read_seconds = read_seconds

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        if scope["type"] != "http" or scope["path"] not in self._paths:
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._read_seconds):
                body = await self._read(scope, receive)
        except TimeoutError:
            await _refuse(send, 408)
            return
        except EOFError:
            return
        if body is None:
            _log("WARNING", "请求体超过上限，已拒绝")
            await _refuse(send, 413)
            return
        await self._pass_on(scope, body, receive, send)

    async def _read(self, scope: _Message, receive: _Receive) -> bytes | None:
        """None when it is too long. Raises EOFError when the caller left."""
        is_too_long = any(
            name.lower() == b"content-length" and not self._is_short(value)
            for name, value in scope["headers"]
        )
        body, received, has_more = bytearray(), 0, True
        while has_more and received <= DISCARD_BYTES:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise EOFError
            chunk = message.get("body", b"")
            received += len(chunk)
            is_too_long = is_too_long or received > self._limit_bytes
            if is_too_long:
                body.clear()
            else:
                body += chunk
            has_more = message.get("more_body", False)
        return None if is_too_long else bytes(body)

    def _is_short(self, declared: bytes) -> bool:
        return declared.isdigit() and len(declared) <= _LONGEST_LENGTH and int(declared) <= self._limit_bytes

    async def _pass_on(self, scope: _Message, body: bytes, receive: _Receive, send: _Send) -> None:
        pending: list[_Message] = [{"type": "http.request", "body": body, "more_body": False}]
        has_started = False

        async def replay() -> _Message:
            return pending.pop() if pending else await receive()

        async def watch(message: _Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self._app(scope, replay, watch)
        except Exception as error:  # the edge: a 5xx would make WeChat retry and alarm
            _log("ERROR", f"处理请求时出错：{type(error).__name__}")
            if not has_started:
                await _refuse(send, 400)


async def _refuse(send: _Send, status: int) -> None:
    """An empty answer that closes the connection: the rest of the body is not read."""
    headers = [(b"content-length", b"0"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
