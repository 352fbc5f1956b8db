"""The client: connects to the bot, speaks for its users, answers its API calls, records what it sent.

Invariant: everything the bot sent is in `sent`, in order, also what was answered with a failure but
delivered; closing leaves no task behind.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from simulators.onebot.platform import Id, Platform, SentMessage, begun, failed
from simulators.onebot.script import Failure, Script
from simulators.onebot.speaking import Speaking


class HandshakeRefused(Exception):
    """The bot refused the connection."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the bot answered the handshake with HTTP {status}")
        self.status = status


class OneBotClient(Speaking):
    """One logged-in QQ account, connected to the bot. An async context manager.

    `calls` holds every API call as (action, params), `sent` every message that was delivered.
    """

    def __init__(
        self,
        url: str,
        *,
        self_id: Id = 10001,
        access_token: str | None = None,
        nickname: str = "机器人",
        reports_self: bool = False,
        headers: Mapping[str, str | None] | None = None,
    ) -> None:
        """`access_token` None sends no Authorization header at all; "" sends an empty Bearer.

        `reports_self`: what the bot sends comes back as a message_sent event. `headers` replace those of
        the handshake, or leave one out (None).
        """
        self._url = url
        told: dict[str, str | None] = {"X-Self-ID": str(self_id), "X-Client-Role": "Universal"}
        if access_token is not None:
            told["Authorization"] = f"Bearer {access_token}"
        self._headers = {
            name: value for name, value in (told | dict(headers or {})).items() if value is not None
        }
        self.self_id = self_id
        self.reports_self = reports_self
        self.script = Script()
        self.on_sent: Callable[[SentMessage], None] = lambda sent: None
        """Told of each message of the bot that arrives."""
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.sent: list[SentMessage] = []
        self._platform = Platform(self_id, nickname)
        self._connection: ClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._abandoned: list[tuple[ClientConnection, asyncio.Task[None] | None]] = []
        self._news = asyncio.Condition()
        self._taken = 0

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def connect(self) -> None:
        """Connect, also again after `close` or a broken connection.

        Raises:
            HandshakeRefused: wrong token, or an account that the bot does not serve.
            OSError: nobody listens there.
        """
        try:
            # A proxy from the environment has no business between two ends on one machine.
            self._connection = await connect(
                self._url, additional_headers=self._headers, proxy=None, max_size=None, ping_interval=None
            )
        except InvalidStatus as refusal:
            raise HandshakeRefused(refusal.response.status_code) from refusal
        self._reader = asyncio.create_task(self._serve(self._connection))
        await self.send_event(self._platform.lifecycle())

    async def close(self) -> None:
        """Disconnect, half-open connections too. Does nothing when disconnected already."""
        connection, reader = self._connection, self._reader
        self._connection = self._reader = None
        if connection is not None:
            await connection.close()
        await _ended(reader)
        while self._abandoned:
            connection, reader = self._abandoned.pop()
            connection.transport.abort()
            await _ended(reader)

    def go_half_open(self) -> None:
        """As when the network goes: the connection stays, but nothing is read, answered or sent on it.

        `connect` opens another one beside it. The old one ends when the bot gives it up, or with `close`.
        Raises ConnectionError when disconnected.
        """
        if self._connection is None:
            raise ConnectionError("not connected")
        self._connection.transport.pause_reading()
        self._abandoned.append((self._connection, self._reader))
        self._connection = self._reader = None

    def twin(self) -> "OneBotClient":
        """A second connection of the same account, with messages and script of its own."""
        twin = OneBotClient(self._url, self_id=self.self_id, nickname=self._platform.nickname)
        twin._headers = dict(self._headers)
        twin._platform = self._platform
        return twin

    @property
    def is_connected(self) -> bool:
        """As far as this end knows."""
        return self._connection is not None and self._reader is not None and not self._reader.done()

    async def wait_closed(self, timeout_seconds: float = 5.0) -> None:
        """Wait until the bot has closed the connection. Raises TimeoutError."""
        if self._connection is not None:
            async with asyncio.timeout(timeout_seconds):
                await self._connection.wait_closed()

    async def send_raw(self, frame: str | bytes) -> None:
        """Send a frame as it is. Raises ConnectionError when disconnected."""
        if self._connection is None:
            raise ConnectionError("not connected")
        await self._connection.send(frame)

    async def next_sent(self, timeout_seconds: float = 10.0) -> SentMessage:
        """The next message of the bot not yet returned by this call. Raises TimeoutError."""
        async with asyncio.timeout(timeout_seconds), self._news:
            await self._news.wait_for(lambda: len(self.sent) > self._taken)
        self._taken += 1
        return self.sent[self._taken - 1]

    async def wait_sent(self, count: int, timeout_seconds: float = 10.0) -> list[SentMessage]:
        """Wait until the bot sent so many messages in all, and give all. Raises TimeoutError."""
        async with asyncio.timeout(timeout_seconds), self._news:
            await self._news.wait_for(lambda: len(self.sent) >= count)
        return list(self.sent)

    async def wait_calls(self, count: int, timeout_seconds: float = 10.0) -> None:
        """Wait until the bot made so many API calls in all. Raises TimeoutError."""
        async with asyncio.timeout(timeout_seconds), self._news:
            await self._news.wait_for(lambda: len(self.calls) >= count)

    def forget(self, most: int) -> None:
        """Keep only the newest so many calls and messages of the bot, and twice as many messages to be quoted."""
        gone = max(len(self.sent) - most, 0)
        del self.sent[:gone]
        self._taken = max(self._taken - gone, 0)
        del self.calls[: max(len(self.calls) - most, 0)]
        self._platform.forget(2 * most)

    async def _serve(self, connection: ClientConnection) -> None:
        try:
            async for frame in connection:
                await self._answer(connection, json.loads(frame))
        except ConnectionClosed:
            return

    async def _answer(self, connection: ClientConnection, call: dict[str, Any]) -> None:
        action, params = str(call.get("action", "")), call.get("params") or {}
        failure = self.script.next_for(action) or self._platform.refusal(action, params)
        is_delivered = failure is None or failure.is_delivered
        sent = self._platform.deliver(action, params) if is_delivered else None
        async with self._news:
            self.calls.append((action, params))
            if sent is not None:
                self.sent.append(sent)
                self.on_sent(sent)
            self._news.notify_all()
        if failure is not None and failure.is_disconnecting:
            await connection.close()
            return
        if failure is None or not failure.is_unanswered:
            answer = self._platform.answer(action, params, sent) if failure is None else _failed(failure)
            await connection.send(json.dumps({**answer, "echo": call.get("echo")}, ensure_ascii=False))
        if sent is not None and self.reports_self:
            event = self._platform.own_message(sent)
            await connection.send(json.dumps(event, ensure_ascii=False))


def _failed(failure: Failure) -> dict[str, Any]:
    return begun() if failure.is_async else failed(failure.retcode, failure.message)


async def _ended(reader: "asyncio.Task[None] | None") -> None:
    if reader is not None:
        reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await reader
