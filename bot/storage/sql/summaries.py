"""Rolling summaries in SQL: one a shelf, kept with the facts of a turn, and forgotten with any turn it tells of.

Invariant: a summary is stored only while all it was made of is there as it was read, so nothing forgotten meanwhile
comes back in it; of one that lost a word no word is left.
"""

import sqlite3
from collections.abc import Iterable
from typing import Any

from sqlalchemy import and_, bindparam, delete, exists, func, select, update

from bot.conversation.scope import Scope
from bot.memory.sought import Sought
from bot.memory.summary import MOST_CONDENSED, NewSummary, OpenTalk, Summary
from bot.storage.sql.database import Database
from bot.storage.sql.schema import from_ms, summary, to_ms, turn
from bot.storage.sql.scopes import find_shelf
from bot.storage.sql.shelves import as_list, listed
from bot.storage.sql.statements import Row, Statement, constant, insert_into
from bot.storage.sql.turn_reading import turn_of

_OF_SHELF = Statement(
    select(summary.c.text, summary.c.from_turn, summary.c.to_turn, summary.c.at).where(
        summary.c.shelf_id == bindparam("shelf")
    )
)
_OPEN = Statement(
    select(turn.c.id, turn.c.question, turn.c.answer, turn.c.at)
    .where(
        turn.c.shelf_id == bindparam("shelf"),
        turn.c.id > bindparam("beyond"),
        turn.c.is_passing == constant(0),
    )
    .order_by(turn.c.id.desc())
    .limit(MOST_CONDENSED)
)
_STILL_THERE = Statement(
    select(func.count()).where(turn.c.shelf_id == bindparam("shelf"), turn.c.id.in_(listed("turns")))
)
_insert = insert_into(summary, "shelf_id", "from_turn", "to_turn", "text", "at")
_KEEP = Statement(
    _insert.on_conflict_do_update(
        index_elements=["shelf_id"],
        set_={name: _insert.excluded[name] for name in ("from_turn", "to_turn", "text", "at")},
    )
)
_DELETE_ALL = Statement(delete(summary).where(summary.c.shelf_id.in_(listed("shelves"))))


def _blanked(condition: Any) -> Statement:
    """To be made anew."""
    return Statement(
        update(summary).where(summary.c.to_turn > 0, condition).values(from_turn=0, to_turn=0, text="")
    )


_BLANK_OF_TURNS = _blanked(
    and_(
        # By the key of the summary: the condition below alone would ask every summary there is.
        summary.c.shelf_id.in_(select(turn.c.shelf_id).where(turn.c.id.in_(listed("turns")))),
        exists(
            select(turn.c.id).where(
                turn.c.id.in_(listed("turns")),
                turn.c.shelf_id == summary.c.shelf_id,
                turn.c.id >= summary.c.from_turn,
                turn.c.id <= summary.c.to_turn,
            )
        ),
    )
)
_TEXTS = Statement(
    select(summary.c.shelf_id, summary.c.text).where(
        summary.c.shelf_id.in_(listed("shelves")), summary.c.to_turn > 0
    )
)
_BLANK_OF_SHELVES = _blanked(summary.c.shelf_id.in_(listed("shelves")))
_BLANK_ALL = _blanked(summary.c.text != "")


class SqlSummaries:
    """`SummaryReader`. What it reads, `SqlFacts.keep` wrote."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open_talk(self, scope: Scope) -> OpenTalk | None:
        """A few rows by index. Raises StoreUnavailable."""

        def look(connection: sqlite3.Connection) -> OpenTalk | None:
            shelf = find_shelf(connection, scope.account, scope.place)
            if shelf is None:
                return None
            row = _OF_SHELF.first(connection, shelf=shelf)
            previous = read_summary(row) if row is not None else None
            rows = _OPEN.rows(connection, shelf=shelf, beyond=previous.to_turn if previous else 0)
            return OpenTalk(
                turns=tuple(turn_of(*each) for each in reversed(rows)),
                previous=previous,
                is_lost=row is not None and previous is None,
            )

        return await self._database.glance(look)


def summary_of(connection: sqlite3.Connection, shelf: int) -> Summary | None:
    row = _OF_SHELF.first(connection, shelf=shelf)
    return read_summary(row) if row is not None else None


def read_summary(row: Row) -> Summary | None:
    """None: its words were forgotten."""
    text, from_turn, to_turn, at = row
    return Summary(text=text, from_turn=from_turn, to_turn=to_turn, at=from_ms(at)) if to_turn else None


def keep_summary(connection: sqlite3.Connection, shelf: int, new: NewSummary) -> None:
    """In the caller's transaction."""
    if summary_of(connection, shelf) != new.previous:
        return
    there = _STILL_THERE.first(connection, shelf=shelf, turns=as_list(new.turns))
    if there is None or there[0] != len(new.turns):
        return
    _KEEP.run(
        connection,
        shelf_id=shelf,
        from_turn=new.previous.from_turn if new.previous else new.turns[0],
        to_turn=new.turns[-1],
        text=new.text,
        at=to_ms(new.at),
    )


def with_words(connection: sqlite3.Connection, shelves: str, sought: Sought) -> list[int]:
    """Whose summaries hold what is sought, by their shelves. `shelves`: a JSON list of ids, here and below."""
    return [shelf for shelf, text in _TEXTS.rows(connection, shelves=shelves) if sought.is_in(text)]


def forget_shelves(connection: sqlite3.Connection, shelves: str) -> int:
    """Returns how many there were."""
    return _DELETE_ALL.run(connection, shelves=shelves).rowcount


def forget_turns(connection: sqlite3.Connection, turns: Iterable[int]) -> None:
    """Before these turns are deleted: what tells of them is to be made anew."""
    _BLANK_OF_TURNS.run(connection, turns=as_list(turns))


def forget_words(connection: sqlite3.Connection, shelves: str, sought: Sought) -> int:
    """What holds it is to be made anew. Returns how many did."""
    named = as_list(with_words(connection, shelves, sought))
    return _BLANK_OF_SHELVES.run(connection, shelves=named).rowcount


def forget_all(connection: sqlite3.Connection) -> None:
    """Everybody's are to be made anew."""
    _BLANK_ALL.run(connection)
