"""The doors: `/platforms/…` on the loopback port leads into the bot's application, and nowhere else does.

Invariant: what is behind a door answers nobody who did not come through it: to the public port it is an address
that does not exist. What is a door's own is checked there all the same (signature, token).
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.types import ASGIApp, Receive, Scope, Send

from bot.playground.playing import PLAYING, Knobs

PREFIX: Final = "/platforms/"
_MARK: Final = "jide.playground"
_MARKER: Final = object()
"""By identity: no request can bring it along."""
_NOWHERE: Final = "/platforms"
"""Never served."""
_CLOSED_TO_ALL: Final = 1008
_HANDED_ON: Final = (
    *("type", "asgi", "http_version", "scheme", "method", "query_string", "headers"),
    *("server", "client", "subprotocols", "extensions"),
)
"""Of a scope: the rest belongs to the application that the request came to first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Where a door leads, and who plays behind it."""

    leads_to: str
    """A path of the bot's application."""
    knobs: Knobs


class Doors:
    """An application for `/platforms`, HTTP and WebSocket."""

    def __init__(self) -> None:
        self._app: ASGIApp | None = None
        self._doors: dict[str, Door] = {}

    def add(self, path: str, door: Door) -> None:
        """`path` on the loopback port, such as `/platforms/wechat/service`."""
        assert path.startswith(PREFIX) and path not in self._doors, path
        self._doors[path] = door

    def lead_into(self, app: ASGIApp) -> None:
        """The bot's application, with all its guards. Until then every door is closed."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        door = self._doors.get(scope["path"])
        if door is None or self._app is None:
            await _refuse(scope, receive, send)
            return
        # On a socket many messages come, and the player turns the knobs between them.
        token = PLAYING.set(door.knobs.now() if scope["type"] == "http" else door.knobs)
        try:
            await self._app(_marked(scope, door.leads_to), receive, send)
        finally:
            PLAYING.reset(token)


class PublicGuard:
    """Outermost before the bot's application: `app.add_middleware(PublicGuard)`, after all others."""

    def __init__(self, app: ASGIApp, *, is_hidden: Callable[[Scope], bool] = lambda scope: False) -> None:
        """`is_hidden`: what else is there for the playground alone."""
        self._app = app
        self._is_hidden = is_hidden

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Every request comes by here: one look, and no coroutine of its own."""
        path = scope.get("path")
        is_played = path is not None and (path.startswith(PREFIX) or self._is_hidden(scope))
        if is_played and not is_from_playground(scope):
            # The router's own word for what is not there: nothing tells the one from the other.
            scope = {**scope, "path": _NOWHERE, "raw_path": _NOWHERE.encode()}
        return self._app(scope, receive, send)


def is_from_playground(scope: Mapping[str, Any]) -> bool:
    """Whether a request came through one of the doors."""
    return scope.get(_MARK) is _MARKER


def _marked(scope: Scope, path: str) -> Scope:
    handed_on = {name: scope[name] for name in _HANDED_ON if name in scope}
    return {**handed_on, "path": path, "raw_path": path.encode(), "root_path": "", _MARK: _MARKER}


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": _CLOSED_TO_ALL, "reason": ""})
        return
    headers = [(b"content-length", b"0"), (b"x-content-type-options", b"nosniff")]
    await send({"type": "http.response.start", "status": 404, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
