"""Who may look on while a message is under way, and not only at what came of it.

Invariant: looking on changes nothing.
"""

from typing import Protocol

from .deliveries import Attempt
from .people import Sight
from .records import Verdict


class Watch(Protocol):
    """Of one message. Called in order; from the loop that delivers it."""

    def begun(self, number: int, at: float) -> None:
        """An attempt sets out: the first is 0. Unix seconds, as all times."""
        ...

    def ended(self, number: int, attempt: Attempt) -> None: ...

    def decided(self, sight: Sight | None, verdict: Verdict | None, at: float) -> None:
        """What the person sees of it from now on; None: nothing. `verdict` as in `Delivery`."""
        ...


class Nobody:
    """Looks away."""

    def begun(self, number: int, at: float) -> None:
        pass

    def ended(self, number: int, attempt: Attempt) -> None:
        pass

    def decided(self, sight: Sight | None, verdict: Verdict | None, at: float) -> None:
        pass
