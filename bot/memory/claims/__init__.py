"""What a memory claims: of whom, of what, and which value; and when a later claim takes an earlier one's place.

Invariant: pure, linear, no model; what can't be read claims nothing, so nothing is closed or merged for it.
"""

from bot.memory.claims.asserting import is_of_next, is_told_beside, other_amount, still_holds
from bot.memory.claims.claim import SELF, Claim, form
from bot.memory.claims.contradiction import contradicts
from bot.memory.claims.frames import tells_change
from bot.memory.claims.owners import OTHERS
from bot.memory.claims.reading import Reading, read_claims
from bot.memory.claims.sameness import says_the_same

__all__ = [
    "OTHERS",
    "SELF",
    "Claim",
    "Reading",
    "contradicts",
    "form",
    "is_of_next",
    "is_told_beside",
    "other_amount",
    "read_claims",
    "says_the_same",
    "still_holds",
    "tells_change",
]
