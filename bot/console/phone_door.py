"""`POST /identity/phone`: where the backend of the operator's mini-program hands over a login and a phone.

Invariant: nothing is read before the token was checked, no more than `LIMIT_BYTES` ever; what is answered is a word
of a closed list, and of codes and phones nothing is written or said.
"""

import asyncio
import hmac
import json
from typing import Any, Protocol, cast

from loguru import logger
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.conversation.errors import TransientError
from identity.mini_program import Outcome

PATH = "/identity/phone"
LIMIT_BYTES = 4_096
"""Two codes of under 100 characters each."""
LONGEST_CODE = 512
SECONDS = 20.0
"""Two calls of WeChat's API, a token before them."""
READ_SECONDS = 5.0

_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class Phones(Protocol):
    """See `identity.mini_program.MiniProgramPhones`."""

    async def prove(self, login_code: str, phone_code: str) -> Outcome: ...


class PhoneDoor:
    """The route, for who has the token."""

    def __init__(self, phones: Phones, token: str) -> None:
        """`token`: not empty."""
        if not token:
            raise ValueError("a door without a key")
        self._phones = phones
        self._token = token.encode()

    @property
    def route(self) -> Route:
        return Route(PATH, self._answer, methods=["POST"])

    async def _answer(self, request: Request) -> Response:
        if not self._has_token(request):
            return _said("unauthorized", 401)
        try:
            async with asyncio.timeout(READ_SECONDS):
                body = await _read(request)
        except (TimeoutError, ClientDisconnect):
            return _said("bad_request", 400)
        if body is None:
            return _said("too_large", 413)
        codes = _codes_in(body)
        if codes is None:
            return _said("bad_request", 400)
        return await self._prove(*codes)

    async def _prove(self, login_code: str, phone_code: str) -> Response:
        try:
            async with asyncio.timeout(SECONDS):
                outcome = await self._phones.prove(login_code, phone_code)
        except (TransientError, TimeoutError) as error:
            logger.warning("小程序提交的手机号没能处理：{}", type(error).__name__)
            return _said("unavailable", 503)
        return _said(outcome.value, 200, is_linked=outcome.is_linked)

    def _has_token(self, request: Request) -> bool:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        # Headers come as Latin-1: the bytes that were sent are compared.
        given = token.strip().encode("latin-1", "replace")
        return scheme.lower() == "bearer" and hmac.compare_digest(given, self._token)


async def _read(request: Request) -> bytes | None:
    """None: more than `LIMIT_BYTES`, declared or sent."""
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > LIMIT_BYTES:
        return None
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LIMIT_BYTES:
            return None
    return bytes(body)


def _codes_in(body: bytes) -> tuple[str, str] | None:
    try:
        fields: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    known = cast("dict[str, Any]", fields)
    login_code, phone_code = known.get("login_code"), known.get("phone_code")
    if not (isinstance(login_code, str) and isinstance(phone_code, str)):
        return None
    return (login_code, phone_code) if _is_code(login_code) and _is_code(phone_code) else None


def _is_code(code: str) -> bool:
    """WeChat's are printable ASCII; anything else would only be asked about in vain."""
    return 0 < len(code) <= LONGEST_CODE and code.isascii() and code.isprintable() and " " not in code


def _said(reason: str, status: int, *, is_linked: bool = False) -> Response:
    return JSONResponse({"linked": is_linked, "reason": reason}, status, headers=_HEADERS)
