"""The websocket gateway: hello, identify or resume, heartbeats, events.

Invariant: a session's events are numbered without a gap, and each is sent, in order, or kept for a resume.

Source: QQ 机器人文档 · 事件订阅与通知 (event-emit.md) and websocket 错误码 (websocket.md).
"""

import asyncio
import contextlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from .account import BotAccount
from .errors import ApiRefusal

DISPATCH, HEARTBEAT, IDENTIFY, RESUME = 0, 1, 2, 6
RECONNECT, INVALID_SESSION, HELLO, HEARTBEAT_ACK = 7, 9, 10, 11
BAD_OPCODE, BAD_PAYLOAD, BAD_SEQUENCE, BAD_SHARD, BAD_INTENTS = 4001, 4002, 4007, 4010, 4013

_INTENTS = {
    0: ("GUILD_", "CHANNEL_"),
    1: ("GUILD_MEMBER_",),
    9: ("MESSAGE_CREATE", "MESSAGE_DELETE"),
    10: ("MESSAGE_REACTION_",),
    12: ("DIRECT_MESSAGE_",),
    25: ("C2C_", "FRIEND_", "GROUP_"),
    26: ("INTERACTION_",),
    27: ("MESSAGE_AUDIT_",),
    30: ("AT_MESSAGE_CREATE", "PUBLIC_MESSAGE_DELETE"),
}
_KNOWN_BITS = {0, 1, 9, 10, 12, 18, 19, 24, 25, 26, 27, 28, 29, 30}


def intent_of(event: str) -> int:
    """The bit that subscribes to an event; the longest name that fits decides."""
    fitting = [
        (len(name), bit) for bit, names in _INTENTS.items() for name in names if event.startswith(name)
    ]
    return max(fitting, default=(0, 0))[1]


