"""Who may be told how the door is used: nothing here knows what they do with it.

Invariant: what is told holds no part of any request.
"""

from typing import Protocol


class Observer(Protocol):
    def acknowledged(self, seconds: float) -> None:
        """A genuine post was answered this long after it was read."""
        ...

    def refused(self) -> None:
        """A request was not provably from WeChat."""
        ...

    def verified(self, app_id: str, *, holds: bool) -> None:
        """Who asks this account's address for proof, or posts to it, knows its token; not `holds`: asks without."""
        ...


class Nobody:
    """Listens to nothing."""

    def acknowledged(self, seconds: float) -> None:
        pass

    def refused(self) -> None:
        pass

    def verified(self, app_id: str, *, holds: bool) -> None:
        pass
