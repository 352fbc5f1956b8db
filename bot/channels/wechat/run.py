"""One run a message, however often WeChat delivers it, and what each delivery answers when.

Invariant: at most one run a (app_id, key) is in flight; all its deliveries that are answered get the
same bytes; a delivery that goes away never stops its run.

WeChat gives each of three deliveries five seconds. A run that needs longer is joined by the later
deliveries; at the last one the person is told to ask again, and the answer is held by the house.
Plain asyncio tasks rather than a task group: a run outlives the request that began it, and its parent
is `Runs`, which `close` winds up.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from nonebot.utils import logger_wrapper

from .event import Event
from .store import ReplyStore

SUCCESS = b"success"
"""WeChat's word for: handled, say nothing, do not retry."""
_LAST_ATTEMPT = 3
_CANCEL_SECONDS = 1.0
"""For a cancelled run to put its things away."""

_log = logger_wrapper("WeChat")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """Seconds, within WeChat's five a delivery."""

    ready_seconds: float = 4.5
    """An answer ready by then still reaches WeChat in time over a slow line."""
    hold_seconds: float = 6.0
    """An early delivery stays open past WeChat's five, for only silence makes WeChat deliver again."""
    last_chance_age_seconds: float = 8.0
    """A message this old on arrival is at its third delivery even if this process did not see the others."""
    drain_seconds: float = 20.0
    """How long runs may finish at shutdown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One post from WeChat that proved genuine and readable."""

    event: Event
    render: Callable[[str], bytes]
    """Text to response bytes, encrypted where this post was."""


class _Run:
    """A message being answered."""

    def __init__(self, delivery: Delivery) -> None:
        self.delivery = delivery
        self.attempts = 0
        self.is_sealing = False
        self.concession: asyncio.Task[bytes] | None = None
        """Set once the waiting line was given out: nothing else can be after that."""
        self.task: asyncio.Task[bytes]


class Runs:
    """Every run in flight."""

    def __init__(
        self,
        *,
        store: ReplyStore,
        handle: Callable[[Event], Awaitable[None]],
        deadlines: Deadlines,
        waiting_line: str,
        now: Callable[[], float],
    ) -> None:
        """`handle` runs the handlers; what they say is on the event afterwards. `now`: Unix seconds."""
        self._store = store
        self._handle = handle
        self._deadlines = deadlines
        self._waiting_line = waiting_line
        self._now = now
        self._in_flight: dict[tuple[str, str], _Run] = {}

    def begin(self, delivery: Delivery) -> _Run:
        """Join the run of this message, or start it. Does not wait."""
        event = delivery.event
        run = self._in_flight.get((event.app_id, event.key))
        if run is None:
            run = _Run(delivery)
            # Registered before the first await: a delivery arriving meanwhile finds it.
            self._in_flight[event.app_id, event.key] = run
            run.task = asyncio.create_task(self._work(run))
        run.attempts += 1
        return run

    async def answer(self, delivery: Delivery) -> bytes:
        """The response to this delivery. Raises nothing but cancellation."""
        run = self.begin(delivery)
        is_last_chance = self._is_last_chance(run)
        if run.concession is not None:
            return await asyncio.shield(run.concession)
        await asyncio.wait({run.task}, timeout=self._deadlines.ready_seconds)
        if not run.task.done():
            if is_last_chance and not run.is_sealing:
                return await self._concede(run)
            rest = self._deadlines.hold_seconds - self._deadlines.ready_seconds
            await asyncio.wait({run.task}, timeout=rest)
        return SUCCESS if not run.task.done() or run.task.cancelled() else run.task.result()

    async def close(self) -> None:
        """Let the runs finish, for a while, then cancel what is left."""
        tasks = {run.task for run in self._in_flight.values()}
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=self._deadlines.drain_seconds)
        for task in late:
            task.cancel()
        if late:
            # NoneBot shields its matchers from cancellation: they may not go, and we must.
            await asyncio.wait(late, timeout=_CANCEL_SECONDS)

    def _is_last_chance(self, run: _Run) -> bool:
        """Asked as a delivery arrives: WeChat's second comes 5 s after the message, its third 10 s."""
        age = self._now() - run.delivery.event.create_time
        return run.attempts >= _LAST_ATTEMPT or age > self._deadlines.last_chance_age_seconds

    async def _concede(self, run: _Run) -> bytes:
        if not run.delivery.event.takes_reply:
            return SUCCESS
        if run.concession is None:
            run.concession = asyncio.create_task(self._seal(run, self._waiting_line, carries_answer=False))
        return await asyncio.shield(run.concession)

    async def _work(self, run: _Run) -> bytes:
        event = run.delivery.event
        try:
            if (sealed := await self._find_sealed(event)) is not None:
                return sealed
            await self._handle(event)
            return await self._conclude(run)
        except Exception as error:  # the edge: a fault here must not become a 5xx
            _fault("处理消息时出错，这条消息没有回复", error)
            return SUCCESS
        finally:
            event.close()
            del self._in_flight[event.app_id, event.key]

    async def _conclude(self, run: _Run) -> bytes:
        event = run.delivery.event
        if not event.takes_reply or not event.sent:
            return SUCCESS
        first, *more = event.sent
        if more:
            _log("WARNING", f"一条消息只能被动回复一次，有 {len(more)} 条没有发出")
        if run.concession is not None:
            return await asyncio.shield(run.concession)
        run.is_sealing = True
        return await self._seal(run, first, carries_answer=True)

    async def _find_sealed(self, event: Event) -> bytes | None:
        if not event.takes_reply:
            return None
        try:
            return await self._store.sealed(event.app_id, event.key)
        except Exception as error:  # any store: answering beats knowing
            _fault("查不到这条消息是否已回复", error)
            return None

    async def _seal(self, run: _Run, text: str, *, carries_answer: bool) -> bytes:
        event = run.delivery.event
        body = run.delivery.render(text)
        try:
            return await self._store.seal(event.app_id, event.key, body, carries_answer=carries_answer)
        except Exception as error:  # any store: answering beats remembering
            _fault("没能记下这条回复", error)
            return body


def _fault(message: str, error: Exception) -> None:
    """The kind of error for the operator; its text, which may quote a person, at DEBUG only."""
    _log("ERROR", f"{message}：{type(error).__name__}")
    _log("DEBUG", message, error)
