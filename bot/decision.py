"""What a stage of the story decides about one message."""

from dataclasses import dataclass
from datetime import datetime

from bot.conversation.message import Reply

SILENCE = Reply(text="", decided_by="nobody")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A reply and what becomes of it."""

    reply: Reply
    is_turn: bool = False
    """Part of the conversation: enters short-term memory and may be consolidated."""
    taken: int | None = None
    """The held delivery one page of which this reply hands over."""
    taken_at: datetime | None = None
    """When that delivery was made."""
