"""The platform's Ed25519 signatures, from the published description alone.

Invariant: signs and verifies the very bytes it is given; nothing is parsed or written anew.

Source: QQ 机器人文档 · 安全和授权 (sign.md) and 事件订阅与通知 (event-emit.md).
"""

from dataclasses import dataclass, field

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

SEED_BYTES = 32
SIGNATURE_HEADER = "X-Signature-Ed25519"
TIMESTAMP_HEADER = "X-Signature-Timestamp"


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs with the key that the bot secret stands for."""

    secret: str = field(repr=False)
    _key: Ed25519PrivateKey = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Raises ValueError: an empty secret repeats to nothing."""
        object.__setattr__(self, "_key", Ed25519PrivateKey.from_private_bytes(seed_of(self.secret)))

    @property
    def public_key(self) -> bytes:
        return self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    def sign(self, timestamp: str, body: bytes) -> str:
        """Hexadecimal, 128 digits."""
        return self._key.sign(timestamp.encode() + body).hex()

    def is_signed(self, signature: str, timestamp: str, body: bytes) -> bool:
        """Is it ours, and well-formed?"""
        try:
            raw = bytes.fromhex(signature)
            self._key.public_key().verify(raw, timestamp.encode() + body)
        except (ValueError, InvalidSignature):
            return False
        return True

    def headers(self, timestamp: str, body: bytes) -> dict[str, str]:
        return {SIGNATURE_HEADER: self.sign(timestamp, body), TIMESTAMP_HEADER: timestamp}


def seed_of(secret: str) -> bytes:
    """The secret, repeated until it fills the seed. Raises ValueError: it is empty."""
    raw = secret.encode()
    if not raw:
        raise ValueError("a bot secret is not empty")
    return (raw * (SEED_BYTES // len(raw) + 1))[:SEED_BYTES]
