"""Small official accounts to try the WeChat simulator on: ASGI applications of a few lines.

Invariant: they know the documented format only; nothing of the bot is in them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl
from xml.etree import ElementTree

from simulators.wechat import ManualClock

SERVER_ID = "gh_simulated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """One request."""

    method: str
    query: dict[str, str]
    body: bytes

    @property
    def fields(self) -> dict[str, str]:
        """The top-level fields of a plain post."""
        return {child.tag: child.text or "" for child in ElementTree.fromstring(self.body)}

    @property
    def openid(self) -> str:
        return self.fields["FromUserName"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    body: bytes | str = b"success"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


Says = Callable[[Posted], Awaitable[Answer]]


@dataclass(slots=True, kw_only=True)
class Callback:
    """An ASGI application that answers posts with `says`, and an echostr with itself."""

    says: Says
    posted: list[Posted] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        query = dict(parse_qsl(scope["query_string"].decode()))
        posted = Posted(method=scope["method"], query=query, body=body)
        if "echostr" in query:
            answer = Answer(body=query["echostr"])
        else:
            self.posted.append(posted)
            answer = await self.says(posted)
        content = answer.body if isinstance(answer.body, bytes) else answer.body.encode()
        headers = (("content-length", str(len(content))), *answer.headers)
        encoded = [(name.encode(), value.encode()) for name, value in headers]
        await send({"type": "http.response.start", "status": answer.status, "headers": encoded})
        await send({"type": "http.response.body", "body": content})


def reply(openid: str, inside: str, *, kind: str = "text", created: str = "1") -> str:
    """Reply XML; `inside` is all that its type needs."""
    return (
        f"<xml><ToUserName>{openid}</ToUserName><FromUserName>{SERVER_ID}</FromUserName>"
        f"<CreateTime>{created}</CreateTime><MsgType>{kind}</MsgType>{inside}</xml>"
    )


def says_text(openid: str, text: str) -> str:
    return reply(openid, f"<Content><![CDATA[{text}]]></Content>")


def echoing(clock: ManualClock | None = None, *delays: float) -> Callback:
    """Repeats what it hears, each delivery after its own delay, the last one's from then on."""
    waits = list(delays) or [0.0]

    async def says(posted: Posted) -> Answer:
        delay = waits.pop(0) if len(waits) > 1 else waits[0]
        if clock is not None:
            await clock.sleep(delay)
        fields = posted.fields
        heard = fields.get("Content") or fields.get("EventKey") or fields["MsgType"]
        return Answer(body=says_text(posted.openid, f"听到：{heard}"))

    return Callback(says=says)


def answering(*answers: Answer) -> Callback:
    """Each delivery gets its answer, the last one's from then on."""
    left = list(answers)

    async def says(posted: Posted) -> Answer:
        return left.pop(0) if len(left) > 1 else left[0]

    return Callback(says=says)


def silent() -> Callback:
    """Never answers."""

    async def says(posted: Posted) -> Answer:
        await asyncio.Event().wait()
        raise AssertionError

    return Callback(says=says)
