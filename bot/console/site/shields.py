"""What every answer of the second server carries, and what no request from another page gets past.

Invariant: a page of another origin changes nothing here, on whatever port of this machine it is.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'"
SHIELDS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
READING = frozenset({"GET", "HEAD"})


class Shields:
    """ASGI middleware: puts them where the answer says nothing of its own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def put_and_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in SHIELDS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, put_and_send)


def is_own_page(connection: HTTPConnection) -> bool:
    """The request comes from a page of this very origin.

    Fetch metadata where the browser sends it (W3C Fetch Metadata; all do to loopback since 2023): under
    `no-referrer` a form's `Origin` is "null" (Fetch standard, "append a request Origin header").
    """
    headers: Headers = connection.headers
    if site := headers.get("sec-fetch-site"):
        return site == "same-origin"
    url = connection.url
    return headers.get("origin") == f"{url.scheme}://{url.netloc}"
