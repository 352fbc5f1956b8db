"""The official account that the simulator plays: its secrets, its mode, and what its type may do.

Invariant: what an account may do follows from its type alone.
"""

from dataclasses import dataclass
from enum import StrEnum


class AccountType(StrEnum):
    """Source: 微信官方文档 · 公众号 · 接口权限说明."""

    UNVERIFIED_SUBSCRIPTION = "unverified_subscription"
    """未认证订阅号: passive replies only."""
    VERIFIED_SUBSCRIPTION = "verified_subscription"
    """认证订阅号: also customer service, user info, media, menu."""
    VERIFIED_SERVICE = "verified_service"
    """认证服务号: also template messages and LOCATION."""

    @property
    def is_verified(self) -> bool:
        return self is not AccountType.UNVERIFIED_SUBSCRIPTION


class Mode(StrEnum):
    """消息加解密方式."""

    PLAIN = "plain"
    COMPATIBLE = "compatible"
    """Both copies in one post; the reply may be either."""
    SAFE = "safe"


NEEDS_VERIFICATION = frozenset(
    {"message/custom/send", "message/custom/typing", "user/info", "media/upload", "media/get"}
)
"""Endpoints that answer 48001 to an unverified account. Tokens and the automatic replies are for all."""

MENU_EVENTS = frozenset({"CLICK", "VIEW"})
SERVICE_EVENTS = frozenset({"LOCATION", "TEMPLATESENDJOBFINISH"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One official account."""

    app_id: str
    token: str
    """令牌, which signs."""
    mode: Mode = Mode.PLAIN
    aes_key: str = ""
    """43 characters; needed unless the mode is plain."""
    app_secret: str = ""
    """"" : the account has no API."""
    original_id: str = "gh_simulated"
    type: AccountType = AccountType.VERIFIED_SERVICE
    is_bound: bool = False
    """Bound to an Open Platform account: `user/info` tells the unionid."""
    ip_whitelist: tuple[str, ...] | None = None
    """Who may fetch tokens; None: anyone."""

    def is_permitted(self, endpoint: str) -> bool:
        return self.type.is_verified or endpoint not in NEEDS_VERIFICATION

    def is_sent(self, event: str) -> bool:
        """Does WeChat send such events to an account of this type?"""
        if event in MENU_EVENTS:
            return self.type.is_verified
        return event not in SERVICE_EVENTS or self.type is AccountType.VERIFIED_SERVICE
