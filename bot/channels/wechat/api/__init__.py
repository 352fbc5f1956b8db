"""The API of an official account: a small async client over the NoneBot driver's HTTP.

Invariant: no secret, token or openid in a log line or in an exception; a request whose outcome is unknown
is never sent again here.
"""

from .abilities import Abilities, Ability
from .client import API_BASE, ApiClient, UserInfo
from .errors import ApiAway, ApiClosed, ApiError, MediaTooLarge, OutcomeUnknown, Verdict
from .media import Media
from .messages import Article, MenuItem
from .mini_program import Login, MiniProgram, Phone
from .token import AccessToken, MemoryTokenStore, TokenStore
from .transport import DriverHttp

__all__ = [
    "API_BASE",
    "Abilities",
    "Ability",
    "AccessToken",
    "ApiAway",
    "ApiClient",
    "ApiClosed",
    "ApiError",
    "Article",
    "DriverHttp",
    "Login",
    "Media",
    "MediaTooLarge",
    "MemoryTokenStore",
    "MenuItem",
    "MiniProgram",
    "OutcomeUnknown",
    "Phone",
    "TokenStore",
    "UserInfo",
    "Verdict",
]
