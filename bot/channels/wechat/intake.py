"""From a posted request to a delivery, or to the reason there is none.

Invariant: nothing of a body is believed before its signature was checked, and the signature that counts
is the one that covers the most: with a key set, that is the ciphertext's.
"""

import secrets
import time
from collections.abc import Callable
from enum import Enum
from functools import partial

from nonebot.utils import logger_wrapper

from .account import OfficialAccount
from .event import Event
from .event_reading import read_event
from .message import Message
from .parsing import read_fields
from .replies import message_xml
from .run import Delivery
from .security import Envelope, SeenSignatures, SignedQuery, is_fresh, is_signed
from .store import SUCCESS

_log = logger_wrapper("WeChat")


class Turned(Enum):
    """Why a post goes no further."""

    REFUSED = 403
    """Not provably from WeChat."""
    UNREADABLE = 200
    """From WeChat, but nothing we can read: `success`, or it would come again."""


class Intake:
    """The door of one account."""

    def __init__(
        self, account: OfficialAccount, now: Callable[[], float] = time.time, *, taps: bool = True
    ) -> None:
        """`taps` False: what could be tapped is shown as words. `now`: Unix seconds."""
        self.account = account
        self._now = now
        self._taps = taps
        self._seen = SeenSignatures()
        self._has_warned = False
        self._envelopes = tuple(
            Envelope(token=account.token, aes_key=key, app_id=account.app_id) for key in account.aes_keys
        )

    def verify(self, query: SignedQuery | None) -> str | None:
        """The `echostr` to send back when the operator saves the settings; None: refuse."""
        if query is None or not query.echostr or not self._is_trusted(query):
            return None
        return query.echostr

    def accept(self, query: SignedQuery | None, body: bytes) -> Delivery | Turned:
        """Check, decrypt and read one post."""
        opened = None if query is None else self._open(query, body)
        if query is None or opened is None:
            return Turned.REFUSED
        envelope, content = opened
        fields = read_fields(content) or {}
        event = read_event(self.account.app_id, fields)
        if envelope is None and "Encrypt" in fields:
            self._warn_of_missing_key(is_readable=event is not None)
        if event is None:
            return Turned.UNREADABLE
        signature = query.signature if envelope is None else query.msg_signature
        if self._seen.is_reused(signature, event.key):
            _log("WARNING", "同一个签名带来了另一条消息，已拒绝：回调地址可能已泄露")
            return Turned.REFUSED
        return Delivery(event=event, render=partial(self._render, event, envelope))

    def _is_trusted(self, query: SignedQuery) -> bool:
        token = self.account.token
        return is_signed(query.signature, token, query) and is_fresh(query.timestamp, self._now())

    def _open(self, query: SignedQuery, body: bytes) -> tuple[Envelope | None, bytes] | None:
        """What was posted, and the envelope it came in. None: refuse.

        With a key set the plaintext beside the ciphertext (compatible mode) counts for nothing.
        """
        if not self._envelopes:
            return (None, body) if self._is_trusted(query) else None
        encrypted = (read_fields(body) or {}).get("Encrypt")
        if not isinstance(encrypted, str) or not encrypted:
            return None
        encrypted = encrypted.strip()
        if not is_signed(query.msg_signature, self.account.token, query, encrypted):
            return None
        if not is_fresh(query.timestamp, self._now()):
            return None
        for envelope in self._envelopes:
            if (content := envelope.open(encrypted)) is not None:
                return envelope, content
        return None

    def _warn_of_missing_key(self, *, is_readable: bool) -> None:
        if not is_readable:
            _log("ERROR", "收到加密消息，但没有设置 aes_key：请填入 EncodingAESKey，或改用明文模式")
        elif not self._has_warned:
            self._has_warned = True
            _log(
                "WARNING",
                "公众平台用的是兼容模式，但没有设置 aes_key：现在按明文处理，谁知道回调地址谁就能冒充",
            )

    def _render(self, event: Event, envelope: Envelope | None, reply: str | Message) -> bytes:
        """The response that carries a reply, by the key the post came under. `success` for nothing to show:
        an empty text would be a fault in the person's chat."""
        created = int(self._now())
        xml = message_xml(
            reply, to_user=event.openid, from_user=event.to_user, created=created, taps=self._taps
        )
        if not xml:
            return SUCCESS
        if envelope is not None:
            xml = envelope.wrap(xml, timestamp=created, nonce=secrets.token_hex(8))
        return xml.encode()
