"""Customer-service messages (客服消息): the port that runs ask, and what serves it.

Invariant: a text that may have arrived is never sent again; one that was not sent names the reason.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from nonebot.exception import AdapterException

from .api import Ability, ApiAway, ApiClient, ApiClosed, ApiError, OutcomeUnknown, Verdict
from .graphemes import is_boundary
from .rendering import SENTENCE_END

BUSY_SECONDS = 1.0
"""Before the one more try that a busy WeChat asks for (-1). The person is waiting."""
_LINK = re.compile(r"<a\b.*?</a>", re.DOTALL | re.IGNORECASE)
_ESCAPE = re.compile(r"\\(?=u)")


class Sending(StrEnum):
    SENT = "sent"
    HELD = "held"
    """Certainly not delivered."""
    UNKNOWN = "unknown"
    """It may have been delivered, whole or in part."""


class HeldReason(StrEnum):
    WINDOW = "window"
    """Until this person's next message."""
    PERMISSION = "permission"
    """This account cannot send these messages."""
    QUOTA = "quota"
    GONE = "gone"
    """The person no longer follows."""
    MISCONFIGURED = "misconfigured"
    AWAY = "away"
    """WeChat could not be reached, or was busy."""
    REFUSED = "refused"
    """WeChat takes this text in no form we know, or has a reason we have no rule for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOutcome:
    """What is known after sending."""

    sending: Sending
    reason: HeldReason | None = None
    """Set for HELD alone."""


SENT = ServiceOutcome(sending=Sending.SENT)
UNKNOWN = ServiceOutcome(sending=Sending.UNKNOWN)
_REASONS = {
    Verdict.WINDOW: HeldReason.WINDOW,
    Verdict.NO_PERMISSION: HeldReason.PERMISSION,
    Verdict.QUOTA: HeldReason.QUOTA,
    Verdict.GONE: HeldReason.GONE,
    Verdict.MISCONFIGURED: HeldReason.MISCONFIGURED,
    Verdict.BUSY: HeldReason.AWAY,
    Verdict.STALE: HeldReason.AWAY,
    Verdict.TOO_LONG: HeldReason.REFUSED,
    Verdict.BAD_ESCAPES: HeldReason.REFUSED,
    Verdict.TYPING_IDLE: HeldReason.REFUSED,
    Verdict.UNKNOWN: HeldReason.REFUSED,
}


class CustomerService(Protocol):
    """Messages outside the five seconds of a reply. No method raises but on cancellation."""

    def is_open(self, app_id: str, openid: str) -> bool:
        """The permission is known to be there, and nothing is known to be in the way: good enough to
        promise an answer on."""
        ...

    def heard(self, app_id: str, openid: str) -> None:
        """They wrote: a window that was closed is open again."""
        ...

    async def typing(self, app_id: str, openid: str) -> None:
        """Show the typing sign; WeChat's answer tells whether the permission is there."""
        ...

    async def send_text(self, app_id: str, openid: str, text: str) -> ServiceOutcome:
        """`text` fits a message, or little is missing: it is split once where WeChat finds it too long."""
        ...


class PassiveOnly:
    """`CustomerService` of an account without a secret: there is none."""

    def is_open(self, app_id: str, openid: str) -> bool:
        return False

    def heard(self, app_id: str, openid: str) -> None:
        pass

    async def typing(self, app_id: str, openid: str) -> None:
        pass

    async def send_text(self, app_id: str, openid: str, text: str) -> ServiceOutcome:
        return _held(Verdict.NO_PERMISSION)


class MemoryCustomerService:
    """`CustomerService` for tests: open from the first typing sign on, and keeps what was sent.

    `outcomes` are given out first, in their order; then everything is sent.
    """

    def __init__(self, *, outcomes: tuple[ServiceOutcome, ...] = (), is_permitted: bool = True) -> None:
        self._outcomes = list(outcomes)
        self._is_permitted = is_permitted
        self._taught: set[str] = set()
        self._closed: set[tuple[str, str]] = set()
        self.sent: list[tuple[str, str, str]] = []
        """(app_id, openid, text) in order, those of unknown outcome too."""
        self.typed: list[tuple[str, str]] = []

    def is_open(self, app_id: str, openid: str) -> bool:
        return app_id in self._taught and (app_id, openid) not in self._closed

    def heard(self, app_id: str, openid: str) -> None:
        self._closed.discard((app_id, openid))

    def close(self, app_id: str, openid: str) -> None:
        """Until they are heard again."""
        self._closed.add((app_id, openid))

    async def typing(self, app_id: str, openid: str) -> None:
        self.typed.append((app_id, openid))
        if self._is_permitted:
            self._taught.add(app_id)

    async def send_text(self, app_id: str, openid: str, text: str) -> ServiceOutcome:
        if not self._is_permitted:
            return _held(Verdict.NO_PERMISSION)
        if (app_id, openid) in self._closed:
            return _held(Verdict.WINDOW)
        outcome = self._outcomes.pop(0) if self._outcomes else SENT
        if outcome.sending is not Sending.HELD:
            self.sent.append((app_id, openid, text))
        if outcome.reason is HeldReason.WINDOW:
            self.close(app_id, openid)
        return outcome


