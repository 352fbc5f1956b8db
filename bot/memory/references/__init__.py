"""References: what 「那个单号」, 「上次说的补偿」, 「顺丰那个」 and 「它」 mean of what was said before.

Invariant: pure; nothing is guessed: what two things fit equally well is asked.
"""

from bot.memory.references.finding import find_reference, is_reference
from bot.memory.references.promised import points_at_promise, promised
from bot.memory.references.reference import Ambiguous, Reference, Resolved
from bot.memory.references.reproach import is_reproach
from bot.memory.references.resolving import resolve, rewrite
from bot.memory.references.understanding import may_point, understand

__all__ = [
    "Ambiguous",
    "Reference",
    "Resolved",
    "find_reference",
    "is_reference",
    "is_reproach",
    "may_point",
    "points_at_promise",
    "promised",
    "resolve",
    "rewrite",
    "understand",
]
