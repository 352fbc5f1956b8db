"""Scripted faults of the API: how the next calls go wrong.

Invariant: one call spends one use of the first fault that fits it; without a fault it goes by the rules.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiFault:
    """What happens to the next calls."""

    endpoint: str = ""
    """Such as `groups/messages`; "" fits every endpoint."""
    code: int = 0
    """Answered instead of doing it."""
    status: int = 0
    """With `code`: the HTTP status of that answer. Alone: an answer without a code, such as 502."""
    times: int = 1
    delay_seconds: float = 0.0
    """Before anything else."""
    is_cut: bool = False
    """It is done (people see the message), then the connection closes without an answer."""

    def __post_init__(self) -> None:
        if self.times < 1 or self.delay_seconds < 0:
            raise ValueError("a fault happens at least once, and not before its time")
        if not (self.code or self.status or self.delay_seconds or self.is_cut):
            raise ValueError("a fault does something")


class Faults:
    def __init__(self) -> None:
        self._waiting: list[tuple[ApiFault, int]] = []

    def add(self, fault: ApiFault) -> None:
        self._waiting.append((fault, fault.times))

    def next_for(self, endpoint: str) -> ApiFault | None:
        """Spend one use of the first that fits."""
        for place, (fault, left) in enumerate(self._waiting):
            if fault.endpoint in ("", endpoint):
                if left == 1:
                    del self._waiting[place]
                else:
                    self._waiting[place] = (fault, left - 1)
                return fault
        return None

    @property
    def left(self) -> int:
        """Uses that nobody has spent yet."""
        return sum(left for _, left in self._waiting)
