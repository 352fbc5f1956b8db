"""One run a message, however often WeChat delivers it: `promise.py` decides, this does.

Invariant: at most one run a (app_id, key) is in flight, and it outlives the requests that wait for it; no
response is begun before the state machine said so, no promise acknowledged before the store has it.

Plain asyncio tasks rather than a task group: the parent of a run is `Runs`, which `close` winds up. A
message that is answered within a second costs one task and one timer.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace

from nonebot.utils import logger_wrapper

from .drafts import Drafts
from .event import Event
from .happenings import (
    Answer,
    Concede,
    Delivered,
    Drafted,
    Ended,
    Found,
    Happening,
    Left,
    Promise,
    Seal,
    ShowTyping,
    Spoke,
    Ticked,
)
from .keeping import Keeping, fault
from .message import Message
from .phases import Deadlines, Phase, State
from .promise import next_at, step
from .service import CustomerService
from .store import SUCCESS, ReplyStore

CROWD = 100
"""Messages in flight. What a crowd is to be told at its last moment takes about a millisecond each."""
EARLIER_SECONDS = 1.0
"""At most: so much earlier a large crowd's last moment is, so that the last of them is told in time."""
_CANCEL_SECONDS = 1.0
"""For a cancelled run to put its things away."""
_GONE = State(phase=Phase.OVER, has_ended=True)

