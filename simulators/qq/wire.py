"""A loopback HTTP/1.1 server in the caller's event loop, and the same without a socket.

Invariant: listens on 127.0.0.1 only; closing it ends every connection at once, also one that waits.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

import h11
import httpx

LARGEST_BODY = 32 * 1024 * 1024
"""Above a file of 20 MB in base64."""
_READ_BYTES = 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    method: str
    path: str
    """Unquoted, without the query."""
    headers: Mapping[str, str]
    """By lower-case names."""
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "application/json"
    is_cut: bool = False
    """Close the connection instead of answering."""


Handle: TypeAlias = Callable[[Request], Awaitable[Response]]


def json_response(answer: Any, status: int = 200) -> Response:
    return Response(status=status, body=json.dumps(answer, ensure_ascii=False).encode())


@dataclass(slots=True)
class LoopbackServer:
    """`start`, then `port` is known; `close` when done."""

    handle: Handle
    port: int = 0
    """0 takes a free one at start."""
    _server: asyncio.Server | None = None
    _connections: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._server is None:
            return
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._converse(reader, writer)
        except (ConnectionError, h11.ProtocolError, asyncio.CancelledError):
            # The client left, sent something that isn't HTTP, or we are closing: nothing to answer.
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h11.Connection(h11.SERVER)
        while (request := await _read_request(connection, reader)) is not None:
            response = await self.handle(request)
            if response.is_cut:
                return
            headers = [
                ("content-type", response.content_type),
                ("content-length", str(len(response.body))),
                *response.headers,
            ]
            for event in (
                h11.Response(status_code=response.status, headers=headers),
                h11.Data(data=response.body),
                h11.EndOfMessage(),
            ):
                writer.write(connection.send(event) or b"")
            await writer.drain()
            if connection.our_state is not h11.DONE:
                return
            connection.start_next_cycle()


async def _read_request(connection: h11.Connection, reader: asyncio.StreamReader) -> Request | None:
    """The next request, or None when the client is done, or sends too much."""
    head: h11.Request | None = None
    body = bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(_READ_BYTES))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > LARGEST_BODY:
                return None
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            return Request(
                method=head.method.decode(),
                path=unquote(urlsplit(head.target.decode("latin-1")).path),
                headers={name.decode(): value.decode("latin-1") for name, value in head.headers},
                body=bytes(body),
            )
        else:
            return None


class InProcessTransport(httpx.AsyncBaseTransport):
    """The same API for an `httpx.AsyncClient` of this process: with a clock moved by hand, say."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._handle(
            Request(
                method=request.method,
                path=request.url.path,
                headers={name.lower(): value for name, value in request.headers.items()},
                body=await request.aread(),
            )
        )
        if response.is_cut:
            raise httpx.RemoteProtocolError("the connection was cut, as scripted", request=request)
        headers = [("content-type", response.content_type), *response.headers]
        return httpx.Response(response.status, headers=headers, content=response.body)
