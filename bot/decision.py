"""What a stage of the story decides about one message."""

from dataclasses import dataclass

from bot.conversation.message import Reply
from bot.ports import Taken

SILENCE = Reply(text="", decided_by="nobody")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A reply and what becomes of it."""

    reply: Reply
    is_turn: bool = False
    """Part of the conversation: enters short-term memory and may be consolidated."""
    taken: Taken | None = None
    """The page of a held delivery which this reply hands over."""
    hides_question: bool = False
    """The delivery doesn't name what was asked."""
