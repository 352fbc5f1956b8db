"""The small store this adapter needs: what WeChat was told about a message, or was promised.

Invariant: for one (app_id, key) the first bytes that were sealed, or the promise that was made, are all
there ever is: a promise is a seal of `success`.
"""

from collections import OrderedDict
from typing import Protocol

SUCCESS = b"success"
"""WeChat's word for: handled, say nothing, do not deliver again."""
_REMEMBERED = 10_000
"""WeChat stops retrying after about 15 s; this covers 600 messages a second."""


class ReplyStore(Protocol):
    async def sealed(self, app_id: str, key: str) -> bytes | None:
        """The bytes sealed for this message, `success` where its answer was promised, or None."""
        ...

    async def seal(self, app_id: str, key: str, body: bytes, *, carries_answer: bool) -> bytes:
        """Store `body` durably unless bytes are there already, and return those that count.

        `carries_answer` is False for the waiting line and for a part: the answer is still to be fetched.
        """
        ...

    async def promise(self, app_id: str, key: str) -> bytes:
        """Note durably that the answer goes by customer service, unless bytes are there already.

        Returns the bytes that count: `success` when it is promised.
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

    async def promise(self, app_id: str, key: str) -> bytes:
        return await self.seal(app_id, key, SUCCESS, carries_answer=False)

    async def is_promised(self, app_id: str, key: str) -> bool:
        """Whether the answer to this message is to go by customer service."""
        return self._bodies.get((app_id, key)) == SUCCESS
