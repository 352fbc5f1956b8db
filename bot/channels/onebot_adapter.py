# pyright: basic
"""The OneBot v11 adapter, made to withstand what real clients send.

Invariant: no frame of a client ends its connection or reaches the log with its content; a message with
unusual ids or without fields that nobody reads is still a message; of two connections of one bot the newer lives.
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, TypeAlias

import anyio
from nonebot.adapters.onebot.collator import Collator
from nonebot.adapters.onebot.v11 import Adapter, Event, GroupMessageEvent, MessageEvent, PrivateMessageEvent
from nonebot.adapters.onebot.v11.adapter import DEFAULT_MODELS
from nonebot.adapters.onebot.v11.utils import log
from nonebot.drivers import Driver, HTTPServerSetup, Request, Response, WebSocket
from nonebot.exception import WebSocketClosed
from starlette.websockets import WebSocketDisconnect
from typing_extensions import override

from bot.channels.door import Watch
from bot.channels.onebot_events import LooseGroupMessage, LoosePrivateMessage
from bot.channels.onebot_guard import DETAILS, LIMIT_CHARACTERS, Played, check_token, is_acceptable

__all__ = ["LIMIT_CHARACTERS", "OneBotAdapter", "SkimmedSocket", "is_acceptable"]

Noticed: TypeAlias = Callable[[Mapping[str, Any]], Coroutine[Any, Any, None]]
"""Given an event's fields as they came."""

_OTHERS = [model for model in DEFAULT_MODELS if model not in (GroupMessageEvent, PrivateMessageEvent)]
_POLICY_VIOLATION = 1008
_CLOSE_SECONDS = 5.0
"""A half-open connection takes no close frame; uvicorn drops it after its own pings went unanswered."""


class OneBotAdapter(Adapter):
    """NoneBot's adapter with looser messages and a connection that outlives a bad frame."""

    event_models = Collator(
        "OneBot V11",
        [*_OTHERS, LooseGroupMessage, LoosePrivateMessage],
        ("post_type", DETAILS, "sub_type"),
    )

    @override
    def __init__(
        self,
        driver: Driver,
        *,
        takes_posts: bool = True,
        watch: Watch | None = None,
        noticed: Noticed | None = None,
        played: Played | None = None,
        **kwargs: Any,
    ) -> None:
        """`takes_posts` False leaves the HTTP routes out: a post proves itself by the secret alone.

        `watch` is told of each client without the token, and of each post without a signature; `noticed`
        of each notice and each sign of life, in the order in which they come.
        """
        if noticed is not None:
            # Nothing else sees every event in order, whichever way it came.
            self.json_to_event = partial(self._noted_event, noticed)
        self._takes_posts = takes_posts
        self._played = played
        self._watch = watch
        self._seats: dict[str, Seat] = {}
        super().__init__(driver, **kwargs)

    @override
    def setup_http_server(self, setup: HTTPServerSetup) -> None:
        if self._takes_posts:
            super().setup_http_server(setup)

    @override
    def _check_access_token(self, request: Request) -> Response | None:
        given = tuple(
            value.encode("latin-1", "replace") for value in request.headers.getall("authorization", [])
        )
        played, token = self._played, self.onebot_config.onebot_access_token
        if played is not None and played.is_at_work():
            token = played.token
        refusal = check_token(given, token or "")
        return self._noted(None if refusal is None else Response(refusal.status, content="Forbidden"))

    @override
    def _check_signature(self, request: Request) -> Response | None:
        return self._noted(super()._check_signature(request))

    def _noted(self, refusal: Response | None) -> Response | None:
        if refusal is not None and self._watch is not None:
            self._watch.refused()
        return refusal

    def _noted_event(self, noticed: Noticed, json_data: Any) -> Event | None:
        event = type(self).json_to_event(json_data)
        if event is not None and event.post_type in ("notice", "meta_event"):
            task = asyncio.create_task(noticed(json_data))
            task.add_done_callback(self.tasks.discard)
            self.tasks.add(task)
        return event

    @classmethod
    @override
    def json_to_event(cls, json_data: Any) -> Event | None:
        """The event, or None for an API answer and for a message too broken to be read."""
        try:
            event = super().json_to_event(json_data)
        except asyncio.InvalidStateError:
            log("WARNING", "A second answer to one API call; ignored")
            return None
        if event is not None and event.post_type == "message" and not isinstance(event, MessageEvent):
            log("WARNING", "A message without the fields of one; ignored")
            return None
        return event

    @override
    async def _handle_ws(self, websocket: WebSocket) -> None:
        """Serve a connection to its end. The bot's older one, which may be half-open, leaves first."""
        # Before anything else: whoever has no token must not end a connection that has.
        if self._check_access_token(websocket.request) is not None:
            await websocket.close(_POLICY_VIOLATION)
            return
        self_id = websocket.request.headers.get("x-self-id") or ""
        seat, is_served = Seat(), False
        older, self._seats[self_id] = self._seats.get(self_id), seat
        try:
            if older is not None:
                log("WARNING", "A newer connection of the same bot; the older one is closed")
                await older.vacate()
            # Meanwhile a newer one yet may have come.
            is_served = not seat.is_vacated and self._is_free(self_id)
            if is_served:
                with seat.scope:
                    await super()._handle_ws(SkimmedSocket(websocket, seat))
        finally:
            seat.left.set()
            if self._seats.get(self_id) is seat:
                del self._seats[self_id]
        if seat.is_vacated or not is_served:
            await _close(websocket)

    def _is_free(self, self_id: str) -> bool:
        """No other platform has a bot of this id. A bot that only posts makes room: it has no connection."""
        if (bot := self.bots.get(self_id)) is not None and self_id not in self.connections:
            self.bot_disconnect(bot)
        return self_id not in self.driver.bots


