"""One request straight into an ASGI app: no socket, so that only the app is measured."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

App = Callable[..., Awaitable[None]]


async def post(app: App, path: str, query: bytes, body: bytes) -> bytes:
    """The body of the answer, whatever its status."""
    answered = asyncio.Event()
    answer = bytearray()
    is_read = False

    async def receive() -> dict[str, Any]:
        nonlocal is_read
        if is_read:
            await answered.wait()
            return {"type": "http.disconnect"}
        is_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.body":
            answer.extend(message.get("body", b""))
            if not message.get("more_body"):
                answered.set()

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query,
        "root_path": "",
        "headers": [
            (b"host", b"bot.test"),
            (b"content-type", b"text/xml"),
            (b"content-length", str(len(body)).encode()),
        ],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    await app(scope, receive, send)
    return bytes(answer)
