"""What is kept of every message: its attempts, and what came of it.

Invariant: frozen; the same message delivered again is a record of its own.
"""

from dataclasses import dataclass, field

from .deliveries import Attempt
from .people import FAULT, Sight, Tap, Way
from .posts import Post
from .replies import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What WeChat makes of an answer with status 200."""

    reply: Reply | None = None
    problem: str = ""
    """Why a fault is shown instead; "" when none is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One message, from the moment it was sent until nothing of it was open any more."""

    number: int
    """Counts messages, from 1, in the order in which they began."""
    openid: str
    """"" when nobody was named."""
    post: Post | None
    """None: raw XML that is no message."""
    xml: str
    started_at: float
    """Unix seconds, as all times."""
    decided_at: float
    """When it was clear what the person sees, or that it is nothing."""
    ended_at: float
    attempts: tuple[Attempt, ...]
    verdict: Verdict | None
    """None: every attempt failed."""
    sight: Sight | None
    """What the person saw of it; None for nothing, and when it was delivered again."""
    repeats: int | None = None
    """The number of the message that was only delivered again."""

    @property
    def key(self) -> str:
        """The MsgId; for an event its time, name and key."""
        if self.post is None:
            return ""
        if self.post.msg_id is not None:
            return str(self.post.msg_id)
        return f"{int(self.started_at)}/{self.post.event}/{dict(self.post.fields).get('EventKey', '')}"

    @property
    def is_fault(self) -> bool:
        return self.verdict is None or bool(self.verdict.problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What came of one message in its own deliveries."""

    text: str
    """What the person got, as delivered; "" when nothing was shown."""
    attempts: int
    """Deliveries made."""
    bodies: tuple[bytes, ...] = ()
    """The raw response of each delivery that got one."""
    statuses: tuple[int, ...] = ()
    kind: str = field(default="", compare=False)
    """Of the reply: text, image, news, transfer_customer_service …; "" without one."""
    delivery: Delivery | None = field(default=None, compare=False)
    """The whole record."""

    @property
    def is_fault(self) -> bool:
        return self.text == FAULT

    @property
    def shown(self) -> str:
        """As the phone shows it: a link is its words."""
        sight = self.delivery.sight if self.delivery else None
        return sight.shown if sight else self.text

    @property
    def taps(self) -> tuple[Tap, ...]:
        sight = self.delivery.sight if self.delivery else None
        return sight.taps if sight else ()


def sight_of(verdict: Verdict | None, post: Post | None, number: int, at: float) -> Sight | None:
    """What the person sees of a decided message."""
    if verdict is None or verdict.problem:
        if post is not None and not post.shows_fault:
            return None
        return Sight(at=at, way=Way.FAULT, kind="text", text=FAULT, answers=number)
    reply = verdict.reply
    if reply is None or not reply.is_shown or (post is not None and not post.shows_reply):
        return None
    return Sight(
        at=at,
        way=Way.PASSIVE,
        kind=reply.kind,
        text=reply.text,
        media_id=reply.media_id,
        articles=reply.articles,
        answers=number,
    )


def seen_of(delivery: Delivery) -> Seen:
    answered = [attempt for attempt in delivery.attempts if attempt.status is not None]
    reply = delivery.verdict.reply if delivery.verdict else None
    if delivery.sight is not None:
        text = delivery.sight.text
    elif delivery.post is None or delivery.repeats is not None:
        # Nobody to show it to: what would have been shown.
        text = FAULT if delivery.is_fault else reply.text if reply else ""
    else:
        text = ""
    return Seen(
        text=text,
        attempts=len(delivery.attempts),
        bodies=tuple(attempt.body for attempt in answered),
        statuses=tuple(attempt.status for attempt in answered if attempt.status is not None),
        kind=reply.kind if reply else "",
        delivery=delivery,
    )
