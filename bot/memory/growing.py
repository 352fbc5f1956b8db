"""Columns that grow at their end, a little each time, and aren't copied each time.

Invariant: what is added is written behind what is there, in room at which nobody who holds a shorter state looks. So a
state never changes, and those that share their room begin alike. Whoever adds to states that may share their room does so
one after another, as the loop does; a state may be read in any thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]
LEAST_ROOM = 16


@dataclass(slots=True)
class _Room:
    columns: tuple[Column, ...]
    filled: int
    """Rows, of those there is room for."""


class Growing:
    """Columns of one length, each `(n, …)`."""

    __slots__ = ("_room", "columns")

    def __init__(self, columns: Sequence[Column]) -> None:
        """Keeps them as they are, until there is something to add."""
        self.columns = tuple(columns)
        self._room: _Room | None = None

    def __len__(self) -> int:
        return len(self.columns[0])

    @property
    def size_bytes(self) -> int:
        """With the room there is, which several states may share."""
        held = self.columns if self._room is None else self._room.columns
        return sum(each.nbytes for each in held)

    def with_added(self, more: Sequence[Column]) -> "Growing":
        """These rows behind its own: copied only where there is no room, or another state has taken it. Raises ValueError
        where the columns' lengths or forms differ."""
        if len({len(each) for each in more}) > 1:
            raise ValueError("columns of different lengths")
        before, count = len(self), len(self) + len(more[0])
        room = self._room
        if room is None or room.filled != before or count > len(room.columns[0]):
            room = _Room(tuple(_roomier(each, count) for each in self.columns), before)
        for column, added in zip(room.columns, more, strict=True):
            if column.shape[1:] != added.shape[1:]:
                raise ValueError(f"rows of {column.shape[1:]} and of {added.shape[1:]}")
            column[before:count] = added
        room.filled = count
        grown = Growing([column[:count] for column in room.columns])
        grown._room = room
        return grown

    def grew_from(self, other: "Growing") -> bool:
        """Whether it is known, without a look at the rows, to begin with those of `other`. What had to be copied has
        another room, and says no."""
        return self._room is not None and self._room is other._room and len(self) >= len(other)


def _roomier(column: Column, count: int) -> Column:
    """Half as large again as is needed: over all additions a row is copied twice in the mean."""
    roomy = np.empty((max(count + count // 2, LEAST_ROOM), *column.shape[1:]), column.dtype)
    roomy[: len(column)] = column
    return roomy
