"""Events on their way to the callback: posted, and posted again until they are acknowledged.

Invariant: every attempt of one event carries the same bytes, and so the same ids, under a fresh signature.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import httpx

from .clock import Clock

USER_AGENT = "QQBot-Callback"
APP_ID_HEADER = "X-Bot-Appid"
_CALLBACK_ACK = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """Assumed throughout: that an event is posted again is published, when and how often is not."""

    attempts: int = 3
    deadline_seconds: float = 5.0
    """Then the connection is dropped."""
    pause_seconds: float = 1.0
    """From the end of one attempt to the next."""

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.deadline_seconds <= 0 or self.pause_seconds < 0:
            raise ValueError("there is at least one attempt, of more than no time")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the callback said."""

    status: int
    body: bytes = b""

    @property
    def json(self) -> Any:
        """None when it is no JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def is_acknowledged(self) -> bool:
        """200, and no op 12 that says otherwise."""
        said = self.json
        is_failure = isinstance(said, dict) and said.get("op") == _CALLBACK_ACK and bool(said.get("d"))
        return self.status == 200 and not is_failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    started_at: float
    ended_at: float
    headers: Mapping[str, str]
    answer: Answer | None
    """None: dropped at its deadline, refused or broken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One event, from the moment it was sent until nothing more is tried."""

    number: int
    """Counts events, from 1."""
    event: str
    """Such as C2C_MESSAGE_CREATE."""
    id: str
    """The payload's id: what `event_id` of an answer names."""
    d: Mapping[str, Any]
    body: bytes
    attempts: tuple[Attempt, ...]
    connections: int = 0
    """Websocket connections that it went out on."""

    @property
    def message_id(self) -> str:
        """What `msg_id` of an answer names; "" for what is no message."""
        return str(self.d.get("id", "")) if "content" in self.d else ""

    @property
    def is_acknowledged(self) -> bool:
        last = self.attempts[-1].answer if self.attempts else None
        return self.connections > 0 or (last is not None and last.is_acknowledged)

    @property
    def statuses(self) -> tuple[int | None, ...]:
        return tuple(attempt.answer.status if attempt.answer else None for attempt in self.attempts)


Sign: TypeAlias = Callable[[bytes], Mapping[str, str]]
"""All headers of an attempt that begins now."""


class Callback:
    """The one URL of the bot."""

    def __init__(self, url: str, transport: httpx.AsyncBaseTransport | None) -> None:
        """`transport`: into an application of this process, say. None: sockets, a new one each time."""
        self._url = url
        self._client = httpx.AsyncClient(
            transport=transport,
            timeout=None,  # noqa: S113 - the courier drops what takes too long.
            limits=httpx.Limits(max_keepalive_connections=0),
            trust_env=False,
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def post(self, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Raises ConnectionError."""
        told = {"Content-Type": "application/json", "User-Agent": USER_AGENT, **headers}
        try:
            response = await self._client.post(self._url, content=body, headers=told)
        except httpx.RequestError as error:
            raise ConnectionError(str(error)) from error
        return Answer(status=response.status_code, body=response.content)


async def deliver(
    callback: Callback, body: bytes, sign: Sign, retries: Retries, clock: Clock
) -> tuple[Attempt, ...]:
    """Post until it is acknowledged, or often enough."""
    attempts: list[Attempt] = []
    while True:
        attempts.append(await _attempt(callback, body, sign(body), retries.deadline_seconds, clock))
        answer = attempts[-1].answer
        if (answer is not None and answer.is_acknowledged) or len(attempts) == retries.attempts:
            return tuple(attempts)
        await clock.sleep(retries.pause_seconds)


async def _attempt(
    callback: Callback, body: bytes, headers: Mapping[str, str], deadline_seconds: float, clock: Clock
) -> Attempt:
    started_at = clock.now()
    posting = asyncio.ensure_future(callback.post(body, headers))
    dropping = asyncio.ensure_future(clock.sleep(deadline_seconds))
    answer: Answer | None = None
    try:
        await asyncio.wait({posting, dropping}, return_when=asyncio.FIRST_COMPLETED)
        if posting.done():
            answer = posting.result()
    except ConnectionError:
        pass
    finally:
        posting.cancel()
        dropping.cancel()
        await asyncio.gather(posting, dropping, return_exceptions=True)
    return Attempt(started_at=started_at, ended_at=clock.now(), headers=headers, answer=answer)
