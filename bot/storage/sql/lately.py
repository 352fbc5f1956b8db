"""What was kept a moment ago, for who holds what there was before: it need not be read from the file again.

Invariant: answers only where what was kept leads without a gap from the version that is held to the one that the database
has; each is noted after its commit, so none tells of what was rolled back. Nothing that expires is noted.
"""

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.conversation.ports import Matrix
from bot.memory.fact import MemoryVersion, NewFact
from bot.memory.fact_rows import CODES, NEVER, FactRows
from bot.memory.ports import FactSheet, VectorSheet
from bot.storage.sql.schema import to_ms
from bot.storage.sql.shelves import Covered

MOST_FACTS = 8_192
"""Of everybody: 16 MB of vectors. Who was kept something longest ago goes first."""
EACH = 8
"""Times: what a person says between two messages is kept within one or two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Facts that one transaction added to a shelf, and nothing else that changed it."""

    shelf: int
    before: int
    after: int
    """The shelf's versions."""
    ids: tuple[int, ...]
    facts: tuple[NewFact, ...]
    told_times: tuple[str, ...]
    """Of each, as written beside it."""
    slot: int
    """Of the first vector."""
    matrix: Matrix | None
    """`(n, d)`; None: they have no vectors yet, or not on the side that answers."""

    @property
    def is_lasting(self) -> bool:
        return all(each.expires_at is None for each in self.facts)


class Lately:
    def __init__(self) -> None:
        self._by_shelf: OrderedDict[int, deque[Kept]] = OrderedDict()
        self._facts = 0

    def note(self, kept: Kept) -> None:
        """Once it is committed."""
        if not kept.is_lasting:
            return
        of_shelf = self._by_shelf.setdefault(kept.shelf, deque())
        self._by_shelf.move_to_end(kept.shelf)
        of_shelf.append(kept)
        self._facts += len(kept.ids)
        if len(of_shelf) > EACH:
            self._facts -= len(of_shelf.popleft().ids)
        while self._facts > MOST_FACTS:
            _, oldest = self._by_shelf.popitem(last=False)
            self._facts -= sum(len(each.ids) for each in oldest)

    def clear(self) -> None:
        """Something was forgotten."""
        self._by_shelf.clear()
        self._facts = 0

    def facts(self, covered: Covered, since: MemoryVersion) -> FactSheet | None:
        """What was added since that version, by time; None: it has to be read."""
        chain = self._chain(covered, since)
        if chain is None:
            return None
        pairs = [pair for kept in chain for pair in zip(kept.ids, kept.facts, strict=True)]
        new = [each for _, each in pairs]
        rows = FactRows(
            ids=np.array([each for each, _ in pairs], np.int64),
            kinds=np.array([CODES[each.kind] for each in new], np.int8),
            texts=[each.text for each in new],
            importance=np.array([each.importance for each in new], np.float64),
            said_at=np.array([to_ms(each.said_at) * 1000 for each in new], np.int64),
            said_again_at=np.full(len(new), NEVER, np.int64),
            channels=[covered.shelves[0].channel] * len(new),
            told_times=[told for kept in chain for told in kept.told_times],
        )
        return FactSheet(version=covered.version, facts=rows.by_time())

    def vectors(
        self, covered: Covered, since: MemoryVersion, slots: Sequence[int], model_id: str, dimension: int
    ) -> VectorSheet | None:
        """Those added behind `slots`, by time; None: they have to be read."""
        chain = self._chain(covered, since)
        if chain is None:
            return None
        (shelf,) = covered.shelves
        if (shelf.model, shelf.dimension) != (model_id, dimension):
            return None
        (slot,) = slots
        ids: list[int] = []
        said_at: list[int] = []
        parts: list[Matrix] = []
        for kept in chain:
            if kept.matrix is None:
                continue
            if kept.slot != slot or kept.matrix.shape[1] != dimension:
                return None
            slot += len(kept.matrix)
            ids += kept.ids
            said_at += [to_ms(each.said_at) for each in kept.facts]
            parts.append(kept.matrix)
        if slot != shelf.size or said_at != sorted(said_at):
            return None
        return VectorSheet(
            version=covered.version,
            fact_ids=np.array(ids, np.int64),
            matrix=np.concatenate(parts) if parts else np.empty((0, dimension), np.float32),
            slots=(slot,),
        )

    def _chain(self, covered: Covered, since: MemoryVersion) -> list[Kept] | None:
        """From one version to the other. Texts of several shelves may be the same: those are read."""
        if len(covered.shelves) != 1 or len(since.shelves) != 1:
            return None
        ((shelf, version),) = since.shelves
        now = covered.shelves[0]
        chain: list[Kept] = []
        for kept in self._by_shelf.get(now.id, ()) if shelf == now.id else ():
            if kept.before == version:
                chain.append(kept)
                version = kept.after
        return chain if chain and version == now.version else None
