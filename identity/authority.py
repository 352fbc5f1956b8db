"""Authority: who may act on other people's memory.

Invariant: authority hangs on ids alone, never on a name; it is asked at each execution; try-out and
anonymous accounts never have it.
"""

import hashlib
import secrets
import time
import unicodedata
from collections import deque
from collections.abc import Callable, Sequence

from bot.conversation.message import AccountKey, is_playground
from identity.ports import AccountStore

ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Without 0 O 1 I L U, which are misread when typed from a terminal into a phone."""
_GROUPS, _GROUP_LENGTH = 3, 4
"""12 characters of 30: 2^58 codes. Guessing is hopeless even from a stolen hash."""

WRONG_TRIES = 5
WRONG_TRIES_SECONDS = 600.0
"""An account that was wrong five times in ten minutes is refused, even with the right code: a person
mistypes twice or thrice, a guesser needs millions."""
_REMEMBERED_GUESSERS = 1_000
"""When more accounts than this guess at once, those whose ten minutes are over are dropped."""


class Authority:
    """Superusers: named in the settings, or having claimed it with the code of the first start."""

    def __init__(
        self,
        store: AccountStore,
        configured: Sequence[str],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`configured` holds `channel:openid` addresses; `monotonic` gives seconds.

        A bare id is ignored: it would match on every platform.
        """
        self._addresses = frozenset(found for found in map(_address, configured) if found)
        self._store = store
        self._monotonic = monotonic
        self._wrong: dict[AccountKey, deque[float]] = {}

    async def is_superuser(self, key: AccountKey) -> bool:
        """Whether this account may, as of now."""
        if not _may_have_authority(key):
            return False
        if key.address in self._addresses:
            return True
        return (key.channel, key.app_id, key.openid) in await self._store.superusers()

    async def issue_claim_code(self) -> str | None:
        """A one-time code to print at first start, or None when one was ever issued before.

        Only its hash is stored: a code that was not noted down cannot be shown again.
        """
        code = "-".join(
            "".join(secrets.choice(ALPHABET) for _ in range(_GROUP_LENGTH)) for _ in range(_GROUPS)
        )
        return code if await self._store.issue_claim_code(_code_hash(code)) else None

    async def claim(self, key: AccountKey, code: str) -> bool:
        """Spend the code: its sender becomes superuser. False for a wrong, spent or refused one.

        What is compared are hashes, so timing tells nothing of the code.
        """
        if not _may_have_authority(key) or self._is_guessing(key):
            return False
        tries = self._wrong.setdefault(key, deque(maxlen=WRONG_TRIES))
        tries.append(self._monotonic())
        is_claimed = await self._store.claim_superuser(key, _code_hash(code))
        if is_claimed:
            self._wrong.pop(key, None)
        return is_claimed

    def _is_guessing(self, key: AccountKey) -> bool:
        since = self._monotonic() - WRONG_TRIES_SECONDS
        if len(self._wrong) > _REMEMBERED_GUESSERS:
            self._wrong = {other: tries for other, tries in self._wrong.items() if tries[-1] > since}
        tries = self._wrong.get(key, ())
        return sum(tried > since for tried in tries) >= WRONG_TRIES


def _may_have_authority(key: AccountKey) -> bool:
    return bool(key.openid) and not is_playground(key.app_id)


def _address(entry: str) -> str:
    """The entry as `AccountKey.address` spells it, or "" when it is no address."""
    channel, colon, openid = entry.strip().partition(":")
    return (
        f"{channel.strip().lower()}:{openid.strip()}" if colon and channel.strip() and openid.strip() else ""
    )


def _code_hash(code: str) -> bytes:
    """SHA-256 of the code as people may type it: case, width, spaces and dashes do not count."""
    typed = unicodedata.normalize("NFKC", code).upper()
    return hashlib.sha256(b"claim:v1:" + "".join(filter(str.isalnum, typed)).encode()).digest()
