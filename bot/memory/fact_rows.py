"""Facts by columns: of thousands that compete in a question a few are shown, and only these are made.

Invariant: never changed; the fact of a row is equal to the one it was made of, each time it is asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import cast, overload

import numpy as np
from numpy.typing import NDArray

from bot.memory.fact import Fact, FactKind

KINDS = tuple(FactKind)
"""By their code."""
NEVER = -(1 << 63)
"""Of what was said once."""
_CODES = {kind: code for code, kind in enumerate(KINDS)}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_BYTES_A_TEXT = 130
"""The string's own, a place in each of three lists, and the times of every other."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FactRows(Sequence[Fact]):
    """As long as each of its columns."""

    ids: NDArray[np.int64]
    kinds: NDArray[np.int8]
    """Places in `KINDS`."""
    texts: list[str]
    importance: NDArray[np.float64]
    said_at: NDArray[np.int64]
    """Microseconds since the epoch, UTC."""
    said_again_at: NDArray[np.int64]
    """The same, or `NEVER`."""
    channels: list[str]
    told_times: list[str | None]
    """As `told_times.written` has them. None: not read yet."""

    @classmethod
    def of(cls, facts: Sequence[Fact]) -> "FactRows":
        if isinstance(facts, FactRows):
            return facts
        return cls(
            ids=np.array([fact.id for fact in facts], np.int64),
            kinds=np.array([_CODES[fact.kind] for fact in facts], np.int8),
            texts=[fact.text for fact in facts],
            importance=np.array([fact.importance for fact in facts], np.float64),
            said_at=np.array([_microseconds(fact.said_at) for fact in facts], np.int64),
            said_again_at=np.array([_microseconds(fact.said_again_at) for fact in facts], np.int64),
            channels=[fact.channel for fact in facts],
            told_times=[None] * len(facts),
        )

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, row: int) -> Fact: ...
    @overload
    def __getitem__(self, row: slice) -> "FactRows": ...
    def __getitem__(self, row: int | slice) -> "Fact | FactRows":
        if isinstance(row, slice):
            return self.at(np.arange(len(self))[row])
        again = int(self.said_again_at[row])
        return Fact(
            id=int(self.ids[row]),
            kind=KINDS[int(self.kinds[row])],
            text=self.texts[row],
            importance=float(self.importance[row]),
            said_at=_moment(int(self.said_at[row])),
            channel=self.channels[row],
            said_again_at=None if again == NEVER else _moment(again),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FactRows | tuple):
            return NotImplemented
        return tuple(self) == tuple(cast("Sequence[Fact]", other))

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __add__(self, other: Sequence[Fact]) -> "FactRows":
        more = FactRows.of(other)
        return FactRows(
            ids=np.concatenate([self.ids, more.ids]),
            kinds=np.concatenate([self.kinds, more.kinds]),
            texts=[*self.texts, *more.texts],
            importance=np.concatenate([self.importance, more.importance]),
            said_at=np.concatenate([self.said_at, more.said_at]),
            said_again_at=np.concatenate([self.said_again_at, more.said_again_at]),
            channels=[*self.channels, *more.channels],
            told_times=[*self.told_times, *more.told_times],
        )

    def at(self, rows: NDArray[np.intp]) -> "FactRows":
        """These rows, in this order."""
        places: list[int] = rows.tolist()
        return FactRows(
            ids=self.ids[rows],
            kinds=self.kinds[rows],
            texts=[self.texts[row] for row in places],
            importance=self.importance[rows],
            said_at=self.said_at[rows],
            said_again_at=self.said_again_at[rows],
            channels=[self.channels[row] for row in places],
            told_times=[self.told_times[row] for row in places],
        )

    def by_time(self) -> "FactRows":
        """Oldest first; what was said at once by id."""
        before, after = self.said_at[:-1], self.said_at[1:]
        if bool(((after > before) | ((after == before) & (self.ids[1:] > self.ids[:-1]))).all()):
            return self
        return self.at(np.lexsort((self.ids, self.said_at)))

    @property
    def size_bytes(self) -> int:
        """Without the characters of the texts."""
        arrays = (self.ids, self.kinds, self.importance, self.said_at, self.said_again_at)
        return sum(each.nbytes for each in arrays) + _BYTES_A_TEXT * len(self)


def _microseconds(moment: datetime | None) -> int:
    return NEVER if moment is None else (moment - _EPOCH) // _MICROSECOND


def _moment(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)
