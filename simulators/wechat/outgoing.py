"""Requests to the callback under test.

Invariant: a new connection for each, as if from one of WeChat's many machines: none outlives a restart of
the bot, and none waits for another's. No redirect is followed, nothing is retried, and there is no
deadline: a caller drops what takes too long.
"""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import urlencode, urlsplit

import h11
import httpx

Transport: TypeAlias = httpx.AsyncBaseTransport
_HEADERS = {"Content-Type": "text/xml", "User-Agent": "Mozilla/4.0", "Accept": "*/*"}
_READ_BYTES = 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    body: bytes
    has_length: bool


class Callback:
    """The one URL. Both methods raise ConnectionError: refused, or broken before there was an answer."""

    def __init__(self, url: str, transport: Transport | None) -> None:
        """`transport`: into an application of this process, say. None: sockets."""
        self._url = url
        self._client = None if transport is None else httpx.AsyncClient(transport=transport, timeout=None)  # noqa: S113
        self._wire = _Wire(url)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def get(self, query: Mapping[str, str]) -> Answer:
        return await self._ask("GET", query, None)

    async def post(self, query: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        answer = await self._ask("POST", query, body)
        return answer.status, answer.body

    async def _ask(self, method: str, query: Mapping[str, str], body: bytes | None) -> Answer:
        if self._client is None:
            return await self._wire.ask(method, query, body)
        try:
            response = await self._client.request(
                method, self._url, params=query, content=body, headers=_HEADERS
            )
        except httpx.RequestError as error:
            raise ConnectionError(str(error)) from error
        has_length = "content-length" in response.headers
        return Answer(status=response.status_code, body=response.content, has_length=has_length)


class _Wire:
    """Over sockets, with h11 alone: a thousand followers at once must not cost the machine more here than
    in the bot that is measured (httpx takes five times as much)."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host = parts.hostname or ""
        self._is_tls = parts.scheme == "https"
        self._port = parts.port or (443 if self._is_tls else 80)
        self._authority = parts.netloc
        self._target = parts.path or "/"
        self._extra = f"{parts.query}&" if parts.query else ""

    async def ask(self, method: str, query: Mapping[str, str], body: bytes | None) -> Answer:
        """Raises ConnectionError."""
        content = body or b""
        headers = [("Host", self._authority), *_HEADERS.items(), ("Connection", "close")]
        if body is not None:
            headers.append(("Content-Length", str(len(content))))
        target = f"{self._target}?{self._extra}{urlencode(query)}"
        request = h11.Request(method=method, target=target, headers=headers)
        context = ssl.create_default_context() if self._is_tls else None
        try:
            reader, writer = await asyncio.open_connection(self._host, self._port, ssl=context)
            try:
                return await _converse(reader, writer, (request, h11.Data(data=content), h11.EndOfMessage()))
            finally:
                writer.transport.abort()
        except (OSError, h11.ProtocolError) as error:
            raise ConnectionError(str(error)) from error


async def _converse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, events: tuple[h11.Event, ...]
) -> Answer:
    connection = h11.Connection(h11.CLIENT)
    writer.write(b"".join(connection.send(event) or b"" for event in events))
    head: h11.Response | None = None
    body = bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(_READ_BYTES))
        elif isinstance(event, h11.Response):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            has_length = any(name == b"content-length" for name, _ in head.headers)
            return Answer(status=head.status_code, body=bytes(body), has_length=has_length)
        elif not isinstance(event, h11.InformationalResponse):
            raise ConnectionError("closed before there was an answer")