_log = logger_wrapper("WeChat")


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One post from WeChat that proved genuine and readable."""

    event: Event
    render: Callable[[str | Message], bytes]
    """A reply to response bytes, encrypted where this post was; `success` for nothing to show."""


class _Run:
    """A message being answered."""

    __slots__ = ("alarm", "decision", "delivery", "has_spoken", "posts", "responses", "state", "task")

    def __init__(self, delivery: Delivery) -> None:
        self.delivery = delivery
        self.state = State(takes_reply=delivery.event.takes_reply)
        self.posts = 0
        self.responses: dict[int, asyncio.Future[bytes]] = {}
        self.alarm: asyncio.TimerHandle | None = None
        self.has_spoken = False
        self.decision: asyncio.Future[None] | None = None
        """What a sender waits for whose answer came while a promise was being written."""
        self.task: asyncio.Task[None]


class Runs:
    """Every run in flight."""

    def __init__(
        self,
        *,
        store: ReplyStore,
        handle: Callable[[Event], Awaitable[None]],
        drafts: Drafts,
        service: CustomerService | None,
        deadlines: Deadlines,
        waiting_line: str,
        unfinished_mark: str,
        now: Callable[[], float],
    ) -> None:
        """`handle` runs the handlers, which answer through `offer`. `service` None: passive replies only.
        `now`: Unix seconds."""
        self._kept = Keeping(store)
        self._handle = handle
        self._drafts = drafts
        self._service = service
        self._deadlines = deadlines
        self._crowded: dict[int, Deadlines] = {}
        self._waiting_line = waiting_line
        self._unfinished_mark = unfinished_mark
        self._now = now
        self._in_flight: dict[tuple[str, str], _Run] = {}
        self._writes: set[asyncio.Task[None]] = set()
        self._courtesies: set[asyncio.Task[None]] = set()

    def begin(self, delivery: Delivery) -> _Run:
        """The run of this message, started if need be. Does not wait."""
        event = delivery.event
        run = self._in_flight.get((event.app_id, event.key))
        if run is None:
            run = _Run(delivery)
            # Registered before the first await: a delivery arriving meanwhile finds it.
            self._in_flight[event.app_id, event.key] = run
            run.task = asyncio.create_task(self._work(run))
            if self._service is not None and event.takes_reply:
                self._service.heard(event.app_id, event.openid)
        return run

    async def answer(self, delivery: Delivery) -> bytes:
        """The response to this delivery. Raises nothing but cancellation."""
        run = self.begin(delivery)
        loop = asyncio.get_running_loop()
        run.posts = number = run.posts + 1
        response = run.responses[number] = loop.create_future()
        arrived = Delivered(
            number=number,
            now=loop.time(),
            age_seconds=self._now() - delivery.event.create_time,
            may_type=self._service is not None and run.state.takes_reply,
        )
        self._advance(run, arrived)
        try:
            return await response
        except asyncio.CancelledError:
            self._advance(run, Left(number=number))
            raise
        finally:
            del run.responses[number]

    async def offer(self, event: Event, reply: str | Message) -> bool:
        """Answer `event`. True: an open response carries the reply, or the next one will. False: none can any
        more. Decided at once, unless a promise is being written: then by whether it could be."""
        run = self._in_flight.get((event.app_id, event.key))
        if run is None or run.delivery.event is not event:
            return False
        body = run.delivery.render(reply)
        if body == SUCCESS:
            return True  # Nothing to show: silence says it.
        write = self._apply(run, Spoke(body=body, now=_time()))
        if write is not None:
            # Here rather than in a task of its own: the handler is one already.
            try:
                await self._write(run, write)
            except asyncio.CancelledError:
                self._spawn(self._write(run, write))
                raise
        elif run.state.offered is body:
            run.decision = asyncio.get_running_loop().create_future()
            await run.decision
        is_carried = run.state.body == body
        if run.has_spoken and not is_carried:
            _log("WARNING", "一条消息只能被动回复一次，后一条没有发出")
        run.has_spoken = run.has_spoken or is_carried
        return is_carried

    async def close(self) -> None:
        """Let the runs finish, for a while, then cancel what is left. Answers nobody came for stay held."""
        try:
            async with asyncio.timeout(self._deadlines.drain_seconds):
                while busy := self._busy():
                    await asyncio.wait(busy)
        except TimeoutError:
            for task in (late := self._busy()):
                task.cancel()
            if late:
                # NoneBot shields its matchers from cancellation: they may not go, and we must.
                await asyncio.wait(late, timeout=_CANCEL_SECONDS)
        for task in self._courtesies:
            task.cancel()
        for run in tuple(self._in_flight.values()):
            run.state = _GONE
            self._forget(run)
            _respond(run, tuple(run.responses), SUCCESS)
            _decide(run)

    def _busy(self) -> set[asyncio.Task[None]]:
        return self._writes | {run.task for run in self._in_flight.values() if not run.task.done()}

    async def _work(self, run: _Run) -> None:
        event = run.delivery.event
        try:
            if (body := await self._kept.find(event)) is not None:
                self._advance(run, Found(body=body))
            else:
                await self._handle(event)
        except Exception as error:  # the edge: a fault here must not become a 5xx
            fault("处理消息时出错，这条消息没有回复", error)
        finally:
            self._advance(run, Ended(now=_time()))

    def _advance(self, run: _Run, happening: Happening) -> None:
        if (write := self._apply(run, happening)) is not None:
            self._spawn(self._write(run, write))

    def _apply(self, run: _Run, happening: Happening) -> Seal | Promise | None:
        """Do what is to be done, all but the writing, which is for the caller."""
        run.state, effects = step(run.state, happening, self._deadlines_now())
        write: Seal | Promise | None = None
        for effect in effects:
            match effect:
                case Answer():
                    _respond(run, effect.numbers, effect.body)
                case Seal() | Promise():
                    write = effect
                case Concede():
                    write = self._apply(run, Drafted(body=self._concession(run.delivery)))
                case ShowTyping():
                    self._show_typing(run.delivery.event)
        self._set_alarm(run)
        if run.decision is not None and run.state.offered is None:
            _decide(run)
        if run.state.phase is Phase.OVER:
            self._forget(run)
        return write

    def _deadlines_now(self) -> Deadlines:
        crowd = len(self._in_flight) // CROWD * CROWD
        if not crowd:
            return self._deadlines
        if crowd not in self._crowded:
            earlier = min(crowd / 1000, EARLIER_SECONDS)
            ready_seconds = self._deadlines.ready_seconds - earlier
            self._crowded[crowd] = replace(self._deadlines, ready_seconds=ready_seconds)
        return self._crowded[crowd]

    def _set_alarm(self, run: _Run) -> None:
        """One timer a run. One that is early is let ring: most are never needed."""
        at = next_at(run.state, self._deadlines_now())
        if run.alarm is not None and (at is None or at < run.alarm.when()):
            run.alarm.cancel()
            run.alarm = None
        if at is not None and run.alarm is None:
            run.alarm = asyncio.get_running_loop().call_at(at, self._ring, run)

    def _ring(self, run: _Run) -> None:
        run.alarm = None
        event, service = run.delivery.event, self._service
        is_open = service is not None and service.is_open(event.app_id, event.openid)
        self._advance(run, Ticked(now=_time(), is_service_open=is_open))

    def _forget(self, run: _Run) -> None:
        event = run.delivery.event
        if self._in_flight.get((event.app_id, event.key)) is run:
            del self._in_flight[event.app_id, event.key]
        if run.alarm is not None:
            run.alarm.cancel()

    def _concession(self, delivery: Delivery) -> bytes:
        event = delivery.event
        try:
            draft = self._drafts.take(event.app_id, event.key)
        except Exception as error:  # anyone's drafts: a delivery must not hang on them
            fault("没能取得已写完的部分", error)
            draft = ""
        body = delivery.render(draft + self._unfinished_mark if draft else self._waiting_line)
        # `success` would be a promise.
        return b"" if body == SUCCESS else body

    def _show_typing(self, event: Event) -> None:
        assert self._service is not None
        task = asyncio.create_task(self._service.typing(event.app_id, event.openid))
        self._courtesies.add(task)
        task.add_done_callback(self._courtesies.discard)

    def _spawn(self, writing: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(writing)
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)

    async def _write(self, run: _Run, write: Seal | Promise | None) -> None:
        """Write down, and what follows from it: a promise that fails may leave a waiting line to seal."""
        while write is not None:
            write = self._apply(run, await self._kept.write(run.delivery.event, write))


def _respond(run: _Run, numbers: tuple[int, ...], body: bytes) -> None:
    for number in numbers:
        response = run.responses.get(number)
        if response is not None and not response.done():
            response.set_result(body)


def _decide(run: _Run) -> None:
    if run.decision is not None and not run.decision.done():
        run.decision.set_result(None)


def _time() -> float:
    return asyncio.get_running_loop().time()