class ApiCustomerService:
    """`CustomerService` over the API: one client per account that has a secret."""

    def __init__(
        self,
        clients: Mapping[str, ApiClient],
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`clients`: by app_id."""
        self._clients = dict(clients)
        self._sleep = sleep

    def is_open(self, app_id: str, openid: str) -> bool:
        client = self._clients.get(app_id)
        return client is not None and client.abilities.is_known_good(Ability.CUSTOMER_SERVICE, openid)

    def heard(self, app_id: str, openid: str) -> None:
        if client := self._clients.get(app_id):
            client.abilities.heard(openid)

    async def typing(self, app_id: str, openid: str) -> None:
        client = self._clients.get(app_id)
        if client is None:
            return
        try:
            await client.typing(openid)
        except AdapterException:
            # What it teaches is noted; the sign itself is a courtesy.
            return

    async def send_text(self, app_id: str, openid: str, text: str) -> ServiceOutcome:
        client = self._clients.get(app_id)
        if client is None:
            return _held(Verdict.NO_PERMISSION)
        outcome, verdict = await self._send(client, openid, text)
        if verdict is Verdict.TOO_LONG:
            return await self._send_halves(client, openid, text)
        if verdict is Verdict.BAD_ESCAPES:
            # A person or a model wrote a `\u` of their own: WeChat takes it for an escape of ours.
            outcome, _ = await self._send(client, openid, _ESCAPE.sub("＼", text))
        return outcome

    async def _send_halves(self, client: ApiClient, openid: str, text: str) -> ServiceOutcome:
        first, second = halves(text)
        outcome, _ = await self._send(client, openid, first)
        if outcome != SENT or not second:
            return outcome
        outcome, _ = await self._send(client, openid, second)
        # One half is there: to hold the text would show that half again.
        return outcome if outcome == SENT else UNKNOWN

    async def _send(self, client: ApiClient, openid: str, text: str) -> tuple[ServiceOutcome, Verdict | None]:
        """The outcome, and WeChat's verdict where it refused. A busy WeChat is asked once more."""
        outcome, verdict = await _send_once(client, openid, text)
        if verdict is Verdict.BUSY:
            await self._sleep(BUSY_SECONDS)
            outcome, verdict = await _send_once(client, openid, text)
        return outcome, verdict


async def _send_once(client: ApiClient, openid: str, text: str) -> tuple[ServiceOutcome, Verdict | None]:
    try:
        await client.send_text(openid, text)
    except (ApiError, ApiClosed) as error:
        return _held(error.verdict), error.verdict
    except ApiAway:
        return ServiceOutcome(sending=Sending.HELD, reason=HeldReason.AWAY), None
    except OutcomeUnknown:
        return UNKNOWN, None
    return SENT, None


def halves(text: str) -> tuple[str, str]:
    """Two parts that join to `text`, about as long as each other in bytes: cut after a sentence in the
    middle half, else between two grapheme clusters, never within a link."""
    encoded = text.encode(errors="replace")
    middle = len(encoded[: len(encoded) // 2].decode(errors="ignore"))
    links = [found.span() for found in _LINK.finditer(text)]

    def may_cut(at: int) -> bool:
        return is_boundary(text, at) and not any(start < at < end for start, end in links)

    low, high = middle // 2, middle + (len(text) - middle) // 2
    sentences = (found.end() for found in SENTENCE_END.finditer(text))
    ends = [end for end in sentences if low <= end <= min(high, len(text) - 1) and may_cut(end)]
    anywhere = (at for at in range(1, len(text)) if may_cut(at))
    at = min(ends or anywhere, key=lambda end: abs(end - middle), default=len(text))
    return text[:at], text[at:]


def _held(verdict: Verdict) -> ServiceOutcome:
    return ServiceOutcome(sending=Sending.HELD, reason=_REASONS[verdict])
