"""Judges a post to the webhook of QQ's official bots: is it the platform's, is it of now, and was it here before.

Invariant: pure, without a clock of its own. What comes out as `Genuine` was signed by the platform within five
minutes; and nothing is ever signed for a stranger that could pass for an event, which begins with `{`.

Source: QQ 机器人文档 · 接口调用与鉴权 · Ed25519 签名; 事件订阅与通知 · Webhook.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, cast

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from bot.channels.door import NOT_AN_OBJECT, Refusal, read_object
from bot.conversation.errors import ConfigurationError

FRESH_SECONDS = 300
"""The platform states no window; five minutes forgive a drifting clock (PROTOCOLS.md §2)."""
_SEED_BYTES = 32
_SIGNATURE: Final = re.compile(rb"[0-9A-Fa-f]{128}")
_HIGH_BITS = 0xE0
"""Of the last byte: set in no signature (RFC 8032, 5.1.7), and the platform's own samples check it."""
_TIMESTAMP: Final = re.compile(r"[1-9][0-9]{0,11}")
"""ASCII digits, as the platform writes Unix seconds; short enough for int()."""
_PLAIN_TOKEN: Final = re.compile(r"[A-Za-z0-9]{1,64}")
"""No character of JSON but letters and digits: `event_ts` + this is never a timestamp and an event."""
_VALIDATION = 13
_ONE_OF_ITS_KIND = frozenset({"INTERACTION_CREATE"})
"""Besides messages: kinds whose `d.id` names the event itself. A guild's `d.id` names the guild."""

_NO_BOT = Refusal(status=403, reason="没有写明是发给哪个机器人的，或者这个机器人没有配置")
_DOUBLED = Refusal(status=403, reason="签名的请求头重复了")
_UNSIGNED = Refusal(status=403, reason="没有签名，或者签名的样子不对")
_WRONG = Refusal(status=403, reason="签名不对")
_STALE = Refusal(status=403, reason="签名的时间离现在超过 5 分钟：重放，或者本机的钟不准")
_CLOSED = Refusal(
    status=403, reason="回调地址的验证请求，而现在没有开放验证：在 QQ 开放平台填回调地址之前先开放"
)
_BAD_VALIDATION = Refusal(status=403, reason="回调地址的验证请求样子不对：可能有人想骗取签名")
REPLAYED = Refusal(status=403, reason="同一个签名来了第二次")
RUNNING = Refusal(status=503, reason="同一个事件还在处理")


class WebhookKey:
    """The signing key of one bot, which is also the one that checks: both sides derive it from the secret."""

    def __init__(self, secret: str) -> None:
        """`secret`: AppSecret. Raises ConfigurationError when it is empty."""
        self._private = Ed25519PrivateKey.from_private_bytes(seed_of(secret))
        self._public = self._private.public_key()

    def sign(self, text: bytes) -> bytes:
        return self._private.sign(text)

    def has_signed(self, signature: bytes, text: bytes) -> bool:
        """Whether these 64 bytes are the one signature of `text` (OpenSSL refuses the other forms of it)."""
        if len(signature) != 64 or signature[63] & _HIGH_BITS:
            return False
        try:
            self._public.verify(signature, text)
        except InvalidSignature:
            return False
        return True


