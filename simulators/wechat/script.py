"""A scenario: who does what when, and what must come of it.

Invariant: frozen and complete; whatever a file may get wrong has been refused before one of these exists.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from .account import AccountType, Mode
from .deliveries import Schedule
from .faults import ApiFault
from .people import Way


class Action(StrEnum):
    """The word of a step."""

    SAY = "say"
    TAP = "tap"
    VOICE = "voice"
    IMAGE = "image"
    VIDEO = "video"
    SHORTVIDEO = "shortvideo"
    LOCATION = "location"
    LINK = "link"
    UNSUPPORTED = "unsupported"
    FOLLOW = "follow"
    UNFOLLOW = "unfollow"
    SCAN = "scan"
    REPORT_LOCATION = "report_location"
    CLICK = "click"
    VIEW = "view"
    TEMPLATE_SENT = "template_sent"
    AUTHORIZATION = "authorization"
    AGAIN = "again"
    """Deliver an earlier step's message once more."""
    WAIT = "wait"
    API_FAULT = "api_fault"
    CALL = "call"
    """Something that the caller of `run_scenario` does, such as restarting its bot."""

    @property
    def is_by_person(self) -> bool:
        return self not in (Action.AGAIN, Action.WAIT, Action.API_FAULT, Action.CALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepExpectation:
    """What must come of one step."""

    shown: tuple[str, ...] | None = None
    """Exactly these, in this order, since the step began; () is nothing."""
    contains: tuple[str, ...] = ()
    """Each in something seen since the step began."""
    lacks: tuple[str, ...] = ()
    answer: str = ""
    """What tells this step's answer from all others: seen exactly once until the end."""
    way: Way | None = None
    """Of the first thing seen that `answer` or `contains` mean; without these, of the first thing."""
    kind: str = ""
    attempts: tuple[int, int] | None = None
    """At least and at most."""
    within_seconds: float | None = None
    """None: `PATIENCE_SECONDS` for what must come, no wait for what must not."""
    same_bytes: bool = False
    """Every reply of this message, also of the one it repeats, has the same bytes. `success` is none."""

    @property
    def waits(self) -> bool:
        return bool(self.contains or self.answer or self.shown or self.way or self.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    number: int
    """From 1, as in the report."""
    line: int
    action: Action
    who: str = ""
    argument: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the action needs; `text` for the plain ones."""
    at_seconds: float | None = None
    """From the start, beside whatever still goes on; None: when everything before is over."""
    name: str = ""
    seconds: float = 0.0
    """Of a wait."""
    fault: ApiFault | None = None
    schedule: Mapping[str, float] = field(default_factory=dict[str, float])
    """Fields of `Schedule` that differ from the server's."""
    expect: StepExpectation = StepExpectation()


@dataclass(frozen=True, slots=True, kw_only=True)
class SightExpectation:
    contains: str = ""
    shown: str | None = None
    way: Way | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioExpectation:
    """What must be so at the end; None and absent: not asked."""

    lost: int | None = None
    double: int | None = None
    faults: int | None = None
    errcodes: tuple[int, ...] | None = None
    """All that the API answered but 0, in order."""
    calls: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """By endpoint: at least and at most."""
    people: Mapping[str, tuple[SightExpectation, ...]] = field(
        default_factory=dict[str, tuple[SightExpectation, ...]]
    )
    """All that each of them saw, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonScript:
    openid: str = ""
    """"" : made of the name."""
    unionid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    title: str
    path: Path | None = None
    account: AccountType | None = None
    """None: whatever the server plays."""
    mode: Mode | None = None
    is_bound: bool | None = None
    watch_seconds: float = 0.0
    """How long to go on looking after the last step."""
    people: Mapping[str, PersonScript] = field(default_factory=dict[str, PersonScript])
    steps: tuple[Step, ...]
    expect: ScenarioExpectation = ScenarioExpectation()

    @property
    def needs_api(self) -> bool:
        """Played to an account without a secret, it must fail."""
        sights = (sight for each in self.expect.people.values() for sight in each)
        wants = (*(step.expect for step in self.steps), *sights)
        is_called = bool(self.expect.errcodes) or any(least for least, _ in self.expect.calls.values())
        return (
            is_called
            or any(step.action is Action.API_FAULT for step in self.steps)
            or any(want.way is Way.CUSTOMER_SERVICE for want in wants)
        )


class ScenarioError(ValueError):
    """A scenario that cannot be played; the message is a 简体中文 sentence with line and step."""


def merged(schedule: Schedule, changes: Mapping[str, float]) -> Schedule:
    """With a step's own numbers. Raises ValueError."""
    whole = {name: int(changes[name]) for name in ("attempts", "unreachable") if name in changes}
    return replace(schedule, **{**changes, **whole})
