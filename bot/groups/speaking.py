"""When the bot speaks in a group.

Invariant: who calls is answered, unless the group switched the bot off or the caller is a bot; unasked it speaks
only where the operator allowed it.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.conversation.message import AccountKey, Kind, Message
from bot.conversation.ports import Clock
from bot.conversation.text import normalise
from bot.groups.loops import LoopGuard
from bot.groups.quiet import Ranges, is_within
from bot.groups.switch import GroupSwitch

MOST_GROUPS = 10_000


class Hearing(StrEnum):
    """How a group's message is taken."""

    ADDRESSED = "addressed"
    OVERHEARD = "overheard"
    """Nobody called; the bot joins in, now and then, with nobody's memory."""
    SILENT = "silent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """What the operator allows. All off: the bot speaks when it is called."""

    keywords: Sequence[str] = ()
    random_rate: float = 0.0
    """0 to 1: the share of overheard lines that are answered."""
    quiet: Ranges = ()
    cooldown: timedelta = timedelta(0)
    """Between two answers in one group that nobody called for."""
    commands_need_call: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unasked:
    """The last message of a group that was taken up though nobody called."""

    key: str
    sender: AccountKey
    hearing: Hearing
    at: datetime

    def is_of(self, message: Message) -> bool:
        return (self.key, self.sender) == (message.key, message.sender)


class WhenToSpeak:
    def __init__(
        self,
        *,
        switch: GroupSwitch,
        loops: LoopGuard,
        manners: Manners,
        is_switching_on: Callable[[str], bool],
        is_command: Callable[[str], bool],
        clock: Clock,
        random: Callable[[], float],
    ) -> None:
        """`is_switching_on`: whether a text switches the bot on; `is_command`: whether it is any command with a
        slash. `random`: 0 to 1, evenly."""
        self._switch = switch
        self._loops = loops
        self._manners = manners
        self._keywords = tuple(word for each in manners.keywords if (word := normalise(each)))
        self._is_switching_on = is_switching_on
        self._is_command = is_command
        self._clock = clock
        self._random = random
        self._spoke_unasked: OrderedDict[str, _Unasked] = OrderedDict()

    def is_listening(self, place: str) -> bool:
        """Where it is switched off, it doesn't keep what is said either."""
        return self._switch.is_on(place)

    def judge(self, message: Message, *, has_waited: bool = False) -> Hearing:
        """Asked for each message of a group, again where an answer failed. `has_waited`: behind an earlier message
        of its sender."""
        if self._loops.is_barred(message):
            return Hearing.SILENT
        if not self._switch.is_on(message.conversation.place):
            is_back = self._is_called(message) and self._is_switching_on(message.text)
            return Hearing.ADDRESSED if is_back else Hearing.SILENT
        hearing = Hearing.ADDRESSED if self._is_called(message) else self._unasked(message)
        if hearing is not Hearing.SILENT:
            self._loops.taken_up(message, has_waited=has_waited)
        return hearing

    def answered(self, message: Message) -> None:
        """Note that the bot has said something to it."""
        self._loops.answered(message)
        place = message.conversation.place
        last = self._spoke_unasked.get(place)
        if last is not None and last.is_of(message):
            self._spoke_unasked[place] = replace(last, at=self._clock.now())

    def _is_called(self, message: Message) -> bool:
        """A greeting of the bot's own (it joined the group) counts: the channel says so."""
        return message.is_addressed or (
            not self._manners.commands_need_call and self._is_command(message.text)
        )

    def _unasked(self, message: Message) -> Hearing:
        if not (self._keywords or self._manners.random_rate) or message.kind is not Kind.TEXT:
            return Hearing.SILENT
        now = self._clock.now()
        if not message.text or is_within(self._manners.quiet, now):
            return Hearing.SILENT
        last = self._spoke_unasked.get(message.conversation.place)
        if last is not None and now - last.at < self._manners.cooldown:
            return last.hearing if last.is_of(message) else Hearing.SILENT
        hearing = self._by_words_or_chance(message)
        if hearing is not Hearing.SILENT:
            # The wait begins here: others may say the word while this answer is being prepared.
            self._note(message, hearing, now)
        return hearing

    def _by_words_or_chance(self, message: Message) -> Hearing:
        said = normalise(message.text) if self._keywords else ""
        if any(word in said for word in self._keywords):
            return Hearing.ADDRESSED
        return Hearing.OVERHEARD if self._random() < self._manners.random_rate else Hearing.SILENT

    def _note(self, message: Message, hearing: Hearing, now: datetime) -> None:
        place = message.conversation.place
        self._spoke_unasked[place] = _Unasked(key=message.key, sender=message.sender, hearing=hearing, at=now)
        self._spoke_unasked.move_to_end(place)
        if len(self._spoke_unasked) > MOST_GROUPS:
            self._spoke_unasked.popitem(last=False)
