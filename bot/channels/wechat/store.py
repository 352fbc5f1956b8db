"""The small store this adapter needs: the bytes already given to WeChat for a message.

Invariant: for one (app_id, key) the first bytes sealed are the only ones ever returned.
"""

from collections import OrderedDict
from typing import Protocol

_REMEMBERED = 10_000
"""WeChat stops retrying after about 15 s; this covers 600 messages a second."""


class ReplyStore(Protocol):
    async def sealed(self, app_id: str, key: str) -> bytes | None:
        """The bytes sealed for this message, or None."""
        ...

    async def seal(self, app_id: str, key: str, body: bytes, *, carries_answer: bool) -> bytes:
        """Store `body` unless bytes are there already, and return those that count.

        `carries_answer` is False for the waiting line: the answer itself is still to be fetched.
        """
        ...


class MemoryReplyStore:
    """For trying out and for tests: forgets at exit, and the oldest when full."""

    def __init__(self, limit: int = _REMEMBERED) -> None:
        self._limit = limit
        self._bodies: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self.answered: set[tuple[str, str]] = set()
        """The keys whose sealed bytes carry an answer."""

    async def sealed(self, app_id: str, key: str) -> bytes | None:
        return self._bodies.get((app_id, key))

    async def seal(self, app_id: str, key: str, body: bytes, *, carries_answer: bool) -> bytes:
        if (app_id, key) in self._bodies:
            return self._bodies[app_id, key]
        self._bodies[app_id, key] = body
        if carries_answer:
            self.answered.add((app_id, key))
        if len(self._bodies) > self._limit:
            oldest, _ = self._bodies.popitem(last=False)
            self.answered.discard(oldest)
        return body
