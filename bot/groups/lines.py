"""What was just said in a group, line by line: context for an answer, by whoever spoke.

Invariant: in this process alone, never stored, gone after `KEPT`; a name is for display, what is kept is found
again by ids; of anonymous people nothing is kept.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from bot.conversation.message import AccountKey, Kind, Message
from bot.conversation.ports import Clock
from bot.conversation.text import clip

KEPT = timedelta(minutes=30)
"""A talk that paused for longer is over."""
MOST_GROUPS = 1_000
LONGEST_LINE = 200
"""Characters. What is longer is an article, of which the beginning says what it is about."""
_SPOKEN = (Kind.TEXT, Kind.VOICE)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLine:
    """One line of a talk."""

    name: str
    """As the group shows the speaker; anybody may choose any. "" for the bot itself."""
    text: str
    at: datetime
    speaker: AccountKey | None = None
    """None: the bot."""
    key: str = ""
    """The message's."""

    @property
    def is_bot(self) -> bool:
        return self.speaker is None

    def is_of(self, message: Message) -> bool:
        return self.key == message.key and self.speaker == message.sender


class Forgetful(Protocol):
    """Keeps words in this process too, and forgets them with the lines."""

    def drop_account(self, speaker: AccountKey) -> None: ...

    def drop_place(self, place: str) -> None: ...


class GroupLines:
    def __init__(self, limit: int, clock: Clock, beside: Forgetful | None = None) -> None:
        """`limit`: lines kept of each group; 0 keeps none. `beside` is told of every forgetting."""
        self._limit = limit
        self._clock = clock
        self._beside = beside
        self._groups: OrderedDict[str, deque[GroupLine]] = OrderedDict()
        self.droppings = 0
        """How often something was dropped: an answer begun before may hold it."""

    def note(self, message: Message) -> None:
        """A message of a group, addressed or not. One that is delivered again is the same line."""
        if not _is_talk(message):
            return
        lines = self._lines_of(message.conversation.place)
        if lines is None or any(line.is_of(message) for line in lines):
            return
        lines.append(
            GroupLine(
                name=message.shown_name,
                text=clip(message.text, LONGEST_LINE),
                at=self._clock.now(),
                speaker=message.sender,
                key=message.key,
            )
        )

    def note_own(self, place: str, text: str, *, droppings: int | None = None) -> None:
        """What the bot said there. `droppings`, as of when the answer was begun: one that has seen what was dropped
        since is not kept."""
        if droppings not in (None, self.droppings):
            return
        lines = self._lines_of(place)
        if lines is not None and text:
            lines.append(GroupLine(name="", text=clip(text, LONGEST_LINE), at=self._clock.now()))

    def recent(self, place: str, *, before: Message | None = None) -> tuple[GroupLine, ...]:
        """The lines of a group, oldest first, up to and without the message `before`."""
        since = self._clock.now() - KEPT
        lines = tuple(self._groups.get(place, ()))
        if before is not None and _is_talk(before):
            # Where it is no longer among them, all of them are later ones.
            index = next((i for i in reversed(range(len(lines))) if lines[i].is_of(before)), 0)
            lines = lines[:index]
        return tuple(line for line in lines if line.at > since)[-self._limit :]

    def drop_message(self, message: Message) -> None:
        """A command is no talk."""
        lines = self._groups.get(message.conversation.place, deque())
        kept = [line for line in lines if not line.is_of(message)]
        if len(kept) < len(lines):
            self._groups[message.conversation.place] = deque(kept, lines.maxlen)

    def drop_account(self, speaker: AccountKey) -> None:
        """Forget what somebody said, in every group, and what the bot said there, which may repeat it."""
        self.droppings += 1
        if self._beside is not None:
            self._beside.drop_account(speaker)
        for place, lines in self._groups.items():
            if any(line.speaker == speaker for line in lines):
                kept = (line for line in lines if line.speaker not in (speaker, None))
                self._groups[place] = deque(kept, lines.maxlen)

    def drop_place(self, place: str) -> None:
        self.droppings += 1
        if self._beside is not None:
            self._beside.drop_place(place)
        self._groups.pop(place, None)

    def _lines_of(self, place: str) -> deque[GroupLine] | None:
        if not self._limit:
            return None
        # More than are shown: a message that is being answered is among them, and what is said meanwhile.
        lines = self._groups.setdefault(place, deque(maxlen=2 * self._limit + 1))
        self._groups.move_to_end(place)
        if len(self._groups) > MOST_GROUPS:
            self._groups.popitem(last=False)
        return lines


def _is_talk(message: Message) -> bool:
    return not message.is_anonymous and message.kind in _SPOKEN and bool(message.text)
