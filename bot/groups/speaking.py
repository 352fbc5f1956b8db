"""When the bot speaks in a group.

Invariant: who calls is answered, unless the group switched the bot off or the caller is a bot; unasked it speaks
only where the operator allowed it.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.conversation.message import Kind, Message
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
        self._keywords = tuple(normalise(word) for word in manners.keywords)
        self._is_switching_on = is_switching_on
        self._is_command = is_command
        self._clock = clock
        self._random = random
        self._spoke_unasked: OrderedDict[str, datetime] = OrderedDict()

    def judge(self, message: Message) -> Hearing:
        """Asked once for each message of a group."""
        if self._loops.is_barred(message):
            return Hearing.SILENT
        if not self._switch.is_on(message.conversation.place):
            is_back = self._is_called(message) and self._is_switching_on(message.text)
            return Hearing.ADDRESSED if is_back else Hearing.SILENT
        if self._is_called(message):
            self._loops.called(message)
            return Hearing.ADDRESSED
        return self._unasked(message)

    def answered(self, message: Message, hearing: Hearing, *, was_called: bool) -> None:
        """Note that the bot has said something to it. `was_called`: as the channel saw it."""
        if hearing is Hearing.ADDRESSED:
            self._loops.answered(message)
        if not was_called:
            self._spoke_unasked[message.conversation.place] = self._clock.now()
            self._spoke_unasked.move_to_end(message.conversation.place)
            if len(self._spoke_unasked) > MOST_GROUPS:
                self._spoke_unasked.popitem(last=False)

    def _is_called(self, message: Message) -> bool:
        """A greeting of the bot's own (it joined the group) counts: the channel says so."""
        return message.is_addressed or (
            not self._manners.commands_need_call and self._is_command(message.text)
        )

    def _unasked(self, message: Message) -> Hearing:
        if not (self._keywords or self._manners.random_rate) or message.kind is not Kind.TEXT:
            return Hearing.SILENT
        if not message.text or self._is_quiet(message.conversation.place):
            return Hearing.SILENT
        said = normalise(message.text)
        if any(word in said for word in self._keywords):
            return Hearing.ADDRESSED
        return Hearing.OVERHEARD if self._random() < self._manners.random_rate else Hearing.SILENT

    def _is_quiet(self, place: str) -> bool:
        now = self._clock.now()
        if is_within(self._manners.quiet, now):
            return True
        last = self._spoke_unasked.get(place)
        return last is not None and now - last < self._manners.cooldown
