"""The words of this package: an entity, its seven types, and one that was seen in a conversation.

Invariant: pure data; a place is a place in the text as the person wrote it.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class EntityType(StrEnum):
    """What an entity is: one of seven, in a person's words; and what the bot promised, in its own."""

    ORDER_ID = "order_id"
    DATE = "date"
    AMOUNT = "amount"
    PRODUCT_NAME = "product_name"
    ISSUE_TYPE = "issue_type"
    EMOTION = "emotion"
    CONTACT_INFO = "contact_info"
    PROMISE = "promise"


NAMED_TYPES = tuple(kind for kind in EntityType if kind is not EntityType.PROMISE)
"""The seven of a person's words. There is no eighth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """One entity of a message."""

    type: EntityType
    value: str
    """As the person wrote it."""
    normalised: str
    """Equal for equal meaning: `SF1234567890123`, `*8832` (the end of an id), `CNY 300`, `CNY 100-200`,
    `13812345678`, `wx:zhang_3`, `qq:10001`, a window of two ISO times, the name of an issue or emotion."""
    start: int
    end: int
    certainty: float
    """0 to 1: 1 where the form alone or a word before it says what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenEntity:
    """An entity a conversation has seen."""

    type: EntityType
    value: str
    normalised: str
    seen_at: datetime
    """Aware, UTC. All entities of one message have the same."""
    context: str = ""
    """The message it was seen in: what stands beside it tells which one it is."""
    is_over: bool = False
    """What was said of it there holds no longer: it may still be pointed at, and no prompt shows it by itself."""


TAIL_MARK = "*"
"""Before the last digits of an id that is not known whole."""
