"""Which shelves a scope covers: the one question that isolates one person's memory from another's.

Invariant: a scope whose account has left its person, or was cleared since, covers nothing, and no scope covers
a shelf that was cleared since. Both readers and
deletions ask here; nothing else joins accounts with shelves to read a memory.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Integer, Select, and_, bindparam, column, func, select

from bot.conversation.scope import Scope
from bot.memory.fact import MemoryVersion
from bot.storage.sql.schema import account, person, shelf
from bot.storage.sql.statements import Row, Statement

_LATELY = 1_024
"""Rows of which what they say is kept: a message asks twice or three times, in as many snapshots."""
ADDED = 1
REWRITTEN = 1 << 32
"""What a change raises `shelf.version` by. The upper half counts the changes by which something is gone or
different, so two versions with the same upper half differ only by facts and vectors added at the end."""

_mine = account.alias("mine")


def covered(*columns: ColumnElement[Any]) -> Select[Any]:
    """SELECT over the accounts of a scope's person, each with its shelf in the place if it has one.

    Parameters: those of `asked`.
    """
    return (
        select(*columns)
        .select_from(_mine)
        .join(person, person.c.id == _mine.c.person_id)
        .join(account, account.c.person_id == person.c.id)
        .outerjoin(
            shelf,
            and_(
                shelf.c.account_id == account.c.id,
                shelf.c.place == bindparam("place"),
                shelf.c.cleared_epoch <= bindparam("epoch"),
            ),
        )
        .where(
            _mine.c.id == bindparam("account"),
            _mine.c.person_id == bindparam("person"),
            _mine.c.cleared_epoch <= bindparam("epoch"),
        )
    )


def asked(scope: Scope) -> dict[str, object]:
    """The parameters of a statement built on `covered`."""
    return {
        "account": scope.account,
        "person": scope.person,
        "epoch": scope.epoch,
        "place": scope.place,
    }


def listed(name: str) -> Select[Any]:
    """The numbers of a JSON list that is passed as the parameter `name` (see `as_list`)."""
    return select(column("value", Integer)).select_from(func.json_each(bindparam(name)))


def as_list(ids: Iterable[int]) -> str:
    """Ids as the parameter of `listed`."""
    return json.dumps([int(each) for each in ids])


COVERED_SHELVES = Statement(
    covered(
        person.c.epoch,
        shelf.c.id,
        shelf.c.version,
        shelf.c.size,
        shelf.c.model,
        shelf.c.dimension,
        shelf.c.side,
        shelf.c.coming_size,
        shelf.c.coming_dimension,
        account.c.channel,
    ).order_by(shelf.c.id)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredShelf:
    """One account's memory in the scope's place."""

    id: int
    version: int
    size: int
    model: str
    dimension: int
    side: int
    """Where those vectors lie."""
    coming_size: int
    """Vectors of another kind on the other side."""
    coming_dimension: int
    channel: str
    """Of its account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """What a scope covers, as of one moment."""

    version: MemoryVersion
    shelves: tuple[CoveredShelf, ...]

    def has_only_grown_since(self, version: MemoryVersion) -> bool:
        """Whether everything there was at `version` is still there as it was."""
        then, now = version.shelves, self.version.shelves
        return (
            self.version.epoch == version.epoch
            and [shelf for shelf, _ in then] == [shelf for shelf, _ in now]
            and all(
                before // REWRITTEN == after // REWRITTEN
                for (_, before), (_, after) in zip(then, now, strict=True)
            )
        )

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(each.id for each in self.shelves)


def read_covered(rows: list[Row]) -> Covered:
    """From the rows of COVERED_SHELVES."""
    return _covered(tuple(rows))


@lru_cache(_LATELY)
def _covered(rows: tuple[Row, ...]) -> Covered:
    shelves = tuple(
        CoveredShelf(
            id=row[1],
            version=row[2],
            size=row[3],
            model=row[4],
            dimension=row[5],
            side=row[6],
            coming_size=row[7],
            coming_dimension=row[8],
            channel=row[9],
        )
        for row in rows
        if row[1] is not None
    )
    # No person has the epoch -1: what is read of a scope that covers nothing equals nothing else.
    epoch = rows[0][0] if rows else -1
    version = MemoryVersion(epoch=epoch, shelves=tuple((each.id, each.version) for each in shelves))
    return Covered(version=version, shelves=shelves)
