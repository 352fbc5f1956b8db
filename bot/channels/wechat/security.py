"""Who may talk to us: signatures, the replay window, and WeChat's AES envelope.

Invariant: every refusal looks alike from outside; there is no padding oracle and no early return on a
partly right signature.

Source: 微信官方文档 · 公众号 · 消息加解密说明.
"""

import base64
import binascii
import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from wechatpy.crypto import PrpCrypto
from wechatpy.utils import WeChatSigner

TIMESTAMP_WINDOW_SECONDS = 600.0
"""WeChat states no window. Ten minutes forgives a drifting clock and ends a leaked URL's use."""
_LONGEST_TIMESTAMP = 12
"""Digits of a Unix time in seconds, with room to spare; keeps int() cheap."""
_REMEMBERED_SIGNATURES = 50_000
"""About 10 MB at most. Beyond it the oldest is forgotten, and the deduplication by MsgId still holds."""
_BLOCK_BYTES = 32
"""WeChat pads to 32, not to AES's 16, so pads of 1 to 32 are legal."""
_NONCE_BYTES = 16
_LENGTH_BYTES = 4


class _MultiQuery(Protocol):
    """What we need of yarl's `MultiDict`."""

    def getall(self, key: str, default: list[str]) -> list[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedQuery:
    """The signing parameters of one request. "" where absent."""

    signature: str
    msg_signature: str
    timestamp: str
    nonce: str
    echostr: str


def read_query(query: _MultiQuery) -> SignedQuery | None:
    """None when a parameter is repeated: which one was signed would be a guess."""
    read: dict[str, str] = {}
    for name in ("signature", "msg_signature", "timestamp", "nonce", "echostr"):
        values = query.getall(name, [])
        if len(values) > 1:
            return None
        read[name] = values[0] if values else ""
    return SignedQuery(**read)


def sign(*parts: str) -> str:
    """Lower-case hex SHA-1 over the sorted parts.

    Raises UnicodeEncodeError: a part holds a lone surrogate.
    """
    signer = WeChatSigner()
    signer.add_data(*parts)
    return signer.signature


def is_signed(claimed: str, token: str, query: SignedQuery, *more: str) -> bool:
    """Whether `claimed` signs this query (and `more`: the ciphertext). Compares in constant time."""
    if not (claimed and query.timestamp and query.nonce):
        return False
    try:
        right = sign(token, query.timestamp, query.nonce, *more)
        return hmac.compare_digest(right.encode(), claimed.encode())
    except UnicodeEncodeError:
        return False


def is_fresh(timestamp: str, now: float) -> bool:
    """Whether the signed timestamp lies within ±10 minutes of `now` (Unix seconds)."""
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= _LONGEST_TIMESTAMP):
        return False
    return abs(int(timestamp) - now) <= TIMESTAMP_WINDOW_SECONDS


class SeenSignatures:
    """Remembers what each signature carried, so that it cannot carry anything else.

    In plain mode a signature does not cover the body: whoever learns one URL could post any text as
    anyone. Retries of one message are let through, a second message is not.
    """

    def __init__(self, limit: int = _REMEMBERED_SIGNATURES) -> None:
        self._limit = limit
        self._carried: OrderedDict[str, str] = OrderedDict()

    def is_reused(self, signature: str, key: str) -> bool:
        """Note that `signature` carries message `key`; True when it already carried another."""
        carried = self._carried.setdefault(signature, key)
        if len(self._carried) > self._limit:
            self._carried.popitem(last=False)
        return carried != key


class _Cipher(PrpCrypto):
    """wechatpy's cipher with an honest source of randomness (its own is `random`)."""

    def __init__(self, key: bytes, random_bytes: Callable[[], bytes]) -> None:
        super().__init__(key)
        self._random_bytes = random_bytes

    def get_random_string(self) -> bytes:
        return self._random_bytes()


class Envelope:
    """AES-256-CBC as WeChat wraps it: 16 random bytes, big-endian length, text, appid, PKCS#7 to 32."""

    def __init__(
        self,
        *,
        token: str,
        aes_key: str,
        app_id: str,
        random_bytes: Callable[[], bytes] = lambda: secrets.token_bytes(_NONCE_BYTES),
    ) -> None:
        """`aes_key`: the 43 characters, already checked."""
        self._token = token
        self._app_id = app_id
        self._cipher = _Cipher(base64.b64decode(aes_key + "="), random_bytes)

    def open(self, encrypted: str) -> bytes | None:
        """What is inside, or None whatever was wrong with the envelope.

        wechatpy's own decryption trusts the pad and the length; this one checks both, and the appid.
        """
        try:
            ciphertext = base64.b64decode(encrypted.encode("ascii"), validate=True)
        except (UnicodeEncodeError, binascii.Error, ValueError):
            return None
        # Base64 can be malleable in its last bits; CBC needs whole blocks of 16.
        if not ciphertext or len(ciphertext) % 16:
            return None
        return self._unpack(self._cipher.cipher.decrypt(ciphertext))

    def _unpack(self, plaintext: bytes) -> bytes | None:
        pad = plaintext[-1]
        if not 1 <= pad <= _BLOCK_BYTES or plaintext[-pad:] != bytes([pad]) * pad:
            return None
        content = plaintext[_NONCE_BYTES:-pad]
        length = int.from_bytes(content[:_LENGTH_BYTES], "big")
        body = content[_LENGTH_BYTES:]
        if len(content) < _LENGTH_BYTES or length > len(body):
            return None
        if not hmac.compare_digest(body[length:], self._app_id.encode()):
            return None
        return body[:length]

    def encrypt(self, text: str) -> str:
        """Base64 ciphertext of `text`."""
        return self._cipher.encrypt(text, self._app_id).decode("ascii")

    def wrap(self, xml: str, *, timestamp: int, nonce: str) -> str:
        """The signed XML that carries `xml` back to WeChat."""
        encrypted = self.encrypt(xml)
        signature = sign(self._token, str(timestamp), nonce, encrypted)
        fields: Mapping[str, str] = {"Encrypt": encrypted, "MsgSignature": signature, "Nonce": nonce}
        marked = "".join(f"<{name}><![CDATA[{value}]]></{name}>" for name, value in fields.items())
        return f"<xml>{marked}<TimeStamp>{timestamp}</TimeStamp></xml>"
