"""The access token: one refresher, early, never more often than WeChat allows.

Invariant: one request for a token is under way at most, in all processes that share a store; a token that
still serves is handed out while the next is fetched; a refresh never starts another.

Source of the numbers: the page of `stable_token` (getStableAccessToken) on developers.weixin.qq.com.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from nonebot.exception import ActionFailed, NetworkError

from .errors import ApiError

EARLY_SECONDS = 300.0
"""WeChat makes the next token five minutes before the end, and lets the old one live on. Asked earlier it
answers with the old one."""
MARGIN_SECONDS = 10.0
"""A token this close to its end may be over before WeChat sees it."""
PAUSE_SECONDS = 30.0
"""Between two tries at an early refresh; WeChat's own least time between two forced ones."""
FORCED_A_DAY = 20
DAY_SECONDS = 24 * 3600.0
REST_SECONDS = 3.0
"""After a failure, for all that wait: each trying for itself would keep them waiting in turn."""
WAIT_SECONDS = 5.0
"""For another process that is fetching; longer than it may need."""
_LOOK_SECONDS = 0.1
_STALE = 40001


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    value: str = field(repr=False)
    expires_at: float
    """Unix seconds."""


class TokenStore(Protocol):
    """Where the processes of an account share its token. Plain values, so that whoever implements it needs
    nothing of ours. No method raises: a store that is away knows nothing and grants everything."""

    async def load(self, app_id: str) -> tuple[str, float] | None:
        """The token and its end, Unix seconds."""
        ...

    async def save(self, app_id: str, value: str, expires_at: float) -> None: ...

    async def lease(self, app_id: str) -> bool:
        """Whether the caller is the one to fetch. A lease ends by itself if its owner dies."""
        ...

    async def release(self, app_id: str) -> None:
        """Give the caller's lease back."""
        ...

    async def may_force(self, app_id: str) -> bool:
        """Whether WeChat would take a forced refresh now; counts it if so."""
        ...


class MemoryTokenStore:
    """For one process."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._tokens: dict[str, tuple[str, float]] = {}
        self._leased: set[str] = set()
        self._forced: dict[str, deque[float]] = {}

    async def load(self, app_id: str) -> tuple[str, float] | None:
        return self._tokens.get(app_id)

    async def save(self, app_id: str, value: str, expires_at: float) -> None:
        self._tokens[app_id] = (value, expires_at)

    async def lease(self, app_id: str) -> bool:
        if app_id in self._leased:
            return False
        self._leased.add(app_id)
        return True

    async def release(self, app_id: str) -> None:
        self._leased.discard(app_id)

    async def may_force(self, app_id: str) -> bool:
        forced = self._forced.setdefault(app_id, deque(maxlen=FORCED_A_DAY))
        now = self._now()
        # A time ahead of now is from before the clock was set back: it says nothing.
        recent = [at for at in forced if 0 <= now - at < DAY_SECONDS]
        if len(recent) >= FORCED_A_DAY or (recent and now - max(recent) < PAUSE_SECONDS):
            return False
        forced.append(now)
        return True


class Tokens:
    """The refresher of one account in this process."""

    def __init__(
        self,
        *,
        app_id: str,
        fetch: Callable[[bool], Awaitable[AccessToken]],
        store: TokenStore,
        now: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`fetch(force)` asks WeChat; it raises ApiError or ApiAway. `now`: Unix seconds."""
        self._app_id = app_id
        self._fetch = fetch
        self._store = store
        self._now = now
        self._sleep = sleep
        self._lock = asyncio.Lock()
        self._held: AccessToken | None = None
        self._tried_at = float("-inf")
        self._failed: tuple[float, ActionFailed | NetworkError] | None = None

    async def current(self) -> str:
        """A token that serves. Raises ApiError or ApiAway."""
        held = self._held
        if held and self._is_usable(held) and (self._lock.locked() or not self._is_due(held)):
            return held.value
        return await self._refreshed("")

    async def renew(self, refused: str) -> str:
        """A token other than the one that WeChat refused. Raises ApiError or ApiAway."""
        return await self._refreshed(refused)

    async def _refreshed(self, refused: str) -> str:
        async with self._lock:
            # Whoever waited here for the lock may find it done.
            if done := self._serving(self._held, refused):
                return done.value
            shared = await self._shared()
            if done := self._serving(shared, refused):
                self._held = done
                return done.value
            old = next((one for one in (self._held, shared) if one and self._is_usable(one, refused)), None)
            try:
                self._rethrow_recent()
                self._held = await self._fetched(refused, old)
            except (ActionFailed, NetworkError) as error:
                self._note_failure(error)
                if old is None:
                    raise
                self._held = old
            return self._held.value

    async def _fetched(self, refused: str, old: AccessToken | None) -> AccessToken:
        if not await self._store.lease(self._app_id):
            self._tried_at = self._now()
            other = old or await self._wait_for_other(refused)
            if other is not None:
                return other
            # The other process died or hangs: one request too many is the smaller harm.
            return await self._ask(refused)
        try:
            # Whoever had the lease a moment ago may have left a new one.
            if done := self._serving(await self._shared(), refused):
                return done
            self._tried_at = self._now()
            return await self._ask(refused)
        finally:
            await self._store.release(self._app_id)

    async def _ask(self, refused: str) -> AccessToken:
        token = await self._fetch(False)
        if refused and token.value == refused:
            # To WeChat's books it is good, and yet WeChat refused it: only force makes another.
            if not await self._store.may_force(self._app_id):
                raise ApiError(_STALE)
            token = await self._fetch(True)
        await self._store.save(self._app_id, token.value, token.expires_at)
        return token

    async def _wait_for_other(self, refused: str) -> AccessToken | None:
        for _ in range(round(WAIT_SECONDS / _LOOK_SECONDS)):
            await self._sleep(_LOOK_SECONDS)
            shared = await self._shared()
            if shared and self._is_usable(shared, refused):
                return shared
        return None

    async def _shared(self) -> AccessToken | None:
        loaded = await self._store.load(self._app_id)
        return AccessToken(value=loaded[0], expires_at=loaded[1]) if loaded else None

    def _serving(self, token: AccessToken | None, refused: str) -> AccessToken | None:
        """The token, if nothing needs to be fetched."""
        return token if token and self._is_usable(token, refused) and not self._is_due(token) else None

    def _is_usable(self, token: AccessToken, refused: str = "") -> bool:
        return token.value != refused and self._now() < token.expires_at - MARGIN_SECONDS

    def _is_due(self, token: AccessToken) -> bool:
        """Near its end, and not tried a moment ago."""
        now = self._now()
        return now >= token.expires_at - EARLY_SECONDS and not 0 <= now - self._tried_at < PAUSE_SECONDS

    def _note_failure(self, error: ActionFailed | NetworkError) -> None:
        if self._failed is None or self._failed[1] is not error:
            self._failed = (self._now(), error)

    def _rethrow_recent(self) -> None:
        if self._failed is None:
            return
        at, error = self._failed
        if 0 <= self._now() - at < REST_SECONDS:
            raise error.with_traceback(None)
        self._failed = None
