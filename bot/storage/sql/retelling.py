"""What is told again: the fact that is there is raised, and what a later fact contradicts is closed.

Invariant: called within the transaction that keeps a turn's facts. Words that say the same as an open fact are stored
closed by it, so that whoever forgets finds them, and nobody recalls them twice.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import bindparam, func, or_, select, update

from bot.conversation.scope import Scope
from bot.memory.fact import NewFact
from bot.storage.sql.fact_columns import is_in_view
from bot.storage.sql.schema import fact, shelf, to_ms
from bot.storage.sql.shelves import COVERED_SHELVES, REWRITTEN, as_list, asked, listed, read_covered
from bot.storage.sql.statements import Statement, insert_into
from bot.storage.sql.superseding import supersede

_IS_OPEN = Statement(
    select(fact.c.id).where(
        fact.c.id == bindparam("fact"), fact.c.shelf_id == bindparam("shelf"), is_in_view()
    )
)
_RAISE = Statement(
    update(fact)
    .where(
        fact.c.id == bindparam("fact"),
        or_(
            func.coalesce(fact.c.said_again_at, fact.c.said_at) < bindparam("at"),
            fact.c.importance < bindparam("importance"),
        ),
    )
    .values(
        said_again_at=func.max(func.coalesce(fact.c.said_again_at, fact.c.said_at), bindparam("at")),
        importance=func.max(fact.c.importance, bindparam("importance")),
        expires_at=func.max(fact.c.expires_at, bindparam("expires_at")),
    )
)
_INSERT_CLOSED = Statement(
    insert_into(
        fact,
        *("shelf_id", "kind", "text", "importance", "said_at", "expires_at", "source_turn", "model"),
        *("valid_to", "superseded_by", "superseded_from"),
    )
)
_IS_HELD = Statement(
    select(fact.c.id).where(
        fact.c.shelf_id == bindparam("shelf"),
        fact.c.text == bindparam("text"),
        fact.c.superseded_by == bindparam("by"),
    )
)
_TOUCH = Statement(
    update(shelf).where(shelf.c.id == bindparam("shelf")).values(version=shelf.c.version + REWRITTEN)
)
_named = fact.alias("named")
_WITHDRAW = Statement(
    update(fact)
    .where(
        fact.c.shelf_id.in_(listed("shelves")),
        fact.c.text.in_(
            select(_named.c.text).where(
                _named.c.id.in_(listed("ids")), _named.c.shelf_id.in_(listed("shelves"))
            )
        ),
        fact.c.valid_to.is_(None),
    )
    .values(valid_to=bindparam("at"))
    .returning(fact.c.shelf_id)
)


def tell_again(connection: sqlite3.Connection, shelf_id: int, new: NewFact, *, of: int, now: int) -> bool:
    """Raise the open fact `of` of the account's own shelf. False: it is not there."""
    if _IS_OPEN.first(connection, fact=of, shelf=shelf_id, now=now) is None:
        return False
    raised = _RAISE.run(
        connection,
        fact=of,
        at=to_ms(new.said_at),
        importance=new.importance,
        expires_at=None if new.expires_at is None else to_ms(new.expires_at),
    )
    if raised.rowcount:
        _TOUCH.run(connection, shelf=shelf_id)
    return True


def keep_words(
    connection: sqlite3.Connection, scope: Scope, shelf_id: int, new: NewFact, *, of: int, turn: int | None
) -> None:
    """The words of a fact that says the same as `of` in others."""
    if _IS_HELD.first(connection, shelf=shelf_id, text=new.text, by=of) is not None:
        return
    at = to_ms(new.said_at)
    _INSERT_CLOSED.run(
        connection,
        shelf_id=shelf_id,
        kind=new.kind.value,
        text=new.text,
        importance=new.importance,
        said_at=at,
        expires_at=None if new.expires_at is None else to_ms(new.expires_at),
        source_turn=turn,
        model="",
        valid_to=at,
        superseded_by=of,
        superseded_from=scope.account,
    )


def close_contradicted(
    connection: sqlite3.Connection, scope: Scope, stored: Mapping[int, int], facts: Iterable[NewFact]
) -> None:
    """`stored`: the id of each fact, by its place among `facts`."""
    for row, new in enumerate(facts):
        if new.closes and row in stored:
            supersede(connection, scope, new.closes, stored[row], at=to_ms(new.said_at))


def withdraw(connection: sqlite3.Connection, scope: Scope, fact_ids: Sequence[int], at: int) -> int:
    """Close these facts of the scope, and all of it with the same texts. Returns how many were open."""
    shelves = as_list(read_covered(COVERED_SHELVES.rows(connection, **asked(scope))).ids)
    closed = _WITHDRAW.rows(connection, shelves=shelves, ids=as_list(fact_ids), at=at)
    for shelf_id in {row[0] for row in closed}:
        _TOUCH.run(connection, shelf=shelf_id)
    return len(closed)