async def _close(websocket: WebSocket) -> None:
    """Say so to a client that has to go. Nobody waits for this but the connection itself."""
    with contextlib.suppress(RuntimeError, OSError, WebSocketDisconnect, TimeoutError):
        async with asyncio.timeout(_CLOSE_SECONDS):
            await websocket.close(_POLICY_VIOLATION, "Another connection of this bot")


class Seat:
    """The place of a bot's one connection."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.is_vacated = False
        self.left = asyncio.Event()

    async def vacate(self) -> None:
        """Make the connection's reader leave, at once even where the other end no longer is."""
        self.is_vacated = True
        self.scope.cancel()
        await self.left.wait()


class SkimmedSocket(WebSocket):
    """A connection that hands on only frames the adapter can take."""

    def __init__(self, inner: WebSocket, seat: Seat | None = None) -> None:
        """`seat` vacated: closing is somebody else's, since it may take its time."""
        super().__init__(request=inner.request)
        self._inner = inner
        self._seat = seat or Seat()

    @property
    @override
    def closed(self) -> bool:
        return self._inner.closed

    @override
    async def accept(self) -> None:
        await self._inner.accept()

    @override
    async def close(self, code: int = 1000, reason: str = "") -> None:
        if not self._seat.is_vacated:
            await self._inner.close(code, reason)

    @override
    async def receive(self) -> str:
        """The next frame that is an event or an answer. Raises WebSocketClosed."""
        while True:
            frame = await self._inner.receive()
            text = frame.decode("utf-8", "replace") if isinstance(frame, bytes) else frame
            if is_acceptable(text):
                return text
            log("WARNING", f"A frame of {len(text)} characters is neither an event nor an answer; ignored")

    @override
    async def receive_text(self) -> str:
        return await self.receive()

    @override
    async def receive_bytes(self) -> bytes:
        return (await self.receive()).encode()

    @override
    async def send_text(self, data: str) -> None:
        """Raises WebSocketClosed."""
        try:
            await self._inner.send_text(data)
        except (RuntimeError, OSError, WebSocketDisconnect) as error:
            # What the server and Starlette raise when the other end has just left.
            raise WebSocketClosed(1006) from error

    @override
    async def send_bytes(self, data: bytes) -> None:
        await self.send_text(data.decode())
