"""One message's way to the callback: when it is posted again, and which answer counts.

Invariant: the first answer with status 200 decides, for good or ill; until there is one the message is
posted again, the same bytes under a new signature, as often as the schedule says.

Three things make WeChat post again. What is known of when:

- nothing came within the five seconds: at once, when the connection was dropped (official);
- an answer that isn't 200: at once (a published server log of 201s: four deliveries within a second);
- a refused or broken connection: nothing is published. Assumed: five seconds after that attempt began,
  as though it had been dropped.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeAlias, TypeVar

from .clock import Clock

Verdict = TypeVar("Verdict")
Send: TypeAlias = Callable[[], Awaitable[tuple[int, bytes]]]
"""Post once: status and body. Raises ConnectionError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    attempts: int = 3
    """Three by the documents; one log shows a fourth."""
    drop_seconds: float = 5.0
    retry_refused_seconds: float = 5.0
    """From the start of a refused attempt to the next; see above: an assumption."""
    overlap_after_seconds: float | None = None
    """None: one at a time. A number: the next one starts so long after the last, which stays open."""
    unreachable: int = 0
    """The first so many attempts are refused on the way and never arrive."""

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.drop_seconds <= 0:
            raise ValueError("a schedule has at least one attempt, of more than no time")


class Ending(StrEnum):
    ANSWERED = "answered"
    DROPPED = "dropped"
    REFUSED = "refused"
    """Or broken before there was an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    started_at: float
    """Unix seconds, as `ended_at`."""
    ended_at: float
    ending: Ending
    status: int | None = None
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[Verdict]):
    attempts: tuple[Attempt, ...]
    """In the order in which they began."""
    verdict: Verdict | None
    """None: every attempt failed."""
    decided_at: float


class Courier(Generic[Verdict]):
    """Carries one message. `judge` says what came of an answer with status 200."""

    def __init__(
        self,
        schedule: Schedule,
        clock: Clock,
        send: Send,
        judge: Callable[[Attempt], Verdict],
        *,
        on_start: Callable[[int, float], None] = lambda number, at: None,
        on_end: Callable[[int, Attempt], None] = lambda number, attempt: None,
    ) -> None:
        """`on_start` and `on_end` are told of each attempt, by its number from 0."""
        self._schedule = schedule
        self._clock = clock
        self._send = send
        self._judge = judge
        self._on_start = on_start
        self._on_end = on_end
        self._open: dict[asyncio.Task[Attempt], int] = {}
        self._ended: dict[int, Attempt] = {}
        self._verdict: tuple[Verdict, float] | None = None

    async def deliver(self, on_decision: Callable[[Verdict | None, float], None]) -> Outcome[Verdict]:
        """`on_decision` is called the moment it is decided what the person sees (None: a fault)."""
        try:
            for number in range(self._schedule.attempts):
                self._open[asyncio.create_task(self._attempt(number))] = number
                is_last = number + 1 == self._schedule.attempts
                await self._until_next(number, is_last=is_last)
                if self._verdict is not None:
                    break
            verdict, decided_at = self._verdict or (None, self._clock.now())
            on_decision(verdict, decided_at)
            while self._open:
                await self._collect(None)
        finally:
            for task in self._open:
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)
        attempts = tuple(self._ended[number] for number in sorted(self._ended))
        return Outcome(attempts=attempts, verdict=verdict, decided_at=decided_at)

    async def _until_next(self, number: int, *, is_last: bool) -> None:
        """Until it is decided, or the next attempt is due."""
        overlap = None if is_last else self._schedule.overlap_after_seconds
        slot = None if overlap is None else asyncio.create_task(self._clock.sleep(overlap))
        try:
            while self._verdict is None and self._open and not (slot is not None and slot.done()):
                await self._collect(slot)
            if self._verdict is None and slot is not None:
                await slot
        finally:
            if slot is not None:
                slot.cancel()
        last = self._ended.get(number)
        if self._verdict is None and not is_last and slot is None and last and last.ending is Ending.REFUSED:
            due = last.started_at + self._schedule.retry_refused_seconds
            await self._clock.sleep(due - self._clock.now())

    async def _collect(self, slot: asyncio.Task[None] | None) -> None:
        """Wait for one of the open attempts to end, or for the slot."""
        waited = {*self._open, *([slot] if slot is not None else [])}
        done, _ = await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        for task in sorted(done & self._open.keys(), key=lambda each: self._open[each]):
            number = self._open.pop(task)
            attempt = self._ended[number] = task.result()
            self._on_end(number, attempt)
            if attempt.status == 200 and self._verdict is None:
                self._verdict = (self._judge(attempt), attempt.ended_at)

    async def _attempt(self, number: int) -> Attempt:
        started_at = self._clock.now()
        self._on_start(number, started_at)
        if number < self._schedule.unreachable:
            return Attempt(started_at=started_at, ended_at=started_at, ending=Ending.REFUSED)
        sending = asyncio.ensure_future(self._send())
        dropping = asyncio.ensure_future(self._clock.sleep(self._schedule.drop_seconds))
        try:
            await asyncio.wait({sending, dropping}, return_when=asyncio.FIRST_COMPLETED)
            ended_at = self._clock.now()
            if not sending.done():
                return Attempt(started_at=started_at, ended_at=ended_at, ending=Ending.DROPPED)
            try:
                status, body = sending.result()
            except ConnectionError:
                return Attempt(started_at=started_at, ended_at=ended_at, ending=Ending.REFUSED)
            return Attempt(
                started_at=started_at, ended_at=ended_at, ending=Ending.ANSWERED, status=status, body=body
            )
        finally:
            sending.cancel()
            dropping.cancel()
            await asyncio.gather(sending, dropping, return_exceptions=True)
