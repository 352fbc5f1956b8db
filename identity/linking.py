"""Linking by a code: issued on one account, entered on the other, confirmed on the first.

Invariant: nobody joins anybody before the account that issued the code was shown who entered it, and confirmed;
whoever enters a code that leads nowhere learns nothing of why.
"""

import re
import secrets
import unicodedata
from collections.abc import Callable
from datetime import datetime, timedelta

from bot.conversation.ports import Clock
from identity.authority import ALPHABET
from identity.model import Account, LinkOutcome
from identity.ports import LinkStore

CODE_LENGTH = 6
"""30⁶ = 7 × 10⁸ codes, of which an account may try five in ten minutes, while one is good for five."""
CODE_LASTS = timedelta(minutes=5)
"""Also how long an entered code waits to be confirmed."""
CODES_AN_HOUR = 3
CODES_ARE_COUNTED = timedelta(hours=1)
WRONG_TRIES = 5
TRIES_ARE_COUNTED = timedelta(minutes=10)
"""Five wrong codes within this lock an account out for as long, from the fifth on."""

LONGEST_TYPED = 64
"""Characters around a code and the code."""

_LABEL = b"link-code:v1:"
_CODE = re.compile(f"[0-9A-Z]{{{CODE_LENGTH}}}")


def is_code(text: str) -> bool:
    """Six letters and digits, however they are spaced: what else is typed is no try of one."""
    return len(text) <= LONGEST_TYPED and _CODE.fullmatch(_typed(text)) is not None


class Linking:
    """Codes, and what becomes of them."""

    def __init__(self, store: LinkStore, keyed_hash: Callable[[bytes], bytes], clock: Clock) -> None:
        """`keyed_hash`: under the operator's pepper. A bare hash of six characters is found at once."""
        self._store = store
        self._keyed_hash = keyed_hash
        self._clock = clock

    async def issue(self, account: Account) -> str | None:
        """A new code, in place of an earlier one. None: there were three within the hour."""
        now = self._clock.now()
        code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
        is_issued = await self._store.issue(
            account.id,
            self._hash(code),
            now=now,
            expires_at=now + CODE_LASTS,
            counted_since=now - CODES_ARE_COUNTED,
            most=CODES_AN_HOUR,
        )
        return code if is_issued else None

    async def enter(self, account: Account, code: str) -> Account | None:
        """The account that issued the code, which may now confirm. None: wrong, expired, entered or spent
        before, this person's own, or this account is locked out; or no code at all, which is not counted."""
        if not is_code(code):
            return None
        now = self._clock.now()
        return await self._store.enter(
            account.id,
            self._hash(code),
            now=now,
            expires_at=now + CODE_LASTS,
            tries_since=now - TRIES_ARE_COUNTED,
            most_tries=WRONG_TRIES,
        )

    async def entered_by(self, account: Account) -> Account | None:
        """Who entered the code of this account and waits for it to confirm. From now on it counts as shown."""
        return await self._store.show(account.id, self._now)

    async def confirm(self, account: Account) -> tuple[LinkOutcome, Account | None]:
        """Spend the code: all accounts of whoever entered it join this person. With who that is."""
        return await self._store.confirm(account.id, self._now)

    async def refuse(self, account: Account) -> bool:
        """Take the code back, entered or not. False: there was none."""
        return await self._store.refuse(account.id, self._now)

    @property
    def _now(self) -> datetime:
        return self._clock.now()

    def _hash(self, code: str) -> bytes:
        return self._keyed_hash(_LABEL + _typed(code).encode())


def _typed(code: str) -> str:
    """The code as people may type it: case, width, spaces and dashes do not count."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", code).upper()))
