"""Keep two bots from answering each other for ever.

Invariant: bounded memory; who types like a person is never taken for a bot.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass

from bot.conversation.message import AccountKey, Message

AT_ONCE_SECONDS = 3.0
"""What comes this soon after our answer was written before it was read. People do so now and then, bots each
time."""
SILENT_SECONDS = 600.0
MOST_CHAINS = 10_000


@dataclass(slots=True)
class _Chain:
    answered_at: float | None = None
    """None: nothing was answered since the last one that counted."""
    length: int = 0
    silent_until: float = float("-inf")


class LoopGuard:
    def __init__(self, *, longest: int, other_bots: Collection[str], monotonic: Callable[[], float]) -> None:
        """`longest`: messages at once after an answer, running, until their sender is left alone for ten minutes; 0:
        never. `other_bots`: `AccountKey.address` of each known one."""
        self._longest = longest
        self._other_bots = frozenset(other_bots)
        self._monotonic = monotonic
        self._chains: OrderedDict[tuple[AccountKey, str], _Chain] = OrderedDict()

    def is_barred(self, message: Message) -> bool:
        """A known bot, or somebody who goes on like one."""
        if message.sender.address in self._other_bots:
            return True
        chain = self._chains.get(_who(message))
        return chain is not None and self._monotonic() < chain.silent_until

    def taken_up(self, message: Message, *, has_waited: bool) -> None:
        """A message will be answered. Only the first that comes after an answer counts, for or against its sender: those
        behind it may have been on their way. `has_waited`: it was there before the answer."""
        chain = self._chains.get(_who(message))
        if chain is None or chain.answered_at is None or has_waited:
            return
        now = self._monotonic()
        chain.length = chain.length + 1 if now - chain.answered_at < AT_ONCE_SECONDS else 0
        chain.answered_at = None
        if chain.length >= self._longest:
            chain.silent_until, chain.length = now + SILENT_SECONDS, 0

    def answered(self, message: Message) -> None:
        if not self._longest:
            return
        chain = self._chains.setdefault(_who(message), _Chain())
        chain.answered_at = self._monotonic()
        self._chains.move_to_end(_who(message))
        if len(self._chains) > MOST_CHAINS:
            self._chains.popitem(last=False)


def _who(message: Message) -> tuple[AccountKey, str]:
    return message.sender, message.conversation.place
