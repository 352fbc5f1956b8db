"""How far the answer to one message is, and how many seconds each step of it has.

Invariant: frozen, and without a rule: `promise.py` has them all.
"""

import math
from dataclasses import dataclass
from enum import Enum

from .store import SUCCESS


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """Seconds from a delivery's arrival, where nothing else is said. WeChat gives it five."""

    typing_seconds: float = 1.0
    """From the first delivery: rules and commands have answered by then, and need no 「正在输入」."""
    ready_seconds: float = 4.5
    """An answer ready by then still reaches WeChat in time over a slow line."""
    answer_seconds: float = 4.8
    """The last moment to begin a response that is heard. What comes later waits for the next delivery, and a
    last delivery waits for the disk no longer."""
    hold_seconds: float = 6.0
    """An early delivery stays open past WeChat's five, for only silence makes WeChat deliver again."""
    retry_seconds: float = 10.0
    """The next delivery comes within this, or never: five for the one before, and a slow line."""
    last_chance_age_seconds: float = 8.0
    """A message this old on arrival is at its third delivery even if this process did not see the others."""
    drain_seconds: float = 20.0
    """How long runs may finish at shutdown."""


class Phase(Enum):
    """How far the answer to one message is."""

    WORKING = "working"
    """Being made."""
    READY = "ready"
    """Made, or silence; there is no delivery to carry it: the next one does."""
    CONCEDING = "conceding"
    """Too late; what to say instead is being asked for. Lasts no time."""
    WRITING = "writing"
    """What deliveries will hear is being made durable: `body`, `success` for a promise."""
    SETTLED = "settled"
    """Every delivery hears `body`; the handler is still at work."""
    OVER = "over"
    """Every delivery hears `body`, and nobody is at work: the run can be forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """A delivery without a response so far."""

    number: int
    since: float
    is_last: bool
    """WeChat does not deliver again after this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One message. Times are monotonic seconds."""

    phase: Phase = Phase.WORKING
    takes_reply: bool = True
    """False: WeChat shows no answer to this, and every response is `success`."""
    owed: tuple[Owed, ...] = ()
    attempts: int = 0
    latest_at: float = 0.0
    """When the latest delivery came."""
    ticked_at: float = -math.inf
    """What was due until then was done."""
    type_at: float | None = None
    """When to show 「正在输入」; None: not, or done."""
    body: bytes = SUCCESS
    """What deliveries hear, or will; means nothing while WORKING and CONCEDING."""
    is_passive: bool = False
    """A promise could not be written down; none is tried again."""
    offered: bytes | None = None
    """An answer that came while the promise was being written: whether it is carried depends on that."""
    has_ended: bool = False
    """The handler is done."""
