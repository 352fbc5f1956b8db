"""The questions every write about a person asks inside its transaction.

Invariant: a clearing raises `account.cleared_epoch` to the new epoch of the person; work is current while
its scope's epoch is not below it. Clearing a place raises `shelf.cleared_epoch` likewise, for work there alone.
Joining and parting raise the person's epoch too (so that every cache of the old view is left behind) but not the
accounts' `cleared_epoch`: a job under way survives them, never a clearing. An answer is kept only while the view it was
made with is the person's.
"""

import sqlite3
from collections.abc import Iterable

from sqlalchemy import and_, bindparam, func, select, update

from bot.conversation.scope import AccountId, PersonId, Scope
from bot.storage.sql.schema import account, person, shelf
from bot.storage.sql.statements import Row, Statement, constant, insert_into

_CURRENT = Statement(
    select(account.c.id, shelf.c.id, shelf.c.version)
    .select_from(
        account.outerjoin(
            shelf, and_(shelf.c.account_id == account.c.id, shelf.c.place == bindparam("place"))
        )
    )
    .where(
        account.c.id == bindparam("account"),
        account.c.cleared_epoch <= bindparam("epoch"),
        func.coalesce(shelf.c.cleared_epoch, constant(0)) <= bindparam("epoch"),
    )
)
_SAME_VIEW = Statement(
    select(account.c.id)
    .join_from(account, person, person.c.id == account.c.person_id)
    .where(
        account.c.id == bindparam("account"),
        account.c.person_id == bindparam("person"),
        person.c.epoch <= bindparam("epoch"),
    )
)
_FIND_SHELF = Statement(
    select(shelf.c.id).where(shelf.c.account_id == bindparam("account"), shelf.c.place == bindparam("place"))
)
_MAKE_SHELF = Statement(
    insert_into(shelf, "account_id", "place", "version", "size", "model", "dimension").returning(shelf.c.id)
)
_RAISE_EPOCH = Statement(
    update(person)
    .where(person.c.id == bindparam("person"))
    .values(epoch=person.c.epoch + 1)
    .returning(person.c.epoch)
)
_BAR = Statement(
    update(account)
    .where(account.c.person_id == bindparam("person"))
    .values(cleared_epoch=bindparam("raised"))
)
_RAISE_EPOCHS_IN = Statement(
    update(person)
    .where(
        person.c.id.in_(
            select(account.c.person_id)
            .select_from(shelf.join(account, account.c.id == shelf.c.account_id))
            .where(shelf.c.place == bindparam("place"))
        )
    )
    .values(epoch=person.c.epoch + 1)
)
_BAR_IN = Statement(
    update(shelf)
    .where(shelf.c.place == bindparam("place"))
    .values(
        cleared_epoch=select(person.c.epoch)
        .select_from(account.join(person, person.c.id == account.c.person_id))
        .where(account.c.id == shelf.c.account_id)
        .scalar_subquery()
    )
)


def is_current(connection: sqlite3.Connection, scope: Scope) -> bool:
    """Whether work begun under this scope may still be stored: nobody cleared its account's memory, or its
    place, since."""
    return _current(connection, scope) is not None


def current_shelf(connection: sqlite3.Connection, scope: Scope) -> tuple[int, int] | None:
    """The shelf that work begun under this scope is stored on, made if it is missing, and its version. None: as
    `is_current` has it, nothing may be stored."""
    row = _current(connection, scope)
    if row is None:
        return None
    return (row[1], row[2]) if row[1] is not None else (shelf_of(connection, scope.account, scope.place), 0)


def _current(connection: sqlite3.Connection, scope: Scope) -> Row | None:
    asked = {"account": scope.account, "epoch": scope.epoch, "place": scope.place}
    return _CURRENT.first(connection, **asked)


def has_same_view(connection: sqlite3.Connection, scope: Scope) -> bool:
    """Whether the account's person is who it was in this scope, with the same accounts and nothing cleared since."""
    asked = {"account": scope.account, "person": scope.person, "epoch": scope.epoch}
    return _SAME_VIEW.first(connection, **asked) is not None


def find_shelf(connection: sqlite3.Connection, account: AccountId, place: str) -> int | None:
    """The shelf of an account in a place."""
    row = _FIND_SHELF.first(connection, account=account, place=place)
    return None if row is None else row[0]


def shelf_of(connection: sqlite3.Connection, account: AccountId, place: str) -> int:
    """The shelf of an account in a place, made if it is missing."""
    found = find_shelf(connection, account, place)
    if found is not None:
        return found
    made = _MAKE_SHELF.first(
        connection, account_id=account, place=place, version=0, size=0, model="", dimension=0
    )
    assert made is not None
    return made[0]


def bar_older_work(connection: sqlite3.Connection, person: PersonId) -> int | None:
    """Raise a person's epoch so that work under way is dropped; for a clearing. Returns the new epoch,
    None when there is no such person."""
    row = _RAISE_EPOCH.first(connection, person=person)
    if row is None:
        return None
    _BAR.run(connection, person=person, raised=row[0])
    return row[0]


def bar_older_work_in(connection: sqlite3.Connection, place: str, also: Iterable[AccountId] = ()) -> None:
    """As `bar_older_work`, for all who have a shelf in a place, but only for their work there; for a clearing.

    `also`: accounts at work there, who are given a shelf to note it on.
    """
    for each in also:
        shelf_of(connection, each, place)
    _RAISE_EPOCHS_IN.run(connection, place=place)
    _BAR_IN.run(connection, place=place)
