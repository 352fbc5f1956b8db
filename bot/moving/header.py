"""The beginning of a bundle, and the key that a passphrase makes with it.

    JIDE-MOVE\\n | version 1 | log2 N | r | p | salt 16 | nonce prefix 7 | key check 16 | checksum 8

The numbers are single bytes. scrypt (RFC 7914) makes 64 bytes: 32 are the key of AES-256-GCM, 16 more stand in
the header as a check, so that a wrong passphrase is told from a damaged file. The checksum is the beginning of
the SHA-256 of what stands before it: it guards against accidents alone. Against people, the whole header is the
associated data of every chunk.

Invariant: the parameters of a header cannot make a reader take more than `LARGEST_MEMORY_BYTES`.
"""

import hashlib
import hmac
import os
import unicodedata
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from bot.conversation.errors import RejectedInput, StoreUnavailable
from bot.moving.refusal import BundleRefusal, Fault

MAGIC = b"JIDE-MOVE\n"
VERSION = 1
LOG2_N = 17
"""With r = 8: 128 MB and a third of a second for one guess (the first choice of OWASP's password storage sheet). Twice as
much would not fit beside a bot on a machine of 512 MB."""
R, P = 8, 1
_LEAST_LOG2_N = 14
"""RFC 7914 §2 for interactive use, of 2009. Less was never written."""
LARGEST_MEMORY_BYTES = 1 << 30
SALT_BYTES, PREFIX_BYTES, CHECK_BYTES, CHECKSUM_BYTES = 16, 7, 16, 8
KEY_BYTES = 32
_NUMBERS = len(MAGIC)
_SALT = _NUMBERS + 4
_PREFIX = _SALT + SALT_BYTES
_CHECK = _PREFIX + PREFIX_BYTES
_CHECKSUM = _CHECK + CHECK_BYTES
HEADER_BYTES = _CHECKSUM + CHECKSUM_BYTES
SHORTEST_PASSPHRASE = 12
"""Characters. A bundle may be guessed at for years by whoever has the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What stands before the first chunk."""

    raw: bytes

    @property
    def prefix(self) -> bytes:
        """Of every nonce of the file."""
        return self.raw[_PREFIX:_CHECK]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """A header and the key that belongs to it."""

    header: Header
    key: bytes = field(repr=False)


def check_passphrase(passphrase: str) -> None:
    """For a new bundle. Raises RejectedInput."""
    if len(_normal(passphrase)) < SHORTEST_PASSPHRASE:
        raise RejectedInput(f"口令太短：至少要 {SHORTEST_PASSPHRASE} 个字，几个不相干的词连起来最好记")


def new_seal(passphrase: str, *, log2_n: int = LOG2_N) -> Seal:
    """With a salt of its own. Blocks. Raises RejectedInput for a short passphrase, StoreUnavailable."""
    check_passphrase(passphrase)
    salt = os.urandom(SALT_BYTES)
    key, check = _derive(passphrase, salt, log2_n, R, P)
    begun = MAGIC + bytes((VERSION, log2_n, R, P)) + salt + os.urandom(PREFIX_BYTES) + check
    return Seal(header=Header(raw=begun + _checksum(begun)), key=key)


def parse_header(raw: bytes) -> Header:
    """Of the first `HEADER_BYTES` of a file. Raises BundleRefusal."""
    if not raw.startswith(MAGIC):
        raise BundleRefusal(Fault.NOT_A_BUNDLE)
    if len(raw) < HEADER_BYTES:
        raise BundleRefusal(Fault.TRUNCATED)
    version, log2_n, r, p = raw[_NUMBERS:_SALT]
    if version > VERSION:
        raise BundleRefusal(Fault.NEWER_FORMAT)
    is_whole = hmac.compare_digest(raw[_CHECKSUM:], _checksum(raw[:_CHECKSUM]))
    is_sane = version == VERSION and log2_n >= _LEAST_LOG2_N and r and 1 <= p <= 4
    if not is_whole or not is_sane or 128 * r << log2_n > LARGEST_MEMORY_BYTES:
        raise BundleRefusal(Fault.DAMAGED)
    return Header(raw=raw)


def open_seal(header: Header, passphrase: str) -> Seal:
    """Blocks for a guess's time. Raises BundleRefusal for a wrong passphrase, StoreUnavailable."""
    raw = header.raw
    key, check = _derive(passphrase, raw[_SALT:_PREFIX], *raw[_NUMBERS + 1 : _SALT])
    if not hmac.compare_digest(check, raw[_CHECK:_CHECKSUM]):
        raise BundleRefusal(Fault.WRONG_PASSPHRASE)
    return Seal(header=header, key=key)


def _derive(passphrase: str, salt: bytes, log2_n: int, r: int, p: int) -> tuple[bytes, bytes]:
    try:
        made = Scrypt(salt=salt, length=2 * KEY_BYTES, n=1 << log2_n, r=r, p=p).derive(
            _normal(passphrase).encode()
        )
    except MemoryError as error:
        raise StoreUnavailable(f"内存不够：算密钥要 {128 * r << log2_n >> 20} MB 空闲内存") from error
    return made[:KEY_BYTES], made[KEY_BYTES : KEY_BYTES + CHECK_BYTES]


def _normal(passphrase: str) -> str:
    """The same characters typed on another system are the same passphrase (RFC 8265 §4.2.2)."""
    return unicodedata.normalize("NFC", passphrase)


def _checksum(begun: bytes) -> bytes:
    return hashlib.sha256(begun).digest()[:CHECKSUM_BYTES]
