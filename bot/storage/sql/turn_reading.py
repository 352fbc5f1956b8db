"""Turns from their rows.

Invariant: a turn is what its row says; of equal rows it is the same one.
"""

from functools import lru_cache

from bot.conversation.turn import Turn
from bot.storage.sql.schema import from_ms

_LATELY = 4_096
"""Turns kept: the windows of a few hundred people, in about 1 KB each. Those of one window are most of the next, and
are read once more when what was said is judged."""


@lru_cache(_LATELY)
def turn_of(turn_id: int, question: str, answer: str, at_ms: int) -> Turn:
    """`at_ms`: as stored."""
    return Turn(id=turn_id, question=question, answer=answer, at=from_ms(at_ms))
