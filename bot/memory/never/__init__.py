"""What never becomes a fact, whoever judges: orders, links, other people's words, records that are made up, what isn't
meant.

Invariant: pure; linear in the text. It looks at words alone, so it also takes some that were true: a memory that is
missing is told again, one that was planted is not noticed.
"""

from bot.memory.never.own_words import Barred, barred, own_clauses
from bot.memory.never.secrets import is_secret

__all__ = ["Barred", "barred", "is_secret", "own_clauses"]
