"""A played WeChat message as it is drawn: bubbles of the phone, and a strip with the attempts to scale.

Invariant: pure; whole numbers of tenths of a second are all that a drawing holds.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from bot.playground.wechat_state import Act, Answer, Outcome, PlayedMessage
from simulators.wechat import Way

ATTEMPT_SECONDS = 5
LEAST_SPAN_SECONDS = 16
"""Three attempts, and a little."""
PER_SECOND = 10
GO_ON = "继续"
"""What is tapped for the rest of an answer."""
LEAST_WIDTH = 1.5
"""Of a bar: what takes no time is still seen."""
_LOOKS = {
    Outcome.UNDER_WAY: "bar-wait",
    Outcome.ANSWERED: "bar-ok",
    Outcome.SILENT: "bar-ok",
    Outcome.LATE: "bar-late",
    Outcome.BROKEN: "bar-fail",
}
_NOTES = frozenset({Act.FOLLOW, Act.UNFOLLOW})


@dataclass(frozen=True, slots=True, kw_only=True)
class Bubble:
    """One thing on the phone's screen."""

    id: str
    side: Literal["me", "bot", "note"]
    at: float
    text: str
    act: str = ""
    """Of the follower's own: how it was said."""
    way: str = ""
    """Of an answer: how it came."""
    taps: tuple[str, ...] = ()
    why: str = ""
    """Where it is told why; "" where nothing is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    x: float
    width: float
    look: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line below a strip: the words of `key` with these values."""

    key: str
    number: int = 0
    began: str = ""
    ended: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    message: PlayedMessage
    verdict: str
    """What came of it so far: the name of a sentence."""
    look: str
    """ok, warn, bad or info."""
    attempt: int
    """The one that was answered; 0: none."""
    width: int
    bars: tuple[Bar, ...]
    ticks: tuple[int, ...]
    """Where five seconds end."""
    marks: tuple[float, ...]
    """Where the person saw something."""
    lines: tuple[Line, ...]
    why: str


def bubbles(messages: Iterable[PlayedMessage], app_id: str) -> list[Bubble]:
    """In the order in which the person did and saw them."""
    drawn: list[Bubble] = []
    for message in messages:
        is_note = message.act in _NOTES
        text = message.text
        number, why = message.number, why_address(app_id, message)
        side = "note" if is_note else "me"
        drawn.append(Bubble(id=f"{number}", side=side, at=message.at, text=text, act=message.act.value))
        drawn += [_answer(f"{number}-{at}", answer, why) for at, answer in enumerate(message.answers)]
    return sorted(drawn, key=lambda bubble: bubble.at)


def strip(message: PlayedMessage, app_id: str, now: float) -> Strip:
    """`now` in Unix seconds: as far as what is waiting has come."""
    elapsed = max(now - message.at, 0.0)
    ends = [each.ended_seconds if each.ended_seconds is not None else elapsed for each in message.attempts]
    seen = [answer.after_seconds for answer in message.answers]
    span = max(LEAST_SPAN_SECONDS, math.ceil(max([0.0, *ends, *seen])))
    bars = tuple(
        Bar(
            x=_scaled(each.began_seconds),
            width=max(_scaled(end - each.began_seconds), LEAST_WIDTH),
            look=_LOOKS[each.outcome],
        )
        for each, end in zip(message.attempts, ends, strict=True)
    )
    verdict, look = _verdict(message)
    return Strip(
        message=message,
        verdict=verdict,
        look=look,
        attempt=_answered(message),
        width=span * PER_SECOND,
        bars=bars,
        ticks=tuple(range(0, span * PER_SECOND + 1, ATTEMPT_SECONDS * PER_SECOND)),
        marks=tuple(map(_scaled, seen)),
        lines=tuple(_lines(message)),
        why=why_address(app_id, message),
    )


def why_address(app_id: str, message: PlayedMessage) -> str:
    """ "" while nothing can be told: the bot is at it, or does not know of it."""
    is_told = message.key and message.is_over and message.act is not Act.UNFOLLOW
    return f"/playground/why/wechat/{quote(app_id)}/{quote(message.key)}" if is_told else ""


def _answer(name: str, answer: Answer, why: str) -> Bubble:
    is_fault = answer.way is Way.FAULT
    return Bubble(
        id=name,
        side="note" if is_fault else "bot",
        at=answer.at,
        text=answer.text,
        way=answer.way.value,
        taps=answer.taps,
        why="" if is_fault else why,
    )


def _verdict(message: PlayedMessage) -> tuple[str, str]:
    ways = {answer.way for answer in message.answers}
    if Way.FAULT in ways:
        return "fault", "bad"
    if Way.PASSIVE in ways:
        is_part = any(GO_ON in answer.taps for answer in message.answers)
        return ("part", "warn") if is_part else ("answered", "ok")
    if Way.CUSTOMER_SERVICE in ways:
        return "by_service", "ok"
    if message.is_handed_over:
        return "handed_over", "info"
    if not message.is_over:
        return "under_way", "info"
    return ("taken", "ok") if message.act in _NOTES else ("awaited", "info")


def _answered(message: PlayedMessage) -> int:
    outcomes = [each.outcome for each in message.attempts]
    return outcomes.index(Outcome.ANSWERED) + 1 if Outcome.ANSWERED in outcomes else 0


def _lines(message: PlayedMessage) -> Iterable[Line]:
    for number, attempt in enumerate(message.attempts, start=1):
        ended = "" if attempt.ended_seconds is None else seconds(attempt.ended_seconds)
        yield Line(
            key=f"attempt_{attempt.outcome.value}",
            number=number,
            began=seconds(attempt.began_seconds),
            ended=ended,
        )
    for answer in message.answers:
        if answer.way is Way.CUSTOMER_SERVICE:
            yield Line(key="service_came", ended=seconds(answer.after_seconds))


def seconds(value: float) -> str:
    return f"{max(value, 0.0):.1f}"


def _scaled(value: float) -> float:
    return round(max(value, 0.0) * PER_SECOND, 1)
