"""Whether the message at work is a played one, and what its player has set.

Invariant: only a message that came in through the playground's doors is played (`bot.playground.doors`); the
tasks that answer it inherit that, and nobody else's can.
"""

from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum

SLOWEST_SECONDS = 20.0
"""Of a model on the bench: WeChat's three attempts are over after fifteen."""


class ModelChoice(StrEnum):
    """Who answers a played message."""

    STUB = "stub"
    """The model built in, which is as slow as it is told to be."""
    CONFIGURED = "configured"
    """Whoever answers real people."""


@dataclass(slots=True, kw_only=True)
class Knobs:
    """What the player of one account may turn at any time: it counts from the next answer on."""

    model: ModelChoice = ModelChoice.STUB
    latency_seconds: float = 0.0
    """Of the stub, from the question to its last word."""


PLAYING: ContextVar[Knobs | None] = ContextVar("playing", default=None)
"""None: a real person's message."""
