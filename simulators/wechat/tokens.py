"""Access tokens: `stable_token` and the older `token`, isolated from each other.

Invariant: a token is good from its issue to its end, unless a newer one ended it sooner; nothing here waits.

Source: 微信官方文档 · 公众号 · 获取稳定版接口调用凭据, 获取接口调用凭据. Where those are silent (which
errcode the 21st forced refresh of a day gets): 45009, as for every daily quota.
"""

import secrets
from dataclasses import dataclass, field

from .errcodes import ApiRefusal

VALID_SECONDS = 7200.0
EARLY_SECONDS = 300.0
"""In its last five minutes a new one is given; for as long both are good."""
FORCED_SPACING_SECONDS = 30.0
"""A forced refresh sooner after the last one refreshes nothing: the current token comes back."""
FORCED_PER_DAY = 20
PLAIN_PER_DAY = 2000
"""Of the older endpoint."""
_DAY_SECONDS = 86_400
_BEIJING_SECONDS = 8 * 3600
"""Quotas start anew at midnight in Beijing."""


def _day(now: float) -> int:
    return int(now + _BEIJING_SECONDS) // _DAY_SECONDS


@dataclass(slots=True)
class _Token:
    text: str
    expires_at: float
    superseded_at: float | None = None
    """From when on it is 40001, whatever was left of it."""


@dataclass(slots=True)
class _DailyCount:
    limit: int
    day: int = -1
    count: int = 0

    def take(self, now: float) -> None:
        """Raises ApiRefusal 45009."""
        if self.day != _day(now):
            self.day, self.count = _day(now), 0
        if self.count >= self.limit:
            raise ApiRefusal(45009)
        self.count += 1


@dataclass(slots=True)
class Tokens:
    """Of one account. Every method takes the time, in Unix seconds."""

    issued: int = 0
    """New ones so far, of both kinds."""
    _tokens: dict[str, _Token] = field(default_factory=dict[str, _Token])
    _stable: _Token | None = None
    _plain: _Token | None = None
    _forced_at: float = float("-inf")
    _forced: _DailyCount = field(default_factory=lambda: _DailyCount(FORCED_PER_DAY))
    _plain_calls: _DailyCount = field(default_factory=lambda: _DailyCount(PLAIN_PER_DAY))

    def stable(self, now: float, *, is_forced: bool) -> tuple[str, int]:
        """Token and the whole seconds that it has left. Raises ApiRefusal 45009."""
        current = self._stable
        is_good = current is not None and current.superseded_at is None
        is_late = current is None or now >= current.expires_at - EARLY_SECONDS
        if is_forced and now - self._forced_at >= FORCED_SPACING_SECONDS:
            self._forced.take(now)
            self._forced_at = now
            if current is not None:
                current.superseded_at = now
            current = self._stable = self._new(now)
        elif current is None or is_late or not is_good:
            # The old one runs out by itself.
            current = self._stable = self._new(now)
        return current.text, int(current.expires_at - now)

    def plain(self, now: float) -> tuple[str, int]:
        """Each call makes a new one; the one before it stays good for five minutes. Raises 45009."""
        self._plain_calls.take(now)
        if self._plain is not None:
            self._plain.superseded_at = now + EARLY_SECONDS
        self._plain = self._new(now)
        return self._plain.text, int(VALID_SECONDS)

    def check(self, text: str, now: float) -> None:
        """Raises ApiRefusal: 41001 none, 40014 never issued, 42001 ran out, 40001 ended by a newer one."""
        if not text:
            raise ApiRefusal(41001)
        token = self._tokens.get(text)
        if token is None:
            raise ApiRefusal(40014)
        if token.superseded_at is not None and now >= token.superseded_at:
            raise ApiRefusal(40001)
        if now >= token.expires_at:
            raise ApiRefusal(42001)

    def expire(self, now: float) -> None:
        """Every token has run out: 42001."""
        for token in self._tokens.values():
            token.expires_at = min(token.expires_at, now)

    def supersede(self, now: float) -> None:
        """Somebody else fetched one (another program with the same secret): 40001."""
        for token in self._tokens.values():
            token.superseded_at = now

    def _new(self, now: float) -> _Token:
        self.issued += 1
        token = _Token(secrets.token_urlsafe(96), now + VALID_SECONDS)
        self._tokens[token.text] = token
        return token
