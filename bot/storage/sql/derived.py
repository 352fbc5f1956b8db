"""What is made of turns beside the facts: entities and summaries, deleted with what they were made of.

Invariant: what one deletion takes here it takes from both.
"""

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass

from bot.memory.sought import Sought
from bot.storage.sql import entities, summaries


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """How many went."""

    summaries: int = 0
    """Deleted, or to be made anew."""
    entities: int = 0


def have_words(connection: sqlite3.Connection, shelves: str, sought: Sought, texts: Collection[str]) -> bool:
    """Something on these shelves (a JSON list of ids) holds what is sought, or is named in one of the texts."""
    return bool(
        summaries.with_words(connection, shelves, sought)
        or entities.with_words(connection, shelves, sought, texts)
    )


def forget_shelves(connection: sqlite3.Connection, shelves: str) -> Made:
    return Made(
        entities=entities.forget_shelves(connection, shelves),
        summaries=summaries.forget_shelves(connection, shelves),
    )


def forget_turns(connection: sqlite3.Connection, turns: Collection[int]) -> int:
    """Before the turns themselves go. Returns how many entities went."""
    summaries.forget_turns(connection, turns)
    return entities.forget_turns(connection, turns)


def forget_words(
    connection: sqlite3.Connection, shelves: str, sought: Sought, texts: Collection[str]
) -> Made:
    """What `have_words` finds."""
    return Made(
        entities=entities.forget_words(connection, shelves, sought, texts),
        summaries=summaries.forget_words(connection, shelves, sought),
    )
