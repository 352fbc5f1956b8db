"""A loopback HTTP/1.1 server in the caller's event loop, for the simulated API.

Invariant: listens on 127.0.0.1 only; closing it ends every connection at once, also one that waits.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import parse_qsl, urlsplit

import h11

LARGEST_BODY = 16 * 1024 * 1024
"""Above the largest medium (10 MB) in its multipart wrapping."""
_READ_BYTES = 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str]
    content_type: str
    body: bytes
    peer: str
    """The caller's address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    status: int = 200
    content_type: str = "application/json; encoding=utf-8"
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    is_cut: bool = False
    """Close the connection instead of answering."""


Handle: TypeAlias = Callable[[Request], Awaitable[Response]]


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
        peer = str(writer.get_extra_info("peername")[0])
        while (request := await _read_request(connection, reader, peer)) is not None:
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


async def _read_request(
    connection: h11.Connection, reader: asyncio.StreamReader, peer: str
) -> Request | None:
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
            target = urlsplit(head.target.decode("latin-1"))
            return Request(
                method=head.method.decode(),
                path=target.path,
                query=dict(parse_qsl(target.query, keep_blank_values=True)),
                content_type=dict(head.headers).get(b"content-type", b"").decode("latin-1"),
                body=bytes(body),
                peer=peer,
            )
        else:
            return None
