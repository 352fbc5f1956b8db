"""One HTTP exchange with WeChat, and whether a failed one may have been carried out.

Invariant: what went wrong is told by its kind alone: a library's text may quote an address, and every
address holds the token.
"""

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, cast

from nonebot.drivers import HTTPClientMixin, HTTPClientSession, Request, Response

from .errors import ApiAway, ApiError, OutcomeUnknown

Send: TypeAlias = Callable[[Request], Awaitable[Response]]

_NEVER_LEFT = frozenset(
    {
        # httpx
        "ConnectError",
        "ConnectTimeout",
        "PoolTimeout",
        "ProxyError",
        "UnsupportedProtocol",
        "InvalidURL",
        # aiohttp
        "ClientConnectorError",
        "ConnectionTimeoutError",
        # the system
        "ConnectionRefusedError",
        "gaierror",
    }
)
"""Errors before the first byte of a request was written. By name: the driver chooses its library."""
_CONNECTIONS = 100
_KEPT = 20
"""Open at a time, and left open for the next few seconds."""
_ADDRESS = re.compile(r"(?<![\w.:])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")
_IP_CODES = (40164, 61004)


class DriverHttp:
    """The driver's HTTP with one session kept open. Used from one event loop; `close` it in the end.

    `Adapter.request` opens a session for every request, which costs 30 ms of processor for the TLS
    settings alone. With httpx the proxies of the environment are not used and redirects not followed: a
    redirected POST would hand the secret to whoever is named there.
    """

    def __init__(self, driver: HTTPClientMixin) -> None:
        self._driver = driver
        self._opening = asyncio.Lock()
        self._session: HTTPClientSession | None = None

    async def __call__(self, request: Request) -> Response:
        return await (await self._opened()).request(request)

    async def close(self) -> None:
        """A later call opens a new session."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _opened(self) -> HTTPClientSession:
        async with self._opening:
            if self._session is None:
                session = _direct(self._driver.get_session())
                await session.setup()
                self._session = session
            return self._session


def _direct(session: HTTPClientSession) -> HTTPClientSession:
    try:
        import httpx
        from nonebot.drivers.httpx import Session
    except ImportError:
        return session

    class DirectSession(Session):
        """NoneBot's, but straight to the host that is named, and without cookies."""

        async def setup(self) -> None:
            limits = httpx.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_KEPT)
            self._client = httpx.AsyncClient(trust_env=False, follow_redirects=False, limits=limits)
            await self._client.__aenter__()

        async def request(self, setup: Request) -> Response:
            asked = self._get_timeout(setup.timeout)
            # NoneBot gives a quarter of the whole to waiting for a free connection: in a rush too little.
            seconds = httpx.Timeout(asked.read, connect=asked.connect)
            response = await self.client.request(
                setup.method,
                str(setup.url),
                content=setup.content,
                files=setup.files,
                headers=tuple(setup.headers.items()),
                timeout=seconds,
            )
            headers = response.headers.multi_items()
            return Response(response.status_code, headers=headers, content=response.content, request=setup)

    return DirectSession() if isinstance(session, Session) else session


async def exchange(send: Send, request: Request) -> Response:
    """The response with status 200.

    Raises:
        ApiAway: the request was not taken.
        OutcomeUnknown: it was out, and no proper answer came.
    """
    try:
        response = await send(request)
    except Exception as error:  # any driver's, any library's
        kind = type(error).__name__
        never_left = any(base.__name__ in _NEVER_LEFT for base in type(error).__mro__)
        raise (ApiAway(kind) if never_left else OutcomeUnknown(kind)) from None
    if response.status_code >= 500:
        # A gateway gives up on what it has passed on.
        raise OutcomeUnknown(f"HTTP {response.status_code}")
    if response.status_code != 200:
        raise ApiAway(f"HTTP {response.status_code}")
    return response


def read_bytes(response: Response) -> bytes:
    content = response.content
    if isinstance(content, str):
        return content.encode(errors="replace")
    return content if isinstance(content, bytes) else b""


def read_answer(response: Response, *, is_about_token: bool = False) -> dict[str, Any]:
    """The JSON object of an answer that is no error.

    Raises:
        ApiError: it is one.
        OutcomeUnknown: it is no JSON object: nobody knows who answered.
    """
    try:
        # Old endpoints leave control characters in their strings.
        decoded: object = json.loads(read_bytes(response).decode(errors="replace"), strict=False)
        if not isinstance(decoded, dict):
            raise TypeError
        answer = cast("dict[str, Any]", decoded)
        errcode = int(answer.get("errcode") or 0)
    except (ValueError, TypeError, RecursionError):
        raise OutcomeUnknown("不是 JSON") from None
    if errcode:
        address = _ADDRESS.search(str(answer.get("errmsg", ""))) if errcode in _IP_CODES else None
        raise ApiError(errcode, address=address[0] if address else "", is_about_token=is_about_token)
    return answer


def hide_queries() -> None:
    """httpx writes each address at INFO, with the token in it: its lines keep the part before the `?`."""
    # Adding the same filter again does nothing.
    logging.getLogger("httpx").addFilter(_without_query)


def _without_query(record: logging.LogRecord) -> bool:
    if isinstance(record.args, tuple):
        texts = (argument if isinstance(argument, int) else str(argument) for argument in record.args)
        record.args = tuple(one.partition("?")[0] if isinstance(one, str) else one for one in texts)
    return True
