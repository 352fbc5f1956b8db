"""One at a time for each key: what is being read for one message isn't read for another beside it.

Invariant: nothing is kept of a key that nobody waits for.
"""

import asyncio
from collections.abc import Hashable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

K = TypeVar("K", bound=Hashable)


class InTurn(Generic[K]):
    """`async with in_turn.of(key):`"""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[K, asyncio.Lock] = WeakValueDictionary()

    def of(self, key: K) -> asyncio.Lock:
        """Held by nobody, or by whoever is at it."""
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        return lock
