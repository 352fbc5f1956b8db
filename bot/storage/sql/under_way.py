"""What was forgotten while answers were under way: an answer that was begun before, and holds it, is not stored.

Invariant: touched by the writer's thread alone, inside its transactions; nothing is written to disk. An answer under way
does not outlive the process, so neither need this.
"""

import sqlite3
from collections import OrderedDict, deque
from dataclasses import dataclass

from sqlalchemy import func, select

from bot.conversation.scope import PersonId
from bot.memory.sought import Sought
from bot.storage.sql.schema import inbox
from bot.storage.sql.statements import Statement

PEOPLE = 1_000
"""Remembered: those who had something forgotten last."""
EACH = 20
_NEWEST = Statement(select(func.max(inbox.c.id)))


@dataclass(frozen=True, slots=True)
class _Forgetting:
    newest: int
    """Of the inbox then: what came later was written after it."""
    sought: Sought


class UnderWay:
    def __init__(self) -> None:
        self._forgotten: OrderedDict[PersonId, deque[_Forgetting]] = OrderedDict()

    def note(self, connection: sqlite3.Connection, person: PersonId, sought: Sought) -> None:
        row = _NEWEST.first(connection)
        known = self._forgotten.setdefault(person, deque(maxlen=EACH))
        known.append(_Forgetting(newest=row[0] or 0 if row else 0, sought=sought))
        self._forgotten.move_to_end(person)
        if len(self._forgotten) > PEOPLE:
            self._forgotten.popitem(last=False)

    def holds_forgotten(self, person: PersonId, inbox_id: int, text: str) -> bool:
        """Whether a message that came before a forgetting, or its answer, holds what was forgotten then."""
        return any(
            inbox_id <= each.newest and each.sought.is_in(text) for each in self._forgotten.get(person, ())
        )
