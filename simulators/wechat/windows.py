"""How many customer-service messages a person may still get, and until when.

Invariant: pure; time is passed in. A grant is spent from whichever ends first, so that a message's five
last as long as they can.

Source: 微信官方文档 · 公众号 · 客服消息 (5 in 48 h after a message; 3 in 1 min after CLICK, subscribe, SCAN).
"""

from dataclasses import dataclass, field
from enum import Enum, auto

from .posts import Grant

ALLOWED = {Grant.MESSAGE: (5, 48 * 3600.0), Grant.EVENT: (3, 60.0)}
"""(messages, seconds)."""


class Refusal(Enum):
    CLOSED = auto()
    """45015: nothing opened it, or too long ago."""
    SPENT = auto()
    """45047: it is open, and all of its messages are used."""


@dataclass(slots=True)
class _Open:
    left: int
    until: float


@dataclass(slots=True)
class Window:
    """One person's."""

    _open: dict[Grant, _Open] = field(default_factory=dict[Grant, _Open])

    def grant(self, grant: Grant, now: float) -> None:
        """What a person did; the same again starts anew."""
        messages, seconds = ALLOWED[grant]
        self._open[grant] = _Open(messages, now + seconds)

    def spend(self, now: float) -> Refusal | None:
        """Take one message, or say why there is none."""
        alive = sorted((each for each in self._open.values() if now <= each.until), key=lambda o: o.until)
        if not alive:
            return Refusal.CLOSED
        for each in alive:
            if each.left:
                each.left -= 1
                return None
        return Refusal.SPENT

    def left(self, now: float) -> int:
        return sum(each.left for each in self._open.values() if now <= each.until)

    def close(self) -> None:
        """The person unfollowed."""
        self._open.clear()
