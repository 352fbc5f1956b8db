"""Which recalled memories a prompt has room for.

Invariant: pure; the order stays, and the best memory always has room: an answer without any would be worse than a
prompt that is a little longer.
"""

from collections.abc import Sequence

from bot.conversation.tokens import estimate_tokens
from bot.memory.fact import Fact

LINE_TOKENS = 12
"""What the prompt writes around a memory: the dash, quotation marks and its date."""


def tokens_of(fact: Fact) -> int:
    """Of its line in the prompt, about."""
    return estimate_tokens(fact.text) + LINE_TOKENS


def room(facts: Sequence[Fact], budget_tokens: int) -> list[bool]:
    """For each, best first, whether it has room. A short one may have it where a longer one before had none."""
    fits: list[bool] = []
    left = budget_tokens
    for fact in facts:
        tokens = tokens_of(fact)
        fits.append(not fits or tokens <= left)
        left -= tokens if fits[-1] else 0
    return fits
