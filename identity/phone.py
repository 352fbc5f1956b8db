"""Phone numbers as keyed hashes: what may stand in a database instead of the number.

Invariant: a number leaves this module only as HMAC-SHA256 under the operator's pepper, never as a bare
hash (every mainland number is found by trying in minutes) and never in an error or a log.
"""

import hmac
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.conversation.errors import ConfigurationError, RejectedInput

PEPPER_SETTING = "data/pepper"
"""Where the operator keeps the pepper: beside the database, but outside it and its backups."""

SHORTEST_PEPPER_BYTES = 32
"""The output length of SHA-256: a shorter key weakens HMAC (RFC 2104 §3)."""

_LABEL = b"phone:v1:"
"""Domain and form of the hashed text. Another pepper is another `key_version`, not another label."""

_NOT_WRITTEN = re.compile(r"[\s\-‐-―−.·()/]")
"""Spaces, dashes, dots, brackets: how people group digits."""
_TRUNK_ZERO = re.compile(r"\(0\)")
"""「+44 (0)20 …」: the zero is dialled inside the country only."""
_MAINLAND = re.compile(r"(?:\+?86)?(1[3-9][0-9]{9})")
_INTERNATIONAL = re.compile(r"\+[1-9][0-9]{7,14}")
"""E.164: at most 15 digits; no country has numbers shorter than 8 with its code."""


def e164(phone: str) -> str:
    """The number in E.164 form, e.g. `+8613800138000`.

    Takes mainland mobile numbers with or without +86, 86, 0086, and international ones with + or 00;
    full-width digits, spaces, dashes and brackets as people write them.

    Raises:
        RejectedInput: it is no such number.
    """
    written = unicodedata.normalize("NFKC", phone)
    digits = _NOT_WRITTEN.sub("", _TRUNK_ZERO.sub("", written))
    if digits.startswith("00"):
        digits = "+" + digits[2:]
    if mainland := _MAINLAND.fullmatch(digits):
        return "+86" + mainland[1]
    if _INTERNATIONAL.fullmatch(digits) and not digits.startswith("+86"):
        return digits
    raise RejectedInput("这不是有效的手机号：请发 11 位手机号，或以 + 和国家代码开头的号码")


@dataclass(frozen=True, slots=True)
class PhoneHash:
    """A number as it is stored, and under which pepper."""

    version: int
    digest: bytes


class PhoneHasher:
    """Hashes phone numbers under the present pepper, and under those before it to find what they made."""

    def __init__(self, pepper: bytes, key_version: int = 1, older: Sequence[tuple[int, bytes]] = ()) -> None:
        """`key_version` names the pepper, so that hashes of an older one can be told apart.

        `older`: version and pepper of each before it, the newest first.

        Raises:
            ConfigurationError: the pepper is missing or too short.
        """
        if len(pepper) < SHORTEST_PEPPER_BYTES:
            raise ConfigurationError(
                PEPPER_SETTING,
                f"只有 {len(pepper)} 字节，至少要 {SHORTEST_PEPPER_BYTES} 字节",
                "从备份里恢复原来的文件；从未关联过手机号时，删除它，启动时会重新生成",
            )
        self._pepper = pepper
        self.key_version = key_version
        self._older = tuple(older)

    def current(self) -> "PhoneHasher":
        """Itself: keys that never change (see `PhoneKeys`)."""
        return self

    def hash(self, phone: str) -> bytes:
        """32 bytes: HMAC-SHA256(pepper, "phone:v1:" ‖ E.164 number).

        Raises:
            RejectedInput: not a phone number.
        """
        return _digest(self._pepper, e164(phone))

    def hashes(self, phone: str) -> tuple[PhoneHash, ...]:
        """Under every pepper, the present one first. Raises RejectedInput."""
        number = e164(phone)
        keys = ((self.key_version, self._pepper), *self._older)
        return tuple(PhoneHash(version, _digest(key, number)) for version, key in keys)


class PhoneKeys(Protocol):
    """Which peppers there are now: they change under a running bot."""

    def current(self) -> PhoneHasher: ...


def _digest(pepper: bytes, number: str) -> bytes:
    return hmac.digest(pepper, _LABEL + number.encode("ascii"), "sha256")
