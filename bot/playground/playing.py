"""Whether the message at work is a played one, and what its player has set.

Invariant: only a message that came in through the playground's doors is played (`bot.playground.doors`); the
tasks that answer it inherit that, and nobody else's can.
"""

from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from enum import StrEnum

MOST_SAID = 200
"""Messages whose knobs are known: as many as the stages keep."""
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
    """What the player of one account may turn at any time: it counts from the next message on."""

    model: ModelChoice = ModelChoice.STUB
    latency_seconds: float = 0.0
    """Of the stub, from the question to its last word."""
    _said: "OrderedDict[str, Knobs]" = field(
        default_factory=OrderedDict[str, "Knobs"], repr=False, compare=False
    )

    def now(self) -> "Knobs":
        """As they are, whatever is turned later."""
        return replace(self)

    def hold(self, key: str) -> None:
        """For the message of this key they stay as they are."""
        self._said[key] = Knobs(model=self.model, latency_seconds=self.latency_seconds)
        if len(self._said) > MOST_SAID:
            self._said.popitem(last=False)

    def when_said(self, key: str) -> "Knobs":
        """Of the message of this key; of one that nobody held, as they are now."""
        return self._said.get(key) or self.now()


PLAYING: ContextVar[Knobs | None] = ContextVar("playing", default=None)
"""None: a real person's message."""


@contextmanager
def as_when_said(key: str) -> Generator[None]:
    """What is done meanwhile is done as the player had it when the message of this key was said."""
    knobs = PLAYING.get()
    token = PLAYING.set(None if knobs is None else knobs.when_said(key))
    try:
        yield
    finally:
        PLAYING.reset(token)
