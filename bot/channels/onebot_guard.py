# pyright: basic
"""The guard before OneBot's addresses: who may connect, which posts are signed, which frames can be read.

Invariant: no connection is accepted and no post handed on but from a client that proved itself with the token or
the secret, for a bot of ours; where there is neither, nobody can.
"""

import hmac
import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.types import ASGIApp, Receive, Scope, Send

from bot.channels.door import (
    NOT_AN_OBJECT,
    Refusal,
    Refusals,
    Watch,
    handed_on,
    leads_to,
    read_body,
    read_object,
    respond,
    values,
)

SOCKETS = frozenset({"/onebot/v11/", "/onebot/v11/ws", "/onebot/v11/ws/"})
POSTS = frozenset({"/onebot/v11/", "/onebot/v11/http", "/onebot/v11/http/"})
"""Where nonebot-adapter-onebot listens: `Adapter._setup` of 2.4.6. A test asks the adapter itself."""
LIMIT_CHARACTERS = 1_000_000
"""Characters of a frame, bytes of a post. A message takes a few thousand; parsing this much takes ~10 ms."""
DETAILS = ("message_type", "notice_type", "request_type", "meta_event_type")
"""At most one of them names an event's kind."""
_POLICY_VIOLATION = 1008
"""Sent before the handshake is accepted, it becomes HTTP 403."""
_SELF_ID: Final = re.compile(rb"[A-Za-z0-9_.-]{1,64}")
"""QQ numbers; other implementations have words. It is shown in the log."""
_SIGNATURE: Final = re.compile(rb"sha1=[0-9a-f]{40}")
_SCHEMES = frozenset({b"bearer", b"token"})
_INTEGER: Final = re.compile(r"-?[0-9]{1,19}")
_FURTHEST = 2**63

_NO_SELF_ID = Refusal(status=400, reason="没有写明是哪个机器人（X-Self-ID）")
_FOREIGN = Refusal(status=403, reason="X-Self-ID 不在允许的名单里")
_NO_TOKEN = Refusal(status=401, reason="没有带令牌")
_WRONG_TOKEN = Refusal(status=403, reason="令牌不对")
_CLOSED = Refusal(status=401, reason="HTTP 上报没有开放：要用它，先设置签名密钥")
_UNSIGNED = Refusal(status=401, reason="HTTP 上报没有签名")
_WRONG_SIGNATURE = Refusal(status=403, reason="HTTP 上报的签名不对")
_NO_EVENT = Refusal(status=400, reason="HTTP 上报的不是事件")
_OTHER_BOT = Refusal(status=403, reason="HTTP 上报的事件属于另一个机器人")


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A client that is only played, in this process: it comes in by a door of its own, and nobody else does."""

    self_id: str
    """Reserved: whoever comes any other way is not this bot."""
    token: str = field(repr=False)
    is_from: Callable[[Mapping[str, Any]], bool]
    """Whether a request, by its scope, came through that door."""
    is_at_work: Callable[[], bool]
    """Whether what runs now was set off by one that did."""


def check_token(authorizations: tuple[bytes, ...], token: str) -> Refusal | None:
    """None: this client knows the token. An empty token is nobody's."""
    if not authorizations:
        return _NO_TOKEN
    scheme, _, given = authorizations[0].partition(b" ")
    is_right = hmac.compare_digest(given, token.encode()) and scheme.lower() in _SCHEMES
    return None if is_right and token and len(authorizations) == 1 else _WRONG_TOKEN


def check_self_id(self_ids: tuple[bytes, ...], allowed: Collection[str]) -> Refusal | None:
    """None: a bot of ours. `allowed` empty: every bot is."""
    if len(self_ids) != 1 or not _SELF_ID.fullmatch(self_ids[0]):
        return _NO_SELF_ID
    return None if not allowed or self_ids[0].decode() in allowed else _FOREIGN


