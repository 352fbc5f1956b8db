"""What the connecting pages ask of the house, and what they remember between a form and its page.

Invariant: a secret is shown to the session that had it made, once.
"""

from collections.abc import Collection
from typing import Generic, Protocol, TypeVar

from starlette.datastructures import FormData
from starlette.requests import Request

from bot.connecting.keyword_replies import AccountReplies
from bot.connecting.steps import Kept, Made, ModelSet, OneBotSet, QqSet, WeChatSet
from bot.connecting.trials import ApiTrial, ModelTrial
from bot.console.site.site import session_of

VIEW = "connect"
LONGEST_FIELD = 500
"""Characters. What platforms issue is far shorter."""

T = TypeVar("T")


class Replies(Protocol):
    """The automatic replies of the operator's account."""

    async def fetch(self, *, app_id: str, app_secret: str) -> ApiTrial: ...

    async def proposed(self) -> AccountReplies | None:
        """Raises ConfigurationError."""
        ...

    async def keep(self, numbers: Collection[int]) -> Kept:
        """Raises ConfigurationError or RejectedInput."""
        ...


class House(Protocol):
    """What is saved, saving, and trying. Each `save_…` raises ConfigurationError or RejectedInput."""

    async def wechat(self) -> WeChatSet: ...

    async def onebot(self) -> OneBotSet: ...

    async def qq(self) -> QqSet: ...

    async def model(self) -> ModelSet: ...

    async def save_wechat(
        self, *, app_id: str, app_secret: str, token: str, aes_key: str, renews: bool
    ) -> Made: ...

    async def save_onebot(self, *, token: str) -> Made: ...

    async def save_qq(self, *, app_id: str, secret: str, is_websocket: bool) -> Made: ...

    async def save_model(self, *, base_url: str, model: str, key: str) -> Made: ...

    async def try_wechat(self, *, app_id: str, app_secret: str) -> ApiTrial: ...

    async def try_model(self, *, base_url: str, model: str, key: str) -> ModelTrial:
        """Raises ConfigurationError."""
        ...

    @property
    def replies(self) -> Replies: ...


class Once(Generic[T]):
    """What the next page of a session shows, and no page after it."""

    def __init__(self) -> None:
        self._kept: dict[str, T] = {}

    def put(self, request: Request, value: T) -> None:
        if (session := session_of(request)) is not None:
            self._kept[session.digest] = value

    def take(self, request: Request) -> T | None:
        session = session_of(request)
        return self._kept.pop(session.digest, None) if session is not None else None


def typed(form: FormData, name: str) -> str:
    value = form.get(name)
    return value.strip()[:LONGEST_FIELD] if isinstance(value, str) else ""
