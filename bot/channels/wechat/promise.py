"""What each delivery of one message is answered, and when: WeChat's five seconds as a state machine.

Invariant: no I/O and no clock, `step` is all there is; every happening has its rule in every phase
(TRANSITIONS); all deliveries of a message that hear more than silence hear the same bytes.

WeChat delivers a message up to three times, five seconds apart, until one is answered; `success` ends that
and shows nothing (微信官方文档 · 公众号 · 被动回复用户消息). One log shows a fourth delivery. An answer goes

- *passive*: ready while a delivery listens, or before the next one comes: written down, then in its response;
- *promised*: not ready, and customer service open: `success`, written down before it is said;
- *conceded*: not ready at the last delivery, customer service closed: what is finished of it, or a waiting
  line; the rest is held;
- *held*: nobody came for it. Nothing was written down, and whoever comes later starts anew.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeAlias

from .happenings import (
    Answer,
    Concede,
    Delivered,
    Drafted,
    Effect,
    Ended,
    Failed,
    Found,
    Happening,
    Left,
    Promise,
    Seal,
    ShowTyping,
    Spoke,
    Ticked,
    Written,
)
from .phases import Deadlines, Owed, Phase, State
from .store import SUCCESS

LAST_ATTEMPT = 3
"""By the documents. A fourth is survived, not counted on."""

Step: TypeAlias = tuple[State, tuple[Effect, ...]]
Rule: TypeAlias = Callable[[State, Any, Deadlines], Step]


def step(state: State, happening: Happening, deadlines: Deadlines) -> Step:
    """The next state, and what is to be done, in order."""
    return TRANSITIONS[state.phase][type(happening)](state, happening, deadlines)


def next_at(state: State, deadlines: Deadlines) -> float | None:
    """When to tell `Ticked`, perhaps a moment ago; None: time changes nothing."""
    d = deadlines
    times: list[float] = []
    match state.phase:
        case Phase.WORKING:
            spans = (d.ready_seconds, d.hold_seconds)
            times = [] if state.type_at is None else [state.type_at]
        case Phase.READY:
            spans = (d.hold_seconds,)
            times = [state.latest_at + d.retry_seconds]
        case Phase.WRITING:
            spans = (d.answer_seconds, d.hold_seconds)
        case _:
            return None
    times += [owed.since + span for owed in state.owed for span in spans]
    return min((at for at in times if at > state.ticked_at), default=None)


def _stay(state: State, _: Happening, __: Deadlines) -> Step:
    return state, ()


def _join(state: State, it: Delivered, d: Deadlines) -> Step:
    """It waits with the others. Its age counts on arrival: growing old while it waits costs no chance."""
    attempts = state.attempts + 1
    is_last = attempts >= LAST_ATTEMPT or it.age_seconds > d.last_chance_age_seconds
    is_typing_due = it.may_type and not state.attempts
    joined = replace(
        state,
        owed=(*state.owed, Owed(number=it.number, since=it.now, is_last=is_last)),
        attempts=attempts,
        latest_at=it.now,
        type_at=it.now + d.typing_seconds if is_typing_due else state.type_at,
    )
    return joined, ()


def _carry(state: State, it: Delivered, d: Deadlines) -> Step:
    """The delivery that the answer waited for."""
    state, _ = _join(state, it, d)
    if state.body == SUCCESS:
        return _settle(state, SUCCESS)
    return replace(state, phase=Phase.WRITING), (Seal(body=state.body, carries_answer=True),)


def _repeat(state: State, it: Delivered, _: Deadlines) -> Step:
    return state, (Answer(numbers=(it.number,), body=state.body),)


def _leave(state: State, it: Left, _: Deadlines) -> Step:
    return replace(state, owed=tuple(owed for owed in state.owed if owed.number != it.number)), ()


def _find(state: State, it: Found, _: Deadlines) -> Step:
    return _settle(state, it.body)


def _speak(state: State, it: Spoke, d: Deadlines) -> Step:
    """Written down only for a delivery that listens: what was never handed over must stay to be fetched."""
    if not state.takes_reply:
        return state, ()
    if _is_heard(state, it.now, d):
        sealing = replace(state, phase=Phase.WRITING, body=it.body)
        return sealing, (Seal(body=it.body, carries_answer=True),)
    if _is_expecting(state, it.now, d):
        return replace(state, phase=Phase.READY, body=it.body), ()
    # Held, or sent by customer service: who comes all the same must not be told something else.
    return _settle(state, SUCCESS)


def _offer(state: State, it: Spoke, _: Deadlines) -> Step:
    """A promise that cannot be written down is none, and the answer goes the passive way after all."""
    is_open = state.body == SUCCESS and state.offered is None
    return replace(state, offered=it.body) if is_open else state, ()


def _fall_silent(state: State, it: Ended, d: Deadlines) -> Step:
    """No answer comes. A delivery that is on its way must not start all over."""
    state = replace(state, has_ended=True)
    if _is_expecting(state, it.now, d) and not _is_heard(state, it.now, d):
        return replace(state, phase=Phase.READY, body=SUCCESS), ()
    return _settle(state, SUCCESS)


def _end(state: State, _: Ended, __: Deadlines) -> Step:
    return replace(state, has_ended=True), ()


def _finish(state: State, _: Ended, __: Deadlines) -> Step:
    return replace(state, has_ended=True, phase=Phase.OVER), ()


def _work_on(state: State, it: Ticked, d: Deadlines) -> Step:
    """Typing, then for deliveries that can wait no longer: promise, else concede, else let WeChat retry."""
    state, typing = replace(state, ticked_at=it.now), ()
    if state.type_at is not None and it.now >= state.type_at:
        state, typing = replace(state, type_at=None), (ShowTyping(),)
    due = [owed for owed in state.owed if it.now >= owed.since + d.ready_seconds]
    if due and state.takes_reply and it.is_service_open and not state.is_passive:
        return replace(state, phase=Phase.WRITING, body=SUCCESS), (*typing, Promise())
    if any(owed.is_last for owed in due):
        if state.takes_reply:
            return replace(state, phase=Phase.CONCEDING), (*typing, Concede())
        return _settle(state, SUCCESS)
    return _release(state, it.now, d, typing)


def _wait_on(state: State, it: Ticked, d: Deadlines) -> Step:
    """READY: nobody may ever come."""
    if it.now >= state.latest_at + d.retry_seconds:
        return _settle(state, SUCCESS)
    return _release(replace(state, ticked_at=it.now), it.now, d)


def _write_on(state: State, it: Ticked, d: Deadlines) -> Step:
    """At the last moment of a last delivery its bytes go out before they are durable: better than a fault.
    Not a promise: who hears `success` has nothing but what was written down."""
    late = [owed.number for owed in state.owed if owed.is_last and it.now >= owed.since + d.answer_seconds]
    due = [] if state.body == SUCCESS else late
    state, answers = _respond(replace(state, ticked_at=it.now), due, state.body)
    return _release(state, it.now, d, answers)


def _draft(state: State, it: Drafted, _: Deadlines) -> Step:
    sealing = replace(state, phase=Phase.WRITING, body=it.body)
    return sealing, (Seal(body=it.body, carries_answer=False),)


def _write(state: State, it: Written, _: Deadlines) -> Step:
    return _settle(state, it.body)


def _fail(state: State, it: Failed, d: Deadlines) -> Step:
    """To answer is better than to remember; but what was not promised durably is not promised."""
    if state.body != SUCCESS:
        return _settle(state, state.body)
    passive = replace(state, phase=Phase.WORKING, is_passive=True, offered=None)
    if state.offered is not None:
        return _speak(passive, Spoke(body=state.offered, now=it.now), d)
    if state.has_ended:
        return _settle(state, SUCCESS)
    return _work_on(passive, Ticked(now=it.now, is_service_open=False), d)


def _settle(state: State, body: bytes) -> Step:
    phase = Phase.OVER if state.has_ended else Phase.SETTLED
    numbers = tuple(owed.number for owed in state.owed)
    answers = (Answer(numbers=numbers, body=body),) if numbers else ()
    return replace(state, phase=phase, body=body, owed=(), offered=None), answers


def _release(state: State, now: float, d: Deadlines, before: tuple[Effect, ...] = ()) -> Step:
    """Close what WeChat has given up: nobody hears it."""
    given_up = [owed.number for owed in state.owed if now >= owed.since + d.hold_seconds]
    state, answers = _respond(state, given_up, SUCCESS)
    return state, (*before, *answers)


def _respond(state: State, numbers: Collection[int], body: bytes) -> tuple[State, tuple[Effect, ...]]:
    if not numbers:
        return state, ()
    rest = tuple(owed for owed in state.owed if owed.number not in numbers)
    return replace(state, owed=rest), (Answer(numbers=tuple(numbers), body=body),)


def _is_heard(state: State, now: float, d: Deadlines) -> bool:
    return any(now < owed.since + d.answer_seconds for owed in state.owed)


def _is_expecting(state: State, now: float, d: Deadlines) -> bool:
    return state.attempts > 0 and now < state.latest_at + d.retry_seconds


TRANSITIONS: Mapping[Phase, Mapping[type[Happening], Rule]] = MappingProxyType(
    {
        Phase.WORKING: {
            Delivered: _join,
            Left: _leave,
            Found: _find,
            Spoke: _speak,
            Ended: _fall_silent,
            Ticked: _work_on,
            Drafted: _stay,
            Written: _stay,
            Failed: _stay,
        },
        Phase.READY: {
            Delivered: _carry,
            Left: _leave,
            Found: _stay,
            Spoke: _stay,
            Ended: _end,
            Ticked: _wait_on,
            Drafted: _stay,
            Written: _stay,
            Failed: _stay,
        },
        Phase.CONCEDING: {
            Delivered: _join,
            Left: _leave,
            Found: _stay,
            Spoke: _stay,
            Ended: _end,
            Ticked: _stay,
            Drafted: _draft,
            Written: _stay,
            Failed: _stay,
        },
        Phase.WRITING: {
            Delivered: _join,
            Left: _leave,
            Found: _stay,
            Spoke: _offer,
            Ended: _end,
            Ticked: _write_on,
            Drafted: _stay,
            Written: _write,
            Failed: _fail,
        },
        Phase.SETTLED: {
            Delivered: _repeat,
            Left: _stay,
            Found: _stay,
            Spoke: _stay,
            Ended: _finish,
            Ticked: _stay,
            Drafted: _stay,
            Written: _stay,
            Failed: _stay,
        },
        Phase.OVER: {
            Delivered: _repeat,
            Left: _stay,
            Found: _stay,
            Spoke: _stay,
            Ended: _stay,
            Ticked: _stay,
            Drafted: _stay,
            Written: _stay,
            Failed: _stay,
        },
    }
)
