"""What can happen to a message while it is answered, and what is then to be done.

Invariant: frozen, and without a rule: `promise.py` has them all. `now` is monotonic seconds.
"""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """WeChat posted the message, for the first time or once more."""

    number: int
    """Unlike that of any other delivery of this run."""
    now: float
    age_seconds: float
    """Since the message was written, by the wall clock: after a restart it tells which attempt this is."""
    may_type: bool = False
    """Customer service is not known to be closed to this person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """Whoever waited for this delivery's response went away."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The store knows the message: these bytes were written down for it."""

    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoke:
    """The handler answered. It is carried when `State.body` is this afterwards; while `State.offered` is,
    that is not known."""

    body: bytes
    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The handler returned, failed or was cancelled."""

    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticked:
    """It is `next_at`, or any other time."""

    now: float
    is_service_open: bool
    """A customer-service message to this person can be sent, as far as is known now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """What to say instead of the answer."""

    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What the store keeps for the message from now on: our bytes, or those that were there before."""

    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The store could not write."""

    now: float


Happening: TypeAlias = Delivered | Left | Found | Spoke | Ended | Ticked | Drafted | Written | Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Respond to these deliveries."""

    numbers: tuple[int, ...]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """Write down what is going to be said, then tell Written or Failed."""

    body: bytes
    carries_answer: bool


@dataclass(frozen=True, slots=True)
class Promise:
    """Write down that the answer goes by customer service, then tell Written or Failed."""


@dataclass(frozen=True, slots=True)
class Concede:
    """Find what can be said without the answer, and tell Drafted at once."""


@dataclass(frozen=True, slots=True)
class ShowTyping:
    """Show 「对方正在输入」, which nothing waits for."""


Effect: TypeAlias = Answer | Seal | Promise | Concede | ShowTyping
