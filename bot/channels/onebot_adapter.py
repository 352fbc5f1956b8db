# pyright: basic
"""The OneBot v11 adapter, made to withstand what real clients send.

Invariant: no frame of a client ends its connection or reaches the log with its content; a message with
unusual ids or without fields that nobody reads is still a message.
"""

# The looser models widen what the upstream ones declare, which is the whole point of them.
# pyright: reportIncompatibleVariableOverride=false

import asyncio
import json
from typing import Any, Protocol

from nonebot.adapters.onebot.collator import Collator
from nonebot.adapters.onebot.v11 import Adapter, Event, GroupMessageEvent, MessageEvent, PrivateMessageEvent
from nonebot.adapters.onebot.v11.adapter import DEFAULT_MODELS
from nonebot.adapters.onebot.v11.event import Anonymous, Sender
from nonebot.adapters.onebot.v11.utils import log
from nonebot.drivers import Driver, HTTPServerSetup, Request, Response, WebSocket
from typing_extensions import override

LIMIT_CHARACTERS = 1_000_000
"""Characters of a frame. A message takes a few thousand; parsing this much takes ~10 ms of the loop."""
_DETAILS = ("message_type", "notice_type", "request_type", "meta_event_type")
"""At most one of them names an event's kind."""


class Watch(Protocol):
    def refused(self) -> None: ...


class LooseSender(Sender):
    """A sender as implementations really send it."""

    user_id: int | str | None = None
    age: int | str | None = None
    level: int | str | None = None


class LooseAnonymous(Anonymous):
    """An anonymous member whose id may be a string."""

    id: int | str


class LooseGroupMessage(GroupMessageEvent):
    """A group message with ids of any kind and without fields that nobody reads."""

    user_id: int | str
    group_id: int | str
    message_id: int | str
    sub_type: str = "normal"
    raw_message: str = ""
    font: int = 0
    sender: LooseSender = LooseSender()
    anonymous: LooseAnonymous | None = None

    @override
    def get_event_description(self) -> str:
        return f"Message {self.message_id}"


class LoosePrivateMessage(PrivateMessageEvent):
    """A private message with ids of any kind and without fields that nobody reads."""

    user_id: int | str
    message_id: int | str
    sub_type: str = "friend"
    raw_message: str = ""
    font: int = 0
    sender: LooseSender = LooseSender()

    @override
    def get_event_description(self) -> str:
        return f"Message {self.message_id}"


class OneBotAdapter(Adapter):
    """NoneBot's adapter with looser messages and a connection that outlives a bad frame."""

    event_models = Collator(
        "OneBot V11",
        [*DEFAULT_MODELS, LooseGroupMessage, LoosePrivateMessage],
        ("post_type", _DETAILS, "sub_type"),
    )

    @override
    def __init__(
        self, driver: Driver, *, takes_posts: bool = True, watch: Watch | None = None, **kwargs: Any
    ) -> None:
        """`takes_posts` False leaves the HTTP routes out: a post proves itself by the secret alone.

        `watch` is told of each client without the token, and of each post without a signature.
        """
        self._takes_posts = takes_posts
        self._watch = watch
        super().__init__(driver, **kwargs)

    @override
    def setup_http_server(self, setup: HTTPServerSetup) -> None:
        if self._takes_posts:
            super().setup_http_server(setup)

    @override
    def _check_access_token(self, request: Request) -> Response | None:
        return self._noted(super()._check_access_token(request))

    @override
    def _check_signature(self, request: Request) -> Response | None:
        return self._noted(super()._check_signature(request))

    def _noted(self, refusal: Response | None) -> Response | None:
        if refusal is not None and self._watch is not None:
            self._watch.refused()
        return refusal

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
        await super()._handle_ws(SkimmedSocket(websocket))


class SkimmedSocket(WebSocket):
    """A connection that hands on only frames the adapter can take."""

    def __init__(self, inner: WebSocket) -> None:
        super().__init__(request=inner.request)
        self._inner = inner

    @property
    @override
    def closed(self) -> bool:
        return self._inner.closed

    @override
    async def accept(self) -> None:
        await self._inner.accept()

    @override
    async def close(self, code: int = 1000, reason: str = "") -> None:
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
        await self._inner.send_text(data)

    @override
    async def send_bytes(self, data: bytes) -> None:
        await self._inner.send_bytes(data)


def is_acceptable(frame: str) -> bool:
    """Whether the adapter can read a frame without failing."""
    if len(frame) > LIMIT_CHARACTERS:
        return False
    try:
        parsed: Any = json.loads(frame)
    except (ValueError, RecursionError):
        return False
    if not isinstance(parsed, dict):
        return False
    if "post_type" not in parsed:
        return True
    kinds = [parsed.get(name) for name in _DETAILS]
    return (
        isinstance(parsed["post_type"], str)
        and all(isinstance(parsed.get(name), str | None) for name in (*_DETAILS, "sub_type"))
        and sum(map(bool, kinds)) <= 1
        and all(_is_number(parsed.get(name)) for name in ("time", "self_id"))
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int) or (isinstance(value, str) and value.removeprefix("-").isdecimal())
