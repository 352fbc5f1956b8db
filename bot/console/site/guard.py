"""The one gate before every page: who has no session gets none, and no other page posts here.

Invariant: what is open is named here; every other address, known or not, is closed. What is open to the world of
this machine sees to its own authentication.
"""

from collections.abc import Iterable

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from bot.console.site.faults import refuse, sign_in_first
from bot.console.site.shields import READING, is_own_page
from bot.console.site.site import SESSION_COOKIE, Site

DOORS = frozenset({"/login", "/setup"})
OPEN_PREFIXES = ("/static/", "/platforms/")
"""`/platforms/`: what a platform calls; the bot's own checks of signatures and tokens are behind it."""
LIMIT_BYTES = 4 * 1024 * 1024
"""Of a body: a form with a picture."""


class Guard:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, site: Site, open_paths: Iterable[str]) -> None:
        """`open_paths`: beside the doors, what has its own authentication or needs none."""
        self._app = app
        self._site = site
        self._unguarded = frozenset(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        path: str = scope["path"]
        is_unguarded = path in self._unguarded or path.startswith(OPEN_PREFIXES)
        if scope["type"] == "websocket":
            app = self._app if is_unguarded else WebSocketClose()
            await app(scope, receive, send)
            return
        if is_unguarded:
            await self._app(scope, receive, send)
        else:
            await self._guarded(scope, receive, send)

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, _bounded(receive))
        session = self._site.doorkeeper.session(request.cookies.get(SESSION_COOKIE, ""))
        request.state.session = session
        if session is None and scope["path"] not in DOORS:
            is_form = scope["method"] not in READING and is_own_page(HTTPConnection(scope))
            refused = sign_in_first(self._site, request) if is_form else None
            response = await refused if refused is not None else refuse(self._site, request, 401)
            await response(scope, receive, send)
        elif scope["method"] not in READING and not is_own_page(HTTPConnection(scope)):
            await refuse(self._site, request, 403)(scope, receive, send)
        else:
            await self._app(scope, _bounded(receive), send)


def _bounded(receive: Receive) -> Receive:
    read = 0

    async def receive_bounded() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > LIMIT_BYTES:
            raise HTTPException(413)
        return message

    return receive_bounded
