"""A question in the one form that references are read in: half width, and simplified characters for traditional ones.

Invariant: what was simplified has each character where it was.
"""

from bot.conversation.simplified import simplified
from bot.memory.entities.folding import folded

LONGEST_ASKED = 500
"""Characters looked at: who points at something is brief."""


def read(text: str) -> str:
    """The beginning of a text, folded and simplified."""
    return simplified(folded(text[:LONGEST_ASKED]).text)
