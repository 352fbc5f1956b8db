"""What was said on a QQ stage: the newest `MOST` acts, each with what the bot answered to it.

Invariant: an answer is filed once, with the message it answers where that is known, else with the newest that
was answered in the same place.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from bot.conversation.message import Role
from bot.playground.acting import MOST
from bot.playground.changes import Changes
from bot.playground.qq_state import Act, Answer, Line, Member, Place


@dataclass(slots=True, kw_only=True)
class Record:
    """One act while it goes its way."""

    line: Line
    pages: deque[str] = field(default_factory=deque[str])
    """Of the reply: those that were decided and not seen yet."""

    @property
    def is_owed(self) -> bool:
        """It may be answered yet."""
        wants = self.line.act is Act.TEXT and self.line.is_addressed
        return wants and not self.line.answers and not self.line.decided_by and not self.line.is_lost


class Talk:
    """Of one stage."""

    def __init__(self, changes: Changes, now: Callable[[], float]) -> None:
        """`now`: Unix seconds."""
        self._changes = changes
        self._now = now
        self._records: deque[Record] = deque(maxlen=MOST)
        self._count = 0

    def __iter__(self) -> Iterable[Record]:
        return iter(self._records)

    def lines(self, place: Place, who: str) -> tuple[Line, ...]:
        """Of the group, or of one person's private chat."""
        return tuple(
            record.line
            for record in self._records
            if record.line.place is place and (place is Place.GROUP or record.line.who == who)
        )

    def add(
        self,
        place: Place,
        member: Member | None,
        act: Act,
        text: str = "",
        *,
        ref: str = "",
        key: str = "",
        is_addressed: bool = False,
        quotes: "Quoted | None" = None,
    ) -> Record:
        """`member` None: it happens to the bot itself."""
        self._count += 1
        line = Line(
            number=self._count,
            place=place,
            who=member.name if member else "",
            shown="" if member is None else member.shown if place is Place.GROUP else member.name,
            role=member.role if member else Role.MEMBER,
            act=act,
            text=text,
            ref=ref,
            at=self._now(),
            is_addressed=is_addressed,
            quoted=quotes.text if quotes else "",
            quoted_shown=quotes.shown if quotes else "",
            key=key,
            answers=(),
            decided_by="",
            is_lost=False,
        )
        record = Record(line=line)
        self._records.append(record)
        self._changes.note()
        return record

    def quoted(self, place: Place, who: str, ref: str) -> "Quoted | None":
        """None: nothing there has this ref."""
        for line in self.lines(place, who):
            if ref and line.ref == ref:
                return Quoted(ref=ref, text=line.text, shown=line.shown, who=line.who)
            for answer in line.answers:
                if ref and answer.ref == ref:
                    return Quoted(ref=ref, text=answer.text, shown="", who="")
        return None

    def lose(self, record: Record) -> None:
        """The bot did not take it."""
        record.line = replace(record.line, is_lost=True)
        self._changes.note()

    def decide(self, key: str, decided_by: str, pages: Iterable[str]) -> None:
        """The bot has decided what it answers to the message of this key."""
        for record in self._records:
            if record.line.key == key:
                record.line = replace(record.line, decided_by=decided_by)
                record.pages = deque(pages)
                self._changes.note()

    def answered(self, ref: str) -> Record | None:
        """The record of what has this ref."""
        return next((each for each in reversed(self._records) if ref and each.line.ref == ref), None)

    def guessed(self, place: Place, who: str, text: str) -> Record | None:
        """What a message of the bot answers, where the platform does not say. `who`: whom it names, or ""."""
        there = [
            each
            for each in self._records
            if each.line.place is place and (each.line.who == who or (place is Place.GROUP and not who))
        ]
        for record in there:
            if record.pages and _is_page(text, record.pages[0]):
                return record
        for record in there:
            if who and record.is_owed:
                return record
        said = [each for each in there if each.line.answers or each.line.act is not Act.TEXT]
        return said[-1] if said else None

    def show(self, record: Record, answer: Answer) -> None:
        """Somebody sees this, and it is about this act."""
        while record.pages and _holds(answer.text, record.pages[0]):
            record.pages.popleft()
        after = max(answer.at - record.line.at, 0.0)
        answers = (*record.line.answers, replace(answer, after_seconds=after))
        record.line = replace(record.line, answers=answers)
        self._changes.note()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    ref: str
    text: str
    shown: str
    """Who said it; "" is the bot."""
    who: str


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _is_page(text: str, page: str) -> bool:
    """A page as it was sent: with nothing before it, and a hint behind at most."""
    return _squeezed(text).startswith(_squeezed(page))


def _holds(text: str, page: str) -> bool:
    return _squeezed(page) in _squeezed(text)