def check_post(signatures: tuple[bytes, ...], self_id: str, body: bytes, secret: str) -> Refusal | None:
    """None: an event of this bot, signed. The signature covers the body alone, so the body must name the bot too."""
    if not secret:
        return _CLOSED
    if not signatures:
        return _UNSIGNED
    expected = b"sha1=" + hmac.digest(secret.encode(), body, "sha1").hex().encode()
    is_signature = len(signatures) == 1 and _SIGNATURE.fullmatch(signatures[0])
    if not is_signature or not hmac.compare_digest(signatures[0], expected):
        return _WRONG_SIGNATURE
    event = read_object(body)
    if event is None:
        return NOT_AN_OBJECT
    if "post_type" not in event or not is_readable(event):
        return _NO_EVENT
    return None if str(event["self_id"]) == self_id else _OTHER_BOT


def is_acceptable(frame: str) -> bool:
    """Whether the adapter can read a frame without failing."""
    if len(frame) > LIMIT_CHARACTERS:
        return False
    try:
        parsed: Any = json.loads(frame)
    except (ValueError, RecursionError):
        return False
    return isinstance(parsed, dict) and is_readable(parsed)


def is_readable(parsed: dict[str, Any]) -> bool:
    """The same of what a frame holds: an event, or an answer to a call."""
    if "post_type" not in parsed:
        echo = parsed.get("echo")
        # The adapter passes any decimal to int(), which refuses the longest.
        return not isinstance(echo, str) or not echo.isdecimal() or _is_number(echo)
    kinds = [parsed.get(name) for name in DETAILS]
    return (
        isinstance(parsed["post_type"], str)
        and all(isinstance(parsed.get(name), str | None) for name in (*DETAILS, "sub_type"))
        and sum(map(bool, kinds)) <= 1
        and all(_is_number(parsed.get(name)) for name in ("time", "self_id"))
    )


def _is_number(value: object) -> bool:
    if isinstance(value, str):
        return _INTEGER.fullmatch(value) is not None
    return isinstance(value, int) and abs(value) < _FURTHEST


class OneBotGuard:
    """Before the whole application: `app.add_middleware(OneBotGuard, access_token=…, secret=…)`."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        access_token: str,
        secret: str = "",
        self_ids: Collection[str] = (),
        watch: Watch | None = None,
        played: Played | None = None,
    ) -> None:
        """Without a token nobody connects; without a secret no post is taken. `self_ids` empty: of any bot."""
        self._app = app
        self._access_token = access_token
        self._secret = secret
        self._self_ids = frozenset(self_ids)
        self._refusals = Refusals("OneBot", watch)
        self._played = played

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and leads_to(scope, SOCKETS):
            await self._connect(scope, receive, send)
        elif scope["type"] == "http" and scope["method"] == "POST" and leads_to(scope, POSTS):
            await self._post(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        played, self_ids = self._played, values(scope, b"x-self-id")
        if played is not None and played.is_from(scope):
            token, allowed = played.token, frozenset({played.self_id})
        else:
            token, allowed = self._access_token, self._self_ids
        refusal = check_token(values(scope, b"authorization"), token) or self._check_self_id(
            scope, self_ids, allowed
        )
        if refusal is None:
            await self._app(scope, receive, send)
            return
        self._refusals.note(refusal)
        await receive()
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": ""})

    def _check_self_id(
        self, scope: Scope, self_ids: tuple[bytes, ...], allowed: Collection[str]
    ) -> Refusal | None:
        played = self._played
        if played is not None and played.self_id.encode() in self_ids and not played.is_from(scope):
            return _FOREIGN
        return check_self_id(self_ids, allowed)

    async def _post(self, scope: Scope, receive: Receive, send: Send) -> None:
        verdict = await self._judge(scope, receive)
        if isinstance(verdict, Refusal):
            self._refusals.note(verdict)
            await respond(send, verdict.status)
        else:
            await self._app(scope, handed_on(verdict, receive), send)

    async def _judge(self, scope: Scope, receive: Receive) -> bytes | Refusal:
        """The body of a post to hand on."""
        self_ids, signatures = values(scope, b"x-self-id"), values(scope, b"x-signature")
        if not self._secret:
            return _CLOSED
        if not signatures:
            return _UNSIGNED
        refusal = self._check_self_id(scope, self_ids, self._self_ids)
        if refusal is not None:
            return refusal
        body = await read_body(scope, receive, limit_bytes=LIMIT_CHARACTERS)
        if isinstance(body, Refusal):
            return body
        return check_post(signatures, self_ids[0].decode(), body, self._secret) or body
