"""The body of a bundle: a stream cut into chunks, each sealed in its place.

    chunk … chunk | last chunk | JIDE-END

The STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár: Online Authenticated-Encryption, CRYPTO 2015, §7):
AES-256-GCM with the nonce `prefix 7 | number 4 | is it the last 1`, big-endian, and the header as associated data.
A chunk that was changed, moved, repeated or left out does not open, and neither does the last of a file that was
cut, since it was not sealed as the last.

Invariant: no byte is given out before its chunk was authenticated; a reader that reached the end has seen the
last chunk. Memory holds two chunks, however large the file.
"""

import io
from typing import IO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from typing_extensions import Buffer, override

from bot.moving.header import HEADER_BYTES, Header, Seal, parse_header
from bot.moving.refusal import BundleRefusal, Fault

CHUNK_BYTES = 1 << 20
"""Of clear text. With 2³² numbers a file ends at 4 PB, and GCM's own bound of messages under one key with it."""
TAG_BYTES = 16
END = b"JIDE-END"
"""Clear, and trusted by nobody: it tells a file that was cut from one that was changed."""
_SEALED_BYTES = CHUNK_BYTES + TAG_BYTES


def read_header(source: IO[bytes]) -> Header:
    """From the beginning of an open file. Raises BundleRefusal."""
    return parse_header(source.read(HEADER_BYTES))


class SealingStream(io.RawIOBase):
    """Seals what is written to it. Without `finish` the file has no last chunk, and no reader takes it."""

    def __init__(self, target: IO[bytes], seal: Seal) -> None:
        super().__init__()
        self._target = target
        self._nonces = _Nonces(seal.header)
        self._cipher = AESGCM(seal.key)
        self._header = seal.header.raw
        self._waiting = bytearray()
        target.write(seal.header.raw)

    @override
    def writable(self) -> bool:
        return True

    @override
    def write(self, data: Buffer, /) -> int:
        written = memoryview(data).nbytes
        self._waiting += data
        # A full chunk waits for the next byte: it may be the last one.
        while len(self._waiting) > CHUNK_BYTES:
            self._put(is_last=False)
        return written

    def finish(self) -> None:
        """Seal the last chunk and end the file. Nothing may be written after it."""
        self._put(is_last=True)
        self._target.write(END)

    def _put(self, *, is_last: bool) -> None:
        chunk = bytes(self._waiting[:CHUNK_BYTES])
        del self._waiting[:CHUNK_BYTES]
        nonce = self._nonces.of_next(is_last=is_last)
        self._target.write(self._cipher.encrypt(nonce, chunk, self._header))


class UnsealingStream(io.RawIOBase):
    """Opens what a `SealingStream` wrote, from behind the header. Raises BundleRefusal where it does not open."""

    def __init__(self, source: IO[bytes], seal: Seal) -> None:
        super().__init__()
        self._source = source
        self._nonces = _Nonces(seal.header)
        self._cipher = AESGCM(seal.key)
        self._header = seal.header.raw
        self._ahead = source.read(_SEALED_BYTES + len(END))
        self._open = memoryview(b"")
        self._is_at_end = False

    @override
    def readable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Buffer, /) -> int:
        if not self._open and not self._is_at_end:
            self._open = memoryview(self._next())
        room = memoryview(buffer).cast("B")
        size = min(len(room), len(self._open))
        room[:size] = self._open[:size]
        self._open = self._open[size:]
        return size

    def _next(self) -> bytes:
        """The next chunk. Where the file goes on, what was read ahead reaches past the chunk by an end mark."""
        sealed, behind = self._ahead[:_SEALED_BYTES], self._ahead[_SEALED_BYTES:]
        more = self._source.read(_SEALED_BYTES) if len(behind) == len(END) else b""
        if more:
            self._ahead = behind + more
            return self._opened(sealed, is_last=False)
        self._is_at_end = True
        if not self._ahead.endswith(END):
            raise BundleRefusal(Fault.TRUNCATED)
        return self._opened(self._ahead.removesuffix(END), is_last=True)

    def _opened(self, sealed: bytes, *, is_last: bool) -> bytes:
        try:
            return self._cipher.decrypt(self._nonces.of_next(is_last=is_last), sealed, self._header)
        except (InvalidTag, ValueError) as error:
            raise BundleRefusal(Fault.DAMAGED) from error


class _Nonces:
    """Each once, in order."""

    def __init__(self, header: Header) -> None:
        self._prefix = header.prefix
        self._number = 0

    def of_next(self, *, is_last: bool) -> bytes:
        """Raises OverflowError after 2³² of them."""
        nonce = self._prefix + self._number.to_bytes(4, "big") + bytes((is_last,))
        self._number += 1
        return nonce
