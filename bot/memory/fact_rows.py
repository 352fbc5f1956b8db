"""Facts by columns: of thousands that compete in a question a few are shown, and only these are made.

Invariant: never changed; the fact of a row is equal to the one it was made of, each time it is asked for.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import cast, overload

import numpy as np
from numpy.typing import NDArray

from bot.memory.fact import Fact, FactKind
from bot.memory.growing import Growing

KINDS = tuple(FactKind)
"""By their code."""
NEVER = -(1 << 63)
"""Of what was said once."""
CODES = {kind: code for code, kind in enumerate(KINDS)}
"""The places of the kinds in `KINDS`."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_BYTES_A_TEXT = 106
"""The string's own, and the times of every other."""


class FactRows(Sequence[Fact]):
    """As long as each of its columns."""

    __slots__ = (
        "_held",
        "channels",
        "ids",
        "importance",
        "kinds",
        "said_again_at",
        "said_at",
        "texts",
        "told_times",
    )

    ids: NDArray[np.int64]
    kinds: NDArray[np.int8]
    """Places in `KINDS`."""
    texts: NDArray[np.object_]
    importance: NDArray[np.float64]
    said_at: NDArray[np.int64]
    """Microseconds since the epoch, UTC."""
    said_again_at: NDArray[np.int64]
    """The same, or `NEVER`."""
    channels: NDArray[np.object_]
    told_times: NDArray[np.object_]
    """As `told_times.written` has them. None: not read yet."""

    def __init__(
        self,
        *,
        ids: NDArray[np.int64],
        kinds: NDArray[np.int8],
        texts: Sequence[str],
        importance: NDArray[np.float64],
        said_at: NDArray[np.int64],
        said_again_at: NDArray[np.int64],
        channels: Sequence[str],
        told_times: Sequence[str | None],
    ) -> None:
        words, names, times = (np.array(each, np.object_) for each in (texts, channels, told_times))
        self._hold(Growing((ids, kinds, words, importance, said_at, said_again_at, names, times)))

    @classmethod
    def of(cls, facts: Sequence[Fact]) -> "FactRows":
        if isinstance(facts, FactRows):
            return facts
        return cls(
            ids=np.array([fact.id for fact in facts], np.int64),
            kinds=np.array([CODES[fact.kind] for fact in facts], np.int8),
            texts=[fact.text for fact in facts],
            importance=np.array([fact.importance for fact in facts], np.float64),
            said_at=np.array([_microseconds(fact.said_at) for fact in facts], np.int64),
            said_again_at=np.array([_microseconds(fact.said_again_at) for fact in facts], np.int64),
            channels=[fact.channel for fact in facts],
            told_times=[None] * len(facts),
        )

    def _hold(self, held: Growing) -> None:
        self._held = held
        (
            self.ids,
            self.kinds,
            self.texts,
            self.importance,
            self.said_at,
            self.said_again_at,
            self.channels,
            self.told_times,
        ) = held.columns

    @classmethod
    def _of(cls, held: Growing) -> "FactRows":
        rows = cls.__new__(cls)
        rows._hold(held)
        return rows

    def __len__(self) -> int:
        return len(self.ids)

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
        """See `Growing.with_added`."""
        return self._of(self._held.with_added(FactRows.of(other)._held.columns))

    def grew_from(self, other: "FactRows") -> bool:
        """See `Growing.grew_from`."""
        return self._held.grew_from(other._held)

    def at(self, rows: NDArray[np.intp]) -> "FactRows":
        """These rows, in this order."""
        return self._of(Growing([each[rows] for each in self._held.columns]))

    def by_time(self) -> "FactRows":
        """Oldest first; what was said at once by id."""
        before, after = self.said_at[:-1], self.said_at[1:]
        if bool(((after > before) | ((after == before) & (self.ids[1:] > self.ids[:-1]))).all()):
            return self
        return self.at(np.lexsort((self.ids, self.said_at)))

    def is_before(self, later: "FactRows") -> bool:
        """Whether all of it was said before all of these, both by time."""
        return not len(self) or not len(later) or bool(self.said_at[-1] < later.said_at[0])

    @property
    def size_bytes(self) -> int:
        """Without the characters of the texts."""
        return self._held.size_bytes + _BYTES_A_TEXT * len(self)


def _microseconds(moment: datetime | None) -> int:
    return NEVER if moment is None else (moment - _EPOCH) // _MICROSECOND


def _moment(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)
