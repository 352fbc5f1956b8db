"""From a posted request to a delivery, or to the reason there is none.

Invariant: nothing of a body is believed before its signature was checked, and the signature that counts
is the one that covers the most: with a key set, that is the ciphertext's.
"""

import secrets
import time
from collections.abc import Callable
from enum import Enum

from nonebot.utils import logger_wrapper

from .account import OfficialAccount
from .event import read_event
from .parsing import Fields, read_fields
from .rendering import reply_xml
from .run import Delivery
from .security import Envelope, SeenSignatures, SignedQuery, is_fresh, is_signed

_log = logger_wrapper("WeChat")


class Turned(Enum):
    """Why a post goes no further."""

    REFUSED = 403
    """Not provably from WeChat."""
    UNREADABLE = 200
    """From WeChat, but nothing we can read: `success`, or it would come again."""


class Intake:
    """The door of one account."""

    def __init__(self, account: OfficialAccount, now: Callable[[], float] = time.time) -> None:
        self.account = account
        self._now = now
        self._seen = SeenSignatures()
        self._envelope = (
            Envelope(token=account.token, aes_key=account.aes_key, app_id=account.app_id)
            if account.aes_key
            else None
        )

    def verify(self, query: SignedQuery | None) -> str | None:
        """The `echostr` to send back when the operator saves the settings; None: refuse."""
        if query is None or not query.echostr or not self._is_trusted(query):
            return None
        return query.echostr

    def accept(self, query: SignedQuery | None, body: bytes) -> Delivery | Turned:
        """Check, decrypt and read one post."""
        if query is None:
            return Turned.REFUSED
        fields = self._read_encrypted(query, body) if self._envelope else self._read_plain(query, body)
        if not isinstance(fields, dict):
            return fields
        event = read_event(self.account.app_id, fields)
        if event is None:
            if "Encrypt" in fields:
                _log("ERROR", "收到加密消息，但没有设置 aes_key：请填入 EncodingAESKey，或改用明文模式")
            return Turned.UNREADABLE
        if self._seen.is_reused(query.msg_signature if self._envelope else query.signature, event.key):
            _log("WARNING", "同一个签名带来了另一条消息，已拒绝：回调地址可能已泄露")
            return Turned.REFUSED

        def render(text: str) -> bytes:
            return self._render(event.openid, event.to_user, text)

        return Delivery(event=event, render=render)

    def _is_trusted(self, query: SignedQuery) -> bool:
        token = self.account.token
        return is_signed(query.signature, token, query) and is_fresh(query.timestamp, self._now())

    def _read_plain(self, query: SignedQuery, body: bytes) -> Fields | Turned:
        if not self._is_trusted(query):
            return Turned.REFUSED
        fields = read_fields(body)
        return Turned.UNREADABLE if fields is None else fields

    def _read_encrypted(self, query: SignedQuery, body: bytes) -> Fields | Turned:
        """With a key set the plaintext beside the ciphertext (compatible mode) counts for nothing."""
        assert self._envelope is not None
        outer = read_fields(body) or {}
        encrypted = outer.get("Encrypt")
        if not isinstance(encrypted, str) or not encrypted:
            return Turned.REFUSED
        encrypted = encrypted.strip()
        if not is_signed(query.msg_signature, self.account.token, query, encrypted):
            return Turned.REFUSED
        if not is_fresh(query.timestamp, self._now()):
            return Turned.REFUSED
        opened = self._envelope.open(encrypted)
        if opened is None:
            return Turned.REFUSED
        fields = read_fields(opened)
        return Turned.UNREADABLE if fields is None else fields

    def _render(self, to_user: str, from_user: str, text: str) -> bytes:
        created = int(self._now())
        xml = reply_xml(to_user=to_user, from_user=from_user, text=text, created=created)
        if self._envelope is not None:
            xml = self._envelope.wrap(xml, timestamp=created, nonce=secrets.token_hex(8))
        return xml.encode()
