"""Access tokens of one bot.

Invariant: a token is good from its issue to its end, unless it was revoked; nothing here waits.

Source: QQ 机器人文档 · 接口调用与鉴权 (api-use.md): 7,200 s, a new one within the last 60 s, both good then.
"""

import secrets
from collections.abc import Mapping
from typing import Any

from .account import BotAccount
from .errors import ApiRefusal

VALID_SECONDS = 7200.0
EARLY_SECONDS = 60.0
SCHEME = "QQBot "


class Tokens:
    def __init__(self, account: BotAccount, valid_seconds: float = VALID_SECONDS) -> None:
        self.issued = 0
        """New ones so far."""
        self.valid_seconds = valid_seconds
        self._account = account
        self._ends: dict[str, float] = {}
        self._newest = ""

    def issue(self, fields: Mapping[str, Any], now: float) -> dict[str, Any]:
        """What getAppAccessToken answers; `expires_in` is a string. Raises ApiRefusal."""
        if not fields.get("appId"):
            raise ApiRefusal(100007)
        if fields["appId"] != self._account.app_id or fields.get("clientSecret") != self._account.secret:
            raise ApiRefusal(100016)
        early = min(EARLY_SECONDS, self.valid_seconds / 2)
        if self._ends.get(self._newest, 0.0) - now <= early:
            self._newest = secrets.token_urlsafe(32)
            self._ends[self._newest] = now + self.valid_seconds
            self.issued += 1
        return {"access_token": self._newest, "expires_in": str(int(self._ends[self._newest] - now))}

    def check(self, authorization: str, now: float) -> None:
        """Raises ApiRefusal 11241, 11243."""
        if not authorization:
            raise ApiRefusal(11241)
        token = authorization.removeprefix(SCHEME)
        if token == authorization or now >= self._ends.get(token, 0.0):
            raise ApiRefusal(11243)

    def revoke(self) -> None:
        """End every token at once: the next call is answered with 401."""
        self._ends.clear()
