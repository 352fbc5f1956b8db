"""WeChat's signatures and AES envelope, from the side of WeChat.

Invariant: uses hashlib and `cryptography` only.

Source: 微信官方文档 · 公众号 · 消息加解密说明.
"""

import base64
import hashlib
import hmac
import secrets

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

_BLOCK_BYTES = 32


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
    plain = (salt or secrets.token_bytes(16)) + len(body).to_bytes(4, "big") + body + app_id.encode()
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
    content = plain[16 : -plain[-1]]
    length = int.from_bytes(content[:4], "big")
    if content[4 + length :] != app_id.encode():
        raise ValueError("the envelope is for another appid")
    return content[4 : 4 + length].decode()
