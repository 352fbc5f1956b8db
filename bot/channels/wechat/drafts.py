"""What is finished of an answer that is still being made.

Invariant: what was taken counts as shown: who fetches the rest does not read it again.
"""

from typing import Protocol

from .rendering import MARK_BYTES, PAGE_BYTES

DRAFT_BYTES = PAGE_BYTES - MARK_BYTES
"""Of UTF-8, as it is sent: the mark that it is unfinished comes behind it."""


class Drafts(Protocol):
    def take(self, app_id: str, key: str) -> str:
        """The finished sentences of the streamed answer so far, at most DRAFT_BYTES as this channel shows them.

        "" when there are none. They count as shown from now on. Asked at most once a run, and answers at
        once: what is not at hand is not there.
        """
        ...


class NoDrafts:
    """For answers that come in one piece."""

    def take(self, app_id: str, key: str) -> str:
        return ""
