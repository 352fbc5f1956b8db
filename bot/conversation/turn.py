"""A Message and its Reply together: the unit of short-term memory."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One exchange. `answer` is "" where the bot stayed silent."""

    id: int
    """Grows with time within a scope. 0 before it is stored."""
    question: str
    answer: str
    at: datetime
    """Aware, UTC: when the person wrote."""
