# pyright: basic
"""What every guard does at its door: which addresses are its own, one value a header, a body within bounds, a refusal.

Invariant: no more of a body than the limit is ever held, no longer than the deadline is waited for it, and
no line of the log holds anything a stranger sent.
"""

import asyncio
import json
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Protocol

from loguru import logger
from starlette.types import Message, Receive, Scope, Send

READ_SECONDS = 5.0
"""Platforms send a body in one piece; who takes longer holds a connection open on purpose."""
DISCARD_BYTES = 16 * 1024 * 1024
"""Read and thrown away beyond the limit: a sender cut off in mid-send sees a reset, not the refusal."""
_LONGEST_LENGTH = 9
"""Digits of a Content-Length worth reading."""
_QUIET_SECONDS = 60.0
"""The same refusal is one line a minute: an attack must not fill the disk. The metric counts them all."""


class Watch(Protocol):
    """Who counts refusals."""

    def refused(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a request goes no further, and the HTTP status that says so."""

    status: int
    reason: str
    """One of a few fixed sentences in Chinese, for the log: nothing of the request is in it."""


TOO_LONG = Refusal(status=413, reason="请求体超过上限")
TOO_SLOW = Refusal(status=408, reason="请求体迟迟没有发完")
GONE = Refusal(status=400, reason="请求体没有发完，对方就断开了")
NOT_AN_OBJECT = Refusal(status=400, reason="请求体不是 JSON 对象")


class Refusals:
    """Counts refusals, and logs each reason at most once a minute."""

    def __init__(
        self, channel: str, watch: Watch | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._channel = channel
        self._watch = watch
        self._clock = clock
        self._said_at: dict[str, float] = {}

    def note(self, refusal: Refusal) -> None:
        if self._watch is not None:
            self._watch.refused()
        now = self._clock()
        if now - self._said_at.get(refusal.reason, -_QUIET_SECONDS) >= _QUIET_SECONDS:
            self._said_at[refusal.reason] = now
            logger.warning("{}：拒绝了一个请求（{}）", self._channel, refusal.reason)


def leads_to(scope: Scope, routes: Collection[str]) -> bool:
    """Whether the router behind would take this request to one of `routes`.

    Starlette's patterns end in `$`, which also matches before a final line feed: `/x%0A` is `/x` to it.
    """
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    if root and path.startswith(f"{root}/"):
        path = path[len(root) :]
    return path.removesuffix("\n") in routes


def values(scope: Scope, name: bytes) -> tuple[bytes, ...]:
    """Every value of a header, by its lower-case name: two are two answers to one question."""
    return tuple(value for key, value in scope["headers"] if key.lower() == name)


async def read_body(
    scope: Scope, receive: Receive, *, limit_bytes: int, read_seconds: float = READ_SECONDS
) -> bytes | Refusal:
    """The whole body, or why there is none."""
    try:
        async with asyncio.timeout(read_seconds):
            return await _read(scope, receive, limit_bytes)
    except TimeoutError:
        return TOO_SLOW


async def _read(scope: Scope, receive: Receive, limit_bytes: int) -> bytes | Refusal:
    is_too_long = any(not _is_short(value, limit_bytes) for value in values(scope, b"content-length"))
    body, received, has_more = bytearray(), 0, True
    while has_more and received <= DISCARD_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            return GONE
        chunk = message.get("body", b"")
        received += len(chunk)
        is_too_long = is_too_long or received > limit_bytes
        if is_too_long:
            body.clear()
        else:
            body += chunk
        has_more = message.get("more_body", False)
    return TOO_LONG if is_too_long else bytes(body)


def _is_short(declared: bytes, limit_bytes: int) -> bool:
    return declared.isdigit() and len(declared) <= _LONGEST_LENGTH and int(declared) <= limit_bytes


def read_object(body: bytes) -> dict[str, Any] | None:
    """The JSON object that a body is; None for anything else. Strict: UTF-8, no NaN, no Infinity."""
    try:
        parsed: Any = json.loads(body.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def handed_on(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body that was read already, then what comes after it."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return pending.pop() if pending else await receive()

    return again


async def respond(send: Send, status: int, body: bytes = b"", kind: bytes = b"text/plain") -> None:
    """Answer. An error closes the connection: whatever else it carries is not read."""
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    if status >= 400:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
