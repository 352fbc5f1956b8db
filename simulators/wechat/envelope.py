"""WeChat's signatures and AES envelope, from the side of WeChat.

Invariant: uses hashlib and `cryptography` only; an envelope that is wrong in any part is refused.

Source: 微信官方文档 · 公众号 · 消息加解密说明.
"""

import base64
import hashlib
import hmac
import re
import secrets

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

_BLOCK_BYTES = 32
_SALT_BYTES = 16
_LENGTH_BYTES = 4
_AES_KEY = re.compile(r"[A-Za-z0-9]{43}", re.ASCII)


def is_aes_key(text: str) -> bool:
    """Is this the shape of an EncodingAESKey?"""
    return _AES_KEY.fullmatch(text) is not None


def signature(*parts: str) -> str:
    """Lower-case hex SHA-1 over the sorted parts."""
    joined = "".join(sorted(parts))
    return hashlib.sha1(joined.encode(), usedforsecurity=False).hexdigest()


def is_signature(claimed: str, *parts: str) -> bool:
    return hmac.compare_digest(claimed.encode(), signature(*parts).encode())


def _cipher(aes_key: str) -> Cipher[modes.CBC]:
    key = base64.b64decode(aes_key + "=")
    return Cipher(algorithms.AES(key), modes.CBC(key[:16]))


def encrypt(text: str, *, aes_key: str, app_id: str, salt: bytes | None = None) -> str:
    """Base64 ciphertext. `salt`: the 16 leading bytes, random by default."""
    body = text.encode()
    length = len(body).to_bytes(_LENGTH_BYTES, "big")
    plain = (salt or secrets.token_bytes(_SALT_BYTES)) + length + body + app_id.encode()
    return encrypt_raw(pad(plain), aes_key=aes_key)


def encrypt_raw(padded: bytes, *, aes_key: str) -> str:
    """Base64 ciphertext of bytes already padded, rightly or (for a hostile caller) wrongly."""
    encryptor = _cipher(aes_key).encryptor()
    return base64.b64encode(encryptor.update(padded) + encryptor.finalize()).decode()


def pad(plain: bytes) -> bytes:
    count = _BLOCK_BYTES - len(plain) % _BLOCK_BYTES
    return plain + bytes([count]) * count


def decrypt(encrypted: str, *, aes_key: str, app_id: str) -> str:
    """Raises ValueError: not for this appid, or not an envelope."""
    decryptor = _cipher(aes_key).decryptor()
    plain = decryptor.update(base64.b64decode(encrypted, validate=True)) + decryptor.finalize()
    content = _without_padding(plain)[_SALT_BYTES:]
    length = int.from_bytes(content[:_LENGTH_BYTES], "big")
    text, app = content[_LENGTH_BYTES : _LENGTH_BYTES + length], content[_LENGTH_BYTES + length :]
    if len(text) != length:
        raise ValueError("the envelope says it is longer than it is")
    if app != app_id.encode():
        raise ValueError("the envelope is for another appid")
    return text.decode()


def _without_padding(plain: bytes) -> bytes:
    count = plain[-1] if plain else 0
    if not 1 <= count <= _BLOCK_BYTES or plain[-count:] != bytes([count]) * count:
        raise ValueError("the envelope is not padded")
    return plain[:-count]
