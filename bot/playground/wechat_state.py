"""What the WeChat stage shows: one account's followers, and of each message its attempts and its answers.

Invariant: frozen, and no more than a person and their phone would see, but for the attempts, which are WeChat's.
"""

from dataclasses import dataclass
from enum import StrEnum

from simulators.wechat import AccountType, Way


class Act(StrEnum):
    """What a follower did."""

    TEXT = "text"
    TAP = "tap"
    """Words in an answer, tapped instead of typed."""
    VOICE = "voice"
    PICTURE = "picture"
    CLICK = "click"
    """An entry of the account's menu."""
    FOLLOW = "follow"
    UNFOLLOW = "unfollow"


class Outcome(StrEnum):
    """What became of one attempt."""

    UNDER_WAY = "under_way"
    ANSWERED = "answered"
    SILENT = "silent"
    """`success`: taken, nothing to show now."""
    LATE = "late"
    """Five seconds passed without an answer: WeChat hung up."""
    BROKEN = "broken"
    """Refused, cut, or no answer that WeChat takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One delivery of a message. Seconds count from the first one's start."""

    began_seconds: float
    ended_seconds: float | None
    """None: it is waiting."""
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One thing that the follower saw of it."""

    at: float
    """Unix seconds."""
    after_seconds: float
    """Since the first attempt began."""
    way: Way
    kind: str
    """text, image, news …"""
    text: str
    """As the phone shows it."""
    taps: tuple[str, ...] = ()
    """The words in it that can be tapped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedMessage:
    """One act of a follower, and all that came of it so far."""

    number: int
    """Counts from 1 on each account."""
    follower: str
    """By name."""
    act: Act
    text: str
    """The words, what WeChat heard, or the key of the menu entry."""
    at: float
    """Unix seconds."""
    key: str
    """As the bot knows the message; "" while an event has none yet."""
    attempts: tuple[Attempt, ...]
    answers: tuple[Answer, ...]
    is_over: bool
    """WeChat delivers it no more. A customer-service message may still come."""
    is_handed_over: bool
    """To human customer service."""

    @property
    def is_awaited(self) -> bool:
        """Acknowledged without a word: the answer is to come as a customer-service message."""
        return self.is_over and not self.answers and not self.is_handed_over


@dataclass(frozen=True, slots=True, kw_only=True)
class Follower:
    name: str
    openid: str
    is_following: bool
    is_typed_to: bool
    """「对方正在输入…」."""
    service_left: int
    """Customer-service messages that this person can still be sent; 0 for an account that has none."""
    is_busy: bool
    """A message of theirs is under way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """An account as it is played now."""

    app_id: str
    type: AccountType
    is_safe: bool
    """Encrypted (安全模式) rather than plain."""
    followers: tuple[Follower, ...]
    now: float
    """Unix seconds, by the clock of all that is told here."""
    changes: int
    """Of this account so far: what to ask for what comes next with."""
