"""One thread that makes vectors, one at a time, questions before passages.

Invariant: the urgent work that waits is bounded, and work whose caller left is never started.
"""

import asyncio
import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from queue import PriorityQueue

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Vector

WAITING_LIMIT = 16
"""A short question takes 14 to 30 ms: behind more than these a question would miss its 0.5 s anyway."""

_STOP, _URGENT, _PATIENT = range(3)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    make: Callable[[], Vector]
    future: Future[Vector]


class EmbeddingThread:
    """Starts its thread at once; `close` joins it."""

    def __init__(self, *, waiting_limit: int = WAITING_LIMIT) -> None:
        self._waiting_limit = waiting_limit
        self._queue: PriorityQueue[tuple[int, int, _Work | None]] = PriorityQueue()
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._urgent = 0
        self._is_closed = False
        self._thread = threading.Thread(target=self._work, name="embedding", daemon=True)
        self._thread.start()

    async def run(self, make: Callable[[], Vector], *, is_urgent: bool) -> Vector:
        """Call `make` in the thread. Cancelling the caller takes work that waits out of the queue.

        Raises:
            EmbedderUnavailable: closed, or too much urgent work waits already.
            Whatever `make` raises.
        """
        future: Future[Vector] = Future()
        with self._lock:
            if self._is_closed:
                raise EmbedderUnavailable("向量线程已经关闭")
            if is_urgent:
                if self._urgent >= self._waiting_limit:
                    raise EmbedderUnavailable(f"已有 {self._urgent} 个问题在等向量")
                self._urgent += 1
            priority = _URGENT if is_urgent else _PATIENT
            self._queue.put((priority, next(self._numbers), _Work(make=make, future=future)))
        if is_urgent:
            # Runs when it is done and also when its caller leaves: a cancelled question costs nothing.
            future.add_done_callback(self._note_urgent_done)
        return await asyncio.wrap_future(future)

    async def close(self) -> None:
        """Let the present work end, refuse the rest, join the thread. Safe to call twice."""
        with self._lock:
            self._is_closed = True
            self._queue.put((_STOP, next(self._numbers), None))
        await asyncio.to_thread(self._thread.join)

    def _note_urgent_done(self, _: Future[Vector]) -> None:
        with self._lock:
            self._urgent -= 1

    def _work(self) -> None:
        while (work := self._queue.get()[2]) is not None:
            if work.future.set_running_or_notify_cancel():
                try:
                    work.future.set_result(work.make())
                except BaseException as error:  # noqa: BLE001 (handed to the caller, as any executor does)
                    work.future.set_exception(error)
        while not self._queue.empty():
            work = self._queue.get()[2]
            if work is not None and work.future.set_running_or_notify_cancel():
                work.future.set_exception(EmbedderUnavailable("向量线程正在关闭"))
