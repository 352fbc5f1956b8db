"""What the platforms' rooms bring into the house, and the machine's clock.

Invariant: the house knows a channel by its name alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from bot.answering.question import Pictures
from bot.conversation.message import Message
from bot.delivery import Outbox
from bot.union_lookup import UnionIds
from identity.ports import LoginPort, PhonePort

Paginate = Callable[[str], tuple[str, ...]]


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class MiniProgram(LoginPort, PhonePort, Protocol):
    """Of the operator, beside the official accounts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """What the platforms' rooms bring: who can speak first, and how long a page may be."""

    outboxes: Mapping[str, Outbox] = field(default_factory=dict[str, Outbox])
    paginate: Mapping[str, Paginate] = field(default_factory=dict[str, Paginate])
    pictures: Pictures | None = None
    """How the pictures of a message are fetched."""
    union_ids: Mapping[str, UnionIds] = field(default_factory=dict[str, UnionIds])
    """By channel: who can be asked for a unionid."""
    mini_program: MiniProgram | None = None
    may_show_drafts: Callable[[Message], bool] = lambda message: False
    """Whether the beginning of an answer may have to be shown before the rest is there."""

    def pages(self, channel: str, text: str) -> tuple[str, ...]:
        """A reply cut for its channel; one page where the channel has no limit."""
        paginate = self.paginate.get(channel)
        return paginate(text) if paginate else (text,)
