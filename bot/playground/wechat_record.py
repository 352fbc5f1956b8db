"""One played message while it goes its way: what WeChat's deliveries came to, and what the person saw.

Invariant: only grows; what it shows is a copy.
"""

from bot.playground.changes import Changes
from bot.playground.wechat_state import Act, Answer, Attempt, Outcome, PlayedMessage
from simulators.wechat import Attempt as Delivered
from simulators.wechat import Delivery, Ending, Sight, Watch
from simulators.wechat.records import Verdict

_NOTHING = frozenset({b"", b"success"})


class Record(Watch):
    """Watches its message's deliveries."""

    def __init__(
        self, changes: Changes, *, number: int, follower: str, act: Act, text: str, key: str, at: float
    ) -> None:
        self.number = number
        self.follower = follower
        self._changes = changes
        self._act = act
        self._text = text
        self._key = key
        self._at = at
        self._attempts: dict[int, Attempt] = {}
        self._answers: list[Answer] = []
        self._is_over = False
        self._is_decided = False
        self._is_handed_over = False

    @property
    def is_over(self) -> bool:
        return self._is_over

    @property
    def is_owed(self) -> bool:
        """Acknowledged, and nothing was seen of it."""
        wants = self._act not in (Act.FOLLOW, Act.UNFOLLOW)
        return wants and self._is_decided and not self._answers and not self._is_handed_over

    def begun(self, number: int, at: float) -> None:
        if not self._attempts:
            self._at = at
        self._attempts[number] = Attempt(
            began_seconds=at - self._at, ended_seconds=None, outcome=Outcome.UNDER_WAY
        )
        self._changes.note()

    def ended(self, number: int, attempt: Delivered) -> None:
        self._attempts[number] = Attempt(
            began_seconds=attempt.started_at - self._at,
            ended_seconds=attempt.ended_at - self._at,
            outcome=_outcome(attempt),
        )
        self._changes.note()

    def decided(self, sight: Sight | None, verdict: Verdict | None, at: float) -> None:
        self._is_decided = True
        reply = verdict.reply if verdict is not None else None
        self._is_handed_over = reply is not None and not reply.is_shown
        if sight is not None:
            self.show(sight)
        self._changes.note()

    def show(self, sight: Sight) -> None:
        """The person sees this, and it is about this message."""
        answer = Answer(
            at=sight.at,
            after_seconds=sight.at - self._at,
            way=sight.way,
            kind=sight.kind,
            text=sight.shown,
            taps=tuple(tap.label for tap in sight.taps),
        )
        self._answers.append(answer)
        self._changes.note()

    def close(self, openid: str, delivery: Delivery | None) -> None:
        """Nothing of it is open any more. None: it was given up."""
        if delivery is not None and delivery.post is not None and delivery.post.msg_id is None:
            self._key = _event_key(openid, delivery)
        self._is_over = True
        self._changes.note()

    def shown(self) -> PlayedMessage:
        return PlayedMessage(
            number=self.number,
            follower=self.follower,
            act=self._act,
            text=self._text,
            at=self._at,
            key=self._key,
            attempts=tuple(self._attempts[number] for number in sorted(self._attempts)),
            answers=tuple(self._answers),
            is_over=self._is_over,
            is_handed_over=self._is_handed_over,
        )


def message_key(openid: str, msg_id: int | None) -> str:
    """As the adapter makes it of a message."""
    return "" if msg_id is None else f"{openid}/{msg_id}"


def _event_key(openid: str, delivery: Delivery) -> str:
    """As the adapter makes it of an event: by the time that was posted."""
    assert delivery.post is not None
    created_at = delivery.xml.partition("<CreateTime>")[2].partition("<")[0]
    return f"{openid}/{created_at}/{delivery.post.event}/{dict(delivery.post.fields).get('EventKey', '')}"


def _outcome(attempt: Delivered) -> Outcome:
    match attempt.ending:
        case Ending.DROPPED:
            return Outcome.LATE
        case Ending.REFUSED:
            return Outcome.BROKEN
        case Ending.ANSWERED:
            if attempt.status != 200:
                return Outcome.BROKEN
            return Outcome.SILENT if attempt.body in _NOTHING else Outcome.ANSWERED
