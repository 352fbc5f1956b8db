"""Who may see the pages: one token at first, then a password, then sessions.

Invariant: a secret is compared in constant time and kept as a hash alone; the setup token opens once, and never
where a password is.
"""

import asyncio
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from bot.console.site.key_file import KeyFile
from bot.console.site.tries import LoginTries
from bot.conversation.ports import Clock

SESSION_HOURS = 12
SECRET_BYTES = 32
SHORTEST_PASSWORD = 10
LONGEST_PASSWORD = 1_024
"""Characters: what is hashed is bounded."""
MOST_SESSIONS = 20
"""Of one operator's browsers; the oldest ends first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Somebody who gave the password."""

    digest: str
    """SHA-256 of the cookie."""


class Doorkeeper:
    """Argon2 takes a tenth of a second and 64 MiB: it runs in a thread, one at a time."""

    def __init__(
        self,
        data_folder: Path,
        clock: Clock,
        *,
        hasher: PasswordHasher | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`hasher`: RFC 9106's second choice (64 MiB) if none. Raises ConfigurationError."""
        self._file = KeyFile(data_folder)
        self._clock = clock
        self._hasher = hasher or PasswordHasher()
        self._tries = LoginTries(monotonic)
        self._one_at_a_time = asyncio.Lock()
        self._setup_token = "" if self.has_password else secrets.token_urlsafe(SECRET_BYTES)

    @property
    def has_password(self) -> bool:
        return bool(self._file.keys.password)

    @property
    def setup_token(self) -> str:
        """Empty once it is used, and where a password was set."""
        return self._setup_token

    def is_setup_token(self, given: str) -> bool:
        return bool(self._setup_token) and hmac.compare_digest(given.encode(), self._setup_token.encode())

    async def set_up(self, token: str, password: str) -> str | None:
        """The cookie of a first session. None: not the token. The password has a fitting length.

        Raises OSError where the file can't be written; the token is then good still.
        """
        async with self._one_at_a_time:
            if not self.is_setup_token(token):
                return None
            hashed = await asyncio.to_thread(self._hasher.hash, password)
            await asyncio.to_thread(self._file.set_password, hashed)
            self._setup_token = ""
            return await self._begin()

    async def sign_in(self, password: str) -> str | float | None:
        """The cookie of a new session; seconds to wait before the next try; None: the wrong password.

        Raises OSError.
        """
        async with self._one_at_a_time:
            if wait := self._tries.begin():
                return wait
            if not await asyncio.to_thread(self._fits, password):
                return None
            self._tries.succeed()
            return await self._begin()

    def session(self, cookie: str) -> Session | None:
        """Whose cookie it is."""
        digest, now = sha256(cookie.encode()).hexdigest(), self._clock.now()
        for known, ends in self._file.keys.sessions:
            if hmac.compare_digest(known, digest) and now < ends:
                return Session(digest=digest)
        return None

    async def sign_out(self, session: Session) -> None:
        """Raises OSError: it has ended, and only the file doesn't say so."""
        async with self._one_at_a_time:
            await asyncio.to_thread(self._file.end_session, session.digest)

    async def _begin(self) -> str:
        cookie = secrets.token_urlsafe(SECRET_BYTES)
        ends = self._clock.now() + timedelta(hours=SESSION_HOURS)
        begun = (sha256(cookie.encode()).hexdigest(), ends)
        await asyncio.to_thread(self._file.set_sessions, (*self._living(), begun)[-MOST_SESSIONS:])
        return cookie

    def _living(self) -> tuple[tuple[str, datetime], ...]:
        now = self._clock.now()
        return tuple(each for each in self._file.keys.sessions if now < each[1])

    def _fits(self, password: str) -> bool:
        hashed = self._file.keys.password
        if not hashed or len(password) > LONGEST_PASSWORD:
            return False
        try:
            return self._hasher.verify(hashed, password)
        except (VerificationError, InvalidHashError):
            return False
