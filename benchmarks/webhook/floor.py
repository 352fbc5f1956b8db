"""The least that a NoneBot adapter can do: a route, an event made of nothing, no reply.

Invariant: nothing of the request is read.
"""

from collections.abc import Iterable
from typing import Any

from nonebot import adapters
from nonebot.drivers import URL, Driver, HTTPServerSetup, Request, Response
from nonebot.message import handle_event

PATH = "/bare"


class Segment(adapters.MessageSegment["Message"]):
    @classmethod
    def get_message_class(cls) -> "type[Message]":
        return Message

    def __str__(self) -> str:
        return str(self.data["text"])

    def is_text(self) -> bool:
        return True


class Message(adapters.Message[Segment]):
    @classmethod
    def get_segment_class(cls) -> type[Segment]:
        return Segment

    @staticmethod
    def _construct(msg: str) -> Iterable[Segment]:
        yield Segment("text", {"text": msg})


class Event(adapters.Event):
    def get_type(self) -> str:
        return "message"

    def get_event_name(self) -> str:
        return "nothing"

    def get_event_description(self) -> str:
        return "nothing"

    def get_message(self) -> Message:
        return Message("好")

    def get_user_id(self) -> str:
        return "o"

    def get_session_id(self) -> str:
        return "o"

    def is_tome(self) -> bool:
        return True


class Bot(adapters.Bot):
    async def send(self, event: adapters.Event, message: Any, **_: Any) -> None:
        pass


class Adapter(adapters.Adapter):
    def __init__(self, driver: Driver) -> None:
        super().__init__(driver)
        self._bot = Bot(self, "bare")
        self.setup_http_server(HTTPServerSetup(URL(PATH), "POST", "bare", self._receive))

    @classmethod
    def get_name(cls) -> str:
        return "bare"

    async def _receive(self, _: Request) -> Response:
        await handle_event(self._bot, Event())
        return Response(200, content=b"success")

    async def _call_api(self, bot: adapters.Bot, api: str, **data: Any) -> None:
        pass
