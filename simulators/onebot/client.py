"""The client: connects to the bot, speaks for its users, answers its API calls, records what it sent.

Invariant: everything the bot sent is in `sent`, in order, also what was answered with a failure but
delivered; closing leaves no task behind.
"""

import asyncio
import contextlib
import json
from types import TracebackType
from typing import Any, Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from simulators.onebot.platform import Platform, SentMessage, failed
from simulators.onebot.script import Script
from simulators.onebot.segments import Segment, at, reply, text


class HandshakeRefused(Exception):
    """The bot refused the connection."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the bot answered the handshake with HTTP {status}")
        self.status = status


class OneBotClient:
    """One logged-in QQ account, connected to the bot. An async context manager.

    `calls` holds every API call as (action, params), `sent` every message that was delivered.
    """

    def __init__(
        self,
        url: str,
        *,
        self_id: int = 10001,
        access_token: str | None = None,
        nickname: str = "机器人",
    ) -> None:
        """`access_token` None sends no Authorization header at all; "" sends an empty Bearer."""
        self._url = url
        self._headers = {"X-Self-ID": str(self_id), "X-Client-Role": "Universal"}
        if access_token is not None:
            self._headers["Authorization"] = f"Bearer {access_token}"
        self.self_id = self_id
        self.script = Script()
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.sent: list[SentMessage] = []
        self._platform = Platform(self_id, nickname)
        self._connection: ClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None
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
            HandshakeRefused: wrong token, or this account is connected already.
            OSError: nobody listens there.
        """
        try:
            # A proxy from the environment has no business between two ends on one machine.
            self._connection = await connect(
                self._url, additional_headers=self._headers, proxy=None, max_size=None
            )
        except InvalidStatus as refusal:
            raise HandshakeRefused(refusal.response.status_code) from refusal
        self._reader = asyncio.create_task(self._serve(self._connection))
        await self.send_event(self._platform.lifecycle())

    async def close(self) -> None:
        """Disconnect. Does nothing when disconnected already."""
        connection, reader = self._connection, self._reader
        self._connection = self._reader = None
        if connection is not None:
            await connection.close()
        if reader is not None:
            reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reader

    async def wait_closed(self, timeout_seconds: float = 5.0) -> None:
        """Wait until the bot has closed the connection. Raises TimeoutError."""
        if self._connection is not None:
            async with asyncio.timeout(timeout_seconds):
                await self._connection.wait_closed()

    async def say_private(self, user_id: int, words: str, *, nickname: str = "", **how: Any) -> int:
        """A friend writes. Returns the message id; `how` as in `say`."""
        sender = {"nickname": nickname or f"用户{user_id}", "card": ""}
        return await self.say(user_id, [text(words)], sender=sender, **how)

    async def say_group(
        self,
        group_id: int,
        user_id: int,
        words: str,
        *,
        at_bot: bool = True,
        nickname: str = "",
        card: str = "",
        role: str | None = "member",
        reply_to: int | None = None,
        mentions: tuple[int, ...] = (),
        **how: Any,
    ) -> int:
        """A member writes in a group. `role` None leaves the field out, as NapCat sometimes does.

        Returns the message id; `how` as in `say`.
        """
        segments = [] if reply_to is None else [reply(reply_to)]
        segments += [at(self.self_id), text(f" {words}")] if at_bot else [text(words)]
        segments += [at(user) for user in mentions]
        sender = {"nickname": nickname or f"用户{user_id}", "card": card}
        if role is not None:
            sender["role"] = role
        return await self.say(user_id, segments, group_id=group_id, sender=sender, **how)

    async def say(
        self,
        user_id: int,
        segments: list[Segment],
        *,
        group_id: int | None = None,
        sender: dict[str, Any] | None = None,
        sent_at: int | None = None,
        is_string: bool = False,
    ) -> int:
        """Somebody sends any segments, now or `sent_at` (seconds), as an array or as CQ codes."""
        event = self._platform.user_message(
            user_id, segments, group_id=group_id, sender=sender or {}, sent_at=sent_at, is_string=is_string
        )
        await self.send_event(event)
        return int(event["message_id"])

    async def befriend(self, user_id: int) -> None:
        """Somebody adds the bot as a friend."""
        await self.send_event(self._platform.notice("friend_add", user_id=user_id))

    async def join_group(self, group_id: int, *, user_id: int | None = None, operator_id: int = 0) -> None:
        """The bot, or `user_id`, joins a group."""
        joiner = self.self_id if user_id is None else user_id
        await self.send_event(
            self._platform.notice(
                "group_increase",
                sub_type="invite",
                group_id=group_id,
                user_id=joiner,
                operator_id=operator_id,
            )
        )

    async def send_event(self, event: dict[str, Any]) -> None:
        """Send any event."""
        await self.send_raw(json.dumps(event, ensure_ascii=False))

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

    async def wait_calls(self, count: int, timeout_seconds: float = 10.0) -> None:
        """Wait until the bot made so many API calls in all. Raises TimeoutError."""
        async with asyncio.timeout(timeout_seconds), self._news:
            await self._news.wait_for(lambda: len(self.calls) >= count)

    async def _serve(self, connection: ClientConnection) -> None:
        try:
            async for frame in connection:
                await self._answer(connection, json.loads(frame))
        except ConnectionClosed:
            return

    async def _answer(self, connection: ClientConnection, call: dict[str, Any]) -> None:
        action, params = str(call.get("action", "")), call.get("params") or {}
        failure = self.script.next_for(action)
        is_delivered = failure is None or failure.is_delivered
        sent = self._platform.deliver(action, params) if is_delivered else None
        async with self._news:
            self.calls.append((action, params))
            if sent is not None:
                self.sent.append(sent)
            self._news.notify_all()
        if failure is not None and failure.is_disconnecting:
            await connection.close()
        elif failure is None or not failure.is_unanswered:
            answer = (
                failed(failure.retcode, failure.message)
                if failure is not None
                else self._platform.answer(action, params, sent)
            )
            await connection.send(json.dumps({**answer, "echo": call.get("echo")}, ensure_ascii=False))