@dataclass(slots=True)
class Session:
    id: str
    intents: int
    shard: tuple[int, int]
    sent: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Its events, numbered from 1 by `s`; READY is the first."""
    connection: ServerConnection | None = None
    heartbeats: list[int | None] = field(default_factory=list[int | None])
    """The `d` of each heartbeat."""
    resumes: int = 0

    def is_for(self, event: str, guild_id: str) -> bool:
        index, count = self.shard
        wanted = (int(guild_id) >> 22) % count if guild_id.isdecimal() else 0
        return bool(self.intents >> intent_of(event) & 1) and wanted == index


class Gateway:
    """Listens on a loopback port of its own while it is open."""

    def __init__(self, account: BotAccount, check_token: Callable[[str], None], *, shards: int = 1) -> None:
        """`check_token` raises ApiRefusal."""
        self.shards = shards
        self.heartbeat_interval_ms = 45_000
        self.starts_left = 1000
        self.is_frozen = False
        """Half open: connections stay, nothing is sent or answered any more."""
        self.sessions: dict[str, Session] = {}
        self._account = account
        self._check_token = check_token
        self._server: Server | None = None
        self._port = 0
        self._changed = asyncio.Event()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self._port}/websocket"

    def describe(self) -> dict[str, Any]:
        """What `/gateway/bot` answers."""
        limit = {
            "total": 1000,
            "remaining": self.starts_left,
            "reset_after": 86_400_000,
            "max_concurrency": 1,
        }
        return {"url": self.url, "shards": self.shards, "session_start_limit": limit}

    async def start(self) -> None:
        self._server = await serve(self._converse, "127.0.0.1", 0, max_size=None)
        self._port = next(iter(self._server.sockets)).getsockname()[1]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None

    @property
    def connected(self) -> tuple[Session, ...]:
        return tuple(session for session in self.sessions.values() if session.connection is not None)

    async def wait_connected(self, count: int = 1, timeout_seconds: float = 10.0) -> None:
        """Wait until so many sessions are ready. Raises TimeoutError."""
        async with asyncio.timeout(timeout_seconds):
            while len(self.connected) < count:
                await self._changed.wait()

    async def dispatch(self, event: str, payload: dict[str, Any], guild_id: str = "") -> int:
        """Send to whoever subscribed. Gives how many connections it went out on."""
        count = 0
        for session in list(self.sessions.values()):
            if session.is_for(event, guild_id):
                numbered = payload | {"s": len(session.sent) + 1}
                session.sent.append(numbered)
                count += await self._push(session, numbered)
        return count

    async def reconnect(self) -> None:
        """Tell every client to connect anew (op 7) and close."""
        await self._tell_all({"op": RECONNECT}, close=True)

    async def invalidate(self) -> None:
        """End every session (op 9): the clients must identify again."""
        await self._tell_all({"op": INVALID_SESSION, "d": False}, close=True)
        self.sessions.clear()

    async def drop(self) -> None:
        """Break every connection without a word. Their sessions can be resumed."""
        for session in self.connected:
            connection, session.connection = session.connection, None
            if connection is not None:
                connection.transport.abort()

    async def _tell_all(self, payload: dict[str, Any], *, close: bool) -> None:
        for session in self.connected:
            await self._push(session, payload)
            connection, session.connection = session.connection, None
            if close and connection is not None:
                await connection.close()

    async def _push(self, session: Session, payload: dict[str, Any]) -> int:
        if session.connection is None or self.is_frozen:
            return 0
        with contextlib.suppress(ConnectionClosed):
            await session.connection.send(json.dumps(payload, ensure_ascii=False))
            return 1
        return 0

    async def _converse(self, connection: ServerConnection) -> None:
        session: Session | None = None
        try:
            hello = {"op": HELLO, "d": {"heartbeat_interval": self.heartbeat_interval_ms}}
            await connection.send(json.dumps(hello))
            async for frame in connection:
                if not self.is_frozen:
                    session = await self._hear(connection, session, _read(frame))
        except _Refused as refused:
            await connection.close(refused.code)
        except ConnectionClosed:
            pass
        finally:
            if session is not None and session.connection is connection:
                session.connection = None

    async def _hear(
        self, connection: ServerConnection, session: Session | None, payload: dict[str, Any]
    ) -> Session | None:
        """Raises _Refused."""
        operation, data = payload.get("op"), payload.get("d")
        if operation == HEARTBEAT:
            if session is not None:
                session.heartbeats.append(data if isinstance(data, int) else None)
            await connection.send(json.dumps({"op": HEARTBEAT_ACK}))
            return session
        if operation not in (IDENTIFY, RESUME):
            raise _Refused(BAD_OPCODE)
        if not isinstance(data, dict):
            raise _Refused(BAD_PAYLOAD)
        try:
            self._check_token(str(data.get("token", "")))
        except ApiRefusal:
            await connection.send(json.dumps({"op": INVALID_SESSION, "d": False}))
            return session
        if operation == IDENTIFY:
            return await self._identify(connection, data)
        return await self._resume(connection, data) or session

    async def _identify(self, connection: ServerConnection, data: dict[str, Any]) -> Session:
        intents, shard = data.get("intents"), data.get("shard", [0, 1])
        if not isinstance(intents, int) or intents & ~sum(1 << bit for bit in _KNOWN_BITS):
            raise _Refused(BAD_INTENTS)
        if not _is_shard(shard):
            raise _Refused(BAD_SHARD)
        self.starts_left -= 1
        session = Session(secrets.token_hex(16), intents, (shard[0], shard[1]), connection=connection)
        self.sessions[session.id] = session
        user = {"id": self._account.id, "username": self._account.username, "bot": True}
        told = {"version": 1, "session_id": session.id, "user": user, "shard": list(session.shard)}
        ready = {"op": DISPATCH, "s": 1, "t": "READY", "d": told}
        session.sent.append(ready)
        await connection.send(json.dumps(ready, ensure_ascii=False))
        self._touch()
        return session

    async def _resume(self, connection: ServerConnection, data: dict[str, Any]) -> Session | None:
        session = self.sessions.get(str(data.get("session_id", "")))
        if session is None:
            await connection.send(json.dumps({"op": INVALID_SESSION, "d": False}))
            return None
        sequence = data.get("seq")
        if not isinstance(sequence, int) or not 0 <= sequence <= len(session.sent):
            raise _Refused(BAD_SEQUENCE)
        session.connection = connection
        session.resumes += 1
        for payload in session.sent[sequence:]:
            await self._push(session, payload)
        resumed = {"op": DISPATCH, "s": len(session.sent) + 1, "t": "RESUMED", "d": ""}
        session.sent.append(resumed)
        await self._push(session, resumed)
        self._touch()
        return session

    def _touch(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class _Refused(Exception):
    """The client broke the protocol."""

    def __init__(self, code: int) -> None:
        super().__init__(f"close with {code}")
        self.code = code


def _read(frame: str | bytes) -> dict[str, Any]:
    """Raises _Refused."""
    try:
        payload = json.loads(frame)
    except ValueError as error:
        raise _Refused(BAD_PAYLOAD) from error
    if not isinstance(payload, dict):
        raise _Refused(BAD_PAYLOAD)
    return payload


def _is_shard(shard: Any) -> bool:
    return (
        isinstance(shard, list)
        and len(shard) == 2
        and all(isinstance(number, int) for number in shard)
        and 0 <= shard[0] < max(1, shard[1])
    )
