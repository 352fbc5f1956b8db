"""What memory needs from the stores. Every call names a Scope or a person."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bot.conversation.ports import Matrix, Vector
from bot.conversation.scope import PersonId, Scope
from bot.conversation.turn import Turn
from bot.memory.entities.entity import SeenEntity
from bot.memory.fact import Fact, ForgetReceipt, MemoryVersion, NewFact


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSheet:
    """A scope's current facts and the version they were read at, in one snapshot."""

    version: MemoryVersion
    facts: tuple[Fact, ...]
    """By `said_at`, oldest first."""
    fresh_until: datetime | None = None
    """When the first of them expires: a kept copy is stale from then on, at the same version too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSheet:
    """A scope's vectors and the version they were read at, in one snapshot."""

    version: MemoryVersion
    fact_ids: NDArray[np.int64]
    """`(n,)`, time-ordered within each shelf."""
    matrix: Matrix
    """`(n, d)`. Rows of another embedding model, and of facts that have expired, are left out."""
    fresh_until: datetime | None = None
    """When the first of them expires: a kept copy is stale from then on, at the same version too."""
    slots: tuple[int, ...] = ()
    """How far each shelf of `version` was read: where `newer_vectors` begins."""


class TurnWindow(Protocol):
    """Short-term memory: the last turns of a scope, oldest first."""

    async def recent(self, scope: Scope) -> tuple[Turn, ...]:
        """At most the configured number of turns. Raises StoreUnavailable."""
        ...

    async def append(self, scope: Scope, turn: Turn) -> None:
        """Add a *committed* turn. Idempotent by turn id. Raises StoreUnavailable."""
        ...

    async def drop(self, scope: Scope) -> None:
        """Forget the window (the turns themselves live in SQL). Raises StoreUnavailable."""
        ...


class WindowCache(Protocol):
    """A quicker copy of the windows, which may lose any of them at any time."""

    async def recent(self, scope: Scope) -> tuple[Turn, ...]:
        """The copied window, oldest first; empty when there is no copy. Raises StoreUnavailable."""
        ...

    async def append(self, scope: Scope, turn: Turn) -> bool:
        """Add a turn to the copy, if there is one, and say so. Idempotent. Raises StoreUnavailable."""
        ...

    async def refill(self, scope: Scope, turns: Sequence[Turn]) -> None:
        """Put these in place of the copy. Raises StoreUnavailable."""
        ...

    async def drop(self, scope: Scope) -> None:
        """Delete every copy of the person, in every place and of every epoch. Raises StoreUnavailable."""
        ...


class FactReader(Protocol):
    """The current facts of a scope."""

    async def version(self, scope: Scope) -> MemoryVersion: ...

    async def fact_sheet(self, scope: Scope) -> FactSheet: ...

    async def newer_facts(self, scope: Scope, version: MemoryVersion, beyond: int) -> FactSheet | None:
        """What was added since a sheet of this `version`, whose highest fact id is `beyond` (0: it had none).

        Together they are the sheet of the version returned, while nothing of the first has expired. None
        when something else than adding happened: the sheet has to be read anew.
        """
        ...


class FactForgetter(FactReader, Protocol):
    """Facts that can be found and deleted."""

    async def forget_facts(
        self, scope: Scope, fact_ids: Sequence[int], words: Sequence[str] = ()
    ) -> ForgetReceipt:
        """Delete these facts, their vectors and the turns they came from, if they are in `scope`, with them all of the
        scope that have the same text; and the turns there that hold one of `words`, also where no fact is named.

        Ids of anyone else are ignored without a word. After it returns no byte is left on disk.
        """
        ...


class PersonClearer(Protocol):
    """All memory of one person at once."""

    async def clear_person(self, person: PersonId) -> ForgetReceipt:
        """Delete all memory of a person everywhere and raise their epoch.

        After it returns no byte of it is left in database, WAL or free pages.
        """
        ...


class PlaceClearer(Protocol):
    """All memory of one group at once."""

    async def clear_place(self, place: str) -> ForgetReceipt:
        """Delete what was said in one group (`Conversation.place`, never ""): every member's memory of it and
        群公共记忆, nobody's private memory and no other group's.

        Work under way there stores nothing afterwards; work in private is not dropped. After it returns no
        byte is left in database, WAL or free pages.
        """
        ...


class FactKeeper(Protocol):
    """What consolidation writes: facts and their vectors, together."""

    async def keep(
        self,
        scope: Scope,
        facts: Sequence[NewFact],
        vectors: Matrix | None,
        model_id: str,
        *,
        source_turn: int | None,
        job: int | None = None,
        entities: Sequence[SeenEntity] = (),
    ) -> tuple[int, ...]:
        """Store facts and vectors and what was named, and finish `job`, in one transaction.

        `vectors` is None when no embedder answered: the facts are then found by keyword and
        embedded later. A fact whose text the account itself already holds here is stored once; reading
        shows equal texts of linked accounts once, the one stored first. An entity that was seen within a minute before
        is stored once too. An older epoch stores nothing. Returns the ids of the facts newly stored; durable when it
        returns.
        """
        ...

    async def without_vector(self, scope: Scope, model_id: str, limit: int) -> tuple[Fact, ...]:
        """Current facts of `scope.account`'s shelf that have no vector of this model yet."""
        ...

    async def scopes_without_vector(self, limit: int) -> tuple[Scope, ...]:
        """Scopes with current facts that have no vector of any model: the backlog of all people."""
        ...

    async def add_vectors(
        self, scope: Scope, fact_ids: Sequence[int], vectors: Matrix, model_id: str
    ) -> None:
        """Give stored facts their vectors. Drops the shelf's vectors of any other model first."""
        ...


class EntityStore(Protocol):
    """What conversations have named."""

    async def seen(self, scope: Scope, limit: int) -> tuple[SeenEntity, ...]:
        """The newest `limit` of the scope, oldest first, those of one message in the order they stood in.

        Raises StoreUnavailable.
        """
        ...


class VectorStore(Protocol):
    """The vectors of a scope, as a `VectorIndex` reads them."""

    async def version(self, scope: Scope) -> MemoryVersion: ...

    async def vector_sheet(self, scope: Scope, model_id: str, dimension: int) -> VectorSheet: ...

    async def newer_vectors(
        self, scope: Scope, model_id: str, dimension: int, version: MemoryVersion, slots: Sequence[int]
    ) -> VectorSheet | None:
        """What was added since a sheet of this `version` and these `slots` was read.

        Together they are the sheet of the version returned, while nothing of the first has expired. None
        when something else than adding happened: the sheet has to be read anew.
        """
        ...


class FactStore(FactForgetter, FactKeeper, PersonClearer, PlaceClearer, VectorStore, Protocol):
    """Long-term memory, whole: what storage implements."""


class VectorIndex(Protocol):
    """Exact search over one scope's vectors."""

    async def search(self, scope: Scope, query: Vector, k: int) -> list[tuple[int, float]]:
        """(fact id, inner product), best first; always as of the store's present version."""
        ...