def seed_of(secret: str) -> bytes:
    """The secret, repeated up to 32 bytes. Raises ConfigurationError when it is empty."""
    text = secret.encode()
    if not text:
        raise ConfigurationError(
            "QQ 机器人的 AppSecret",
            "是空的，谁都能冒充平台",
            "到 q.qq.com 的「开发设置」里重新生成，填进设置",
        )
    return (text * (_SEED_BYTES // len(text) + 1))[:_SEED_BYTES]


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """One post: each header with every value it came with."""

    app_ids: tuple[bytes, ...]
    """X-Bot-Appid."""
    signatures: tuple[bytes, ...]
    """X-Signature-Ed25519."""
    timestamps: tuple[bytes, ...]
    """X-Signature-Timestamp."""
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """The platform asks whether we hold the secret: this is the answer."""

    plain_token: str
    signature: str
    """Hexadecimal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Genuine:
    """The platform's own post, of now."""

    signature: bytes
    names: tuple[tuple[str, ...], ...]
    """Each identifies the event alone: the delivery's id, and the message's. May be empty."""


def judge(
    posted: Posted, keys: Mapping[str, WebhookKey], now: float, is_setup_open: Callable[[], bool]
) -> Refusal | Validation | Genuine:
    """`now` in Unix seconds; `keys` by AppID; `is_setup_open` is asked at a validation alone."""
    payload = read_object(posted.body)
    if payload is None:
        return NOT_AN_OBJECT
    if max(map(len, (posted.app_ids, posted.signatures, posted.timestamps))) > 1:
        return _DOUBLED
    app_id = posted.app_ids[0].decode("latin-1") if posted.app_ids else ""
    key = keys.get(app_id)
    if key is None:
        return _NO_BOT
    if payload.get("op") == _VALIDATION:
        return _validate(payload.get("d"), key, now) if is_setup_open() else _CLOSED
    return _authenticate(posted, key, now) or Genuine(
        signature=bytes.fromhex(posted.signatures[0].decode()), names=_names(app_id, payload)
    )


def _validate(asked: Any, key: WebhookKey, now: float) -> Refusal | Validation:
    fields = _fields(asked)
    token, stamp = fields.get("plain_token"), fields.get("event_ts")
    if not isinstance(token, str) or not isinstance(stamp, str):
        return _BAD_VALIDATION
    if not _PLAIN_TOKEN.fullmatch(token) or not _TIMESTAMP.fullmatch(stamp):
        return _BAD_VALIDATION
    if not is_fresh(stamp, now):
        return _STALE
    return Validation(plain_token=token, signature=key.sign(f"{stamp}{token}".encode()).hex())


def _authenticate(posted: Posted, key: WebhookKey, now: float) -> Refusal | None:
    if not posted.signatures or not posted.timestamps:
        return _UNSIGNED
    stamp = posted.timestamps[0].decode("latin-1")
    if not _SIGNATURE.fullmatch(posted.signatures[0]) or not _TIMESTAMP.fullmatch(stamp):
        return _UNSIGNED
    # The signature first: only a sender who has one learns that the time alone is wrong.
    if not key.has_signed(bytes.fromhex(posted.signatures[0].decode()), stamp.encode() + posted.body):
        return _WRONG
    return None if is_fresh(stamp, now) else _STALE


def is_fresh(stamp: str, now: float) -> bool:
    """`stamp`: digits, Unix seconds."""
    return abs(int(stamp) - now) <= FRESH_SECONDS


def _names(app_id: str, payload: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    kind, delivery, content = payload.get("t"), payload.get("id"), payload.get("d")
    names: list[tuple[str, ...]] = []
    if isinstance(delivery, str) and delivery:
        names.append((app_id, delivery))
    if isinstance(kind, str) and (kind.endswith("MESSAGE_CREATE") or kind in _ONE_OF_ITS_KIND):
        message = _fields(content).get("id")
        if isinstance(message, str) and message:
            # A message in a group may come as two kinds of event, which the inbox tells apart from a repeat.
            names.append((app_id, kind, message))
    return tuple(names)


def _fields(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


class Entry(Enum):
    """What a genuine post is to us."""

    NEW = "new"
    TAKEN = "taken"
    """The event was handed on before: it is acknowledged and goes no further."""
    RUNNING = "running"
    """It is being handed on: to acknowledge it would be a promise about something unknown."""
    REPLAYED = "replayed"
    """Not the event alone but the very request was here before."""


class Seen:
    """The latest things, for a time, up to a number: beyond it the oldest is forgotten."""

    def __init__(self, *, seconds: float, limit: int) -> None:
        self._seconds = seconds
        self._limit = limit
        self._until: dict[object, float] = {}

    def __contains__(self, item: object) -> bool:
        return item in self._until

    def __len__(self) -> int:
        return len(self._until)

    def add(self, item: object, now: float) -> None:
        self._until.pop(item, None)
        self._until[item] = now + self._seconds
        while len(self._until) > self._limit or next(iter(self._until.values())) < now:
            del self._until[next(iter(self._until))]

    def discard(self, item: object) -> None:
        self._until.pop(item, None)


REMEMBERED_SIGNATURES = 50_000
"""About 10 MB. Beyond it (80 a second for ten minutes) the event's id and the inbox's key still hold."""
REMEMBERED_EVENTS = 50_000
_EVENT_SECONDS = 3600.0
"""The platform repeats an event within minutes; the inbox knows its message for good."""


class Admissions:
    """Which posts came already. Only what was taken counts: a failed one may come again."""

    def __init__(self, *, signatures: int = REMEMBERED_SIGNATURES, events: int = REMEMBERED_EVENTS) -> None:
        # A timestamp may lie five minutes ahead and is fresh for five minutes after.
        self._signatures = Seen(seconds=2.0 * FRESH_SECONDS + 1, limit=signatures)
        self._taken = Seen(seconds=_EVENT_SECONDS, limit=events)
        self._running: set[object] = set()

    def enter(self, genuine: Genuine, now: float) -> Entry:
        """After NEW the caller owes a `leave`."""
        if genuine.signature in self._signatures:
            return Entry.REPLAYED
        if any(name in self._running for name in genuine.names):
            return Entry.RUNNING
        self._signatures.add(genuine.signature, now)
        if any(name in self._taken for name in genuine.names):
            return Entry.TAKEN
        self._running.update(genuine.names)
        return Entry.NEW

    def leave(self, genuine: Genuine, now: float, *, is_taken: bool) -> None:
        self._running.difference_update(genuine.names)
        if not is_taken:
            self._signatures.discard(genuine.signature)
            return
        for name in genuine.names:
            self._taken.add(name, now)
