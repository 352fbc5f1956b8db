"""What the connecting pages ask of the house, and what they remember between a form and its page.

Invariant: a secret is shown to the session that had it made, until that says it is copied or goes on, and not again.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from starlette.datastructures import FormData
from starlette.requests import Request

from bot.connecting.fields import LONGEST_FIELD
from bot.connecting.keyword_replies import AccountReplies
from bot.connecting.steps import Kept, Made, ModelSet, OneBotSet, QqSet, WeChatSet
from bot.connecting.trials import ApiTrial, ModelTrial
from bot.console.site.site import session_of

VIEW = "connect"
UNCOPIED_SECONDS = 1_800.0
"""As long as the steps up to the platform's console may take."""

T = TypeVar("T")


class Replies(Protocol):
    """The automatic replies of the operator's account."""

    async def fetch(self, *, app_id: str, app_secret: str) -> ApiTrial: ...

    async def proposed(self) -> AccountReplies | None:
        """Raises ConfigurationError."""
        ...

    async def keep(self, numbers: Collection[int], mark: str) -> Kept:
        """`mark`: of the replies that the numbers were chosen from. Raises ConfigurationError or RejectedInput."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Uncopied:
    channel: str
    made: Made
    until: float


class MadeSecrets:
    """What a saving made, shown to its session on the one page it is for: a secret on each view of it, the rest once."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._kept: dict[str, _Uncopied] = {}

    def put(self, request: Request, channel: str, made: Made, *, has_token: bool, has_aes_key: bool) -> None:
        """`has_…`: one was typed instead, so that what was made before is no longer so."""
        if (session := session_of(request)) is None:
            return
        self._kept = {digest: each for digest, each in self._kept.items() if not self._is_over(each)}
        before = self._kept.get(session.digest)
        if before is not None and before.channel == channel:
            made = replace(
                made,
                token=made.token or ("" if has_token else before.made.token),
                aes_key=made.aes_key or ("" if has_aes_key else before.made.aes_key),
            )
        until = self._monotonic() + UNCOPIED_SECONDS
        self._kept[session.digest] = _Uncopied(channel=channel, made=made, until=until)

    def shown(self, request: Request, channel: str) -> Made | None:
        """For the page of this channel; "": a page of none. What another page is for is over with this."""
        session = session_of(request)
        kept = self._kept.pop(session.digest, None) if session is not None else None
        if session is None or kept is None or kept.channel != channel or self._is_over(kept):
            return None
        if kept.made.has_secrets:
            self._kept[session.digest] = replace(kept, made=replace(kept.made, overruled=()))
        return kept.made

    def copied(self, request: Request) -> None:
        if (session := session_of(request)) is not None:
            self._kept.pop(session.digest, None)

    def _is_over(self, kept: _Uncopied) -> bool:
        return self._monotonic() >= kept.until


def typed(form: FormData, name: str) -> str:
    """One character more than a field may have tells that it has too many."""
    value = form.get(name)
    return value.strip()[: LONGEST_FIELD + 1] if isinstance(value, str) else ""
