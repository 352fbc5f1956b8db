"""What memory needs from the stores. Every call names a Scope or a person."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bot.conversation.ports import Matrix, Vector
from bot.conversation.scope import PersonId, Scope
from bot.conversation.turn import Turn
from bot.memory.entities.entity import SeenEntity
from bot.memory.fact import Fact, ForgetReceipt, MemoryVersion, NewFact
from bot.memory.summary import NewSummary, OpenTalk, RecentTalk


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSheet:
    """A scope's current facts and the version they were read at, in one snapshot."""

    version: MemoryVersion
    facts: Sequence[Fact]
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
    """`(n, d)`, all of the kind asked for. Rows of facts that have expired are left out."""
    fresh_until: datetime | None = None
    """When the first of them expires: a kept copy is stale from then on, at the same version too."""
    slots: tuple[int, ...] = ()
    """How far each shelf of `version` was read: where `newer_vectors` begins."""


class TurnWindow(Protocol):
    """Short-term memory: the last turns of a scope, oldest first."""

    async def recent(self, scope: Scope) -> RecentTalk:
        """At most the configured number of turns, or all that no summary tells of. Raises StoreUnavailable."""
        ...

    async def append(self, scope: Scope, turn: Turn) -> None:
        """Add a *committed* turn. Idempotent by turn id. Raises StoreUnavailable."""
        ...

    async def drop(self, scope: Scope, *, for_good: bool = False) -> None:
        """Forget the window (the turns themselves live in SQL). `for_good`: of words that were forgotten, so that no
        file of a cache keeps them either. Raises StoreUnavailable."""
        ...


class TurnLog(Protocol):
    """Everything said in a scope, as it was said."""

    async def times(self, scope: Scope, limit: int) -> tuple[datetime, ...]:
        """When the last `limit` turns were said, newest first. Raises StoreUnavailable."""
        ...

    async def between(self, scope: Scope, start: datetime, end: datetime, limit: int) -> tuple[Turn, ...]:
        """The last `limit` turns of a half-open window, oldest first. Raises StoreUnavailable."""
        ...


class TurnBefore(Protocol):
    """What was said just before."""

    async def before(self, scope: Scope, turn: int) -> Turn | None:
        """The turn of the scope's account in its place that came before this one. Raises StoreUnavailable."""
        ...


class WindowCache(Protocol):
    """A quicker copy of the windows, which may lose any of them at any time."""

    async def recent(self, scope: Scope) -> RecentTalk:
        """The copied window; without turns when there is no copy. Raises StoreUnavailable."""
        ...

    async def append(self, scope: Scope, turn: Turn) -> bool:
        """Add a turn to the copy, if there is one, and say so. Idempotent. Raises StoreUnavailable."""
        ...

    async def refill(self, scope: Scope, talk: RecentTalk) -> None:
        """Put this in place of the copy. Raises StoreUnavailable."""
        ...

    async def drop(self, scope: Scope, *, for_good: bool = False) -> None:
        """Delete every copy of the person, in every place and of every epoch; `for_good`, also from what the cache
        keeps on disk. Raises StoreUnavailable."""
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


class OutdatedReader(Protocol):
    async def outdated_texts(self, scope: Scope) -> tuple[str, ...]:
        """Of the latest facts that later ones closed, and that nobody holds open in the scope. Raises StoreUnavailable."""
        ...


class FactForgetter(FactReader, Protocol):
    """Facts that can be found and deleted."""

    async def held_facts(self, scope: Scope) -> tuple[Fact, ...]:
        """All that is held of a scope, also what later facts closed and what has expired. Raises StoreUnavailable."""
        ...

    async def forget_facts(
        self,
        scope: Scope,
        fact_ids: Sequence[int],
        words: Sequence[str] = (),
        *,
        turns: Sequence[int] = (),
        asked_in: str = "",
    ) -> ForgetReceipt:
        """Delete these facts, their vectors and the turns they came from, if they are in `scope`, with them all of the
        scope that have the same text; these `turns` of it; and the turns there that hold one of `words`, a text or a
        code of the facts, also where no fact is named.

        Ids of anyone else are ignored without a word. `asked_in`: the key of the message that asks, whose words go
        too. After it returns no byte is left on disk.
        """
        ...


class FactCorrector(Protocol):
    """Facts that later ones close."""

    async def supersede(self, scope: Scope, fact_ids: Sequence[int], by: int) -> int:
        """Close these facts of the scope, and all of it with the same texts, because its fact `by` contradicts them:
        they leave the view, and are not erased. Returns how many were open. Raises StoreUnavailable."""
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
        summary: NewSummary | None = None,
    ) -> tuple[int, ...]:
        """Store facts and vectors, what was named and a summary, and finish `job`, in one transaction.

        `vectors` is None when no embedder answered: the facts are then found by keyword and
        embedded later. A fact whose text the account itself already holds here is stored once; reading
        shows equal texts of linked accounts once, the one stored first. An entity that was seen within a minute before
        is stored once too. A summary is left out when anything it was made of is gone or has changed. An older epoch
        stores nothing. Returns the ids of the facts newly stored; durable when it returns.

        A fact that `repeats` another of the account here, or has its text, raises that one (when it was last said, its
        importance, its life) and is no memory of its own. What a fact `closes` of the scope leaves the view.
        """
        ...

    async def withdraw(self, scope: Scope, fact_ids: Sequence[int], at: datetime) -> int:
        """Close these facts of the scope, which the person denied at `at`: nothing takes their place. Returns how many
        were open. Idempotent. Raises StoreUnavailable."""
        ...

    async def without_vector(self, scope: Scope, model_id: str, limit: int) -> tuple[Fact, ...]:
        """Current facts of `scope.account`'s shelf that lack a vector beside those of this model. Where others answer
        there, none: all are made anew then (`bot.renewing`)."""
        ...

    async def scopes_without_vector(self, limit: int, model_id: str) -> tuple[Scope, ...]:
        """Scopes with current facts that lack one: the backlog of all people."""
        ...

    async def add_vectors(
        self, scope: Scope, fact_ids: Sequence[int], vectors: Matrix, model_id: str
    ) -> None:
        """Give stored facts their vectors: beside those of another model, where these answer on the shelf."""
        ...


class SummaryReader(Protocol):
    """What is to be condensed of a talk."""

    async def open_talk(self, scope: Scope) -> OpenTalk | None:
        """The account's own turns in the place that no summary tells of. None: it has said nothing there.

        Raises StoreUnavailable.
        """
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

    async def vector_sheet(self, scope: Scope, model_id: str, dimension: int) -> VectorSheet:
        """Raises VectorsOfAnotherModel when any of the scope's vectors are of another kind, as `newer_vectors` does."""
        ...

    async def newer_vectors(
        self, scope: Scope, model_id: str, dimension: int, version: MemoryVersion, slots: Sequence[int]
    ) -> VectorSheet | None:
        """What was added since a sheet of this `version` and these `slots` was read.

        Together they are the sheet of the version returned, while nothing of the first has expired. None
        when something else than adding happened: the sheet has to be read anew.
        """
        ...


class FactStore(FactForgetter, FactCorrector, FactKeeper, PersonClearer, PlaceClearer, VectorStore, Protocol):
    """Long-term memory, whole: what storage implements."""


class Nearest(NamedTuple):
    """Facts and their inner products with a question, `(n,)` each, best first."""

    ids: NDArray[np.int64]
    products: NDArray[np.float32]

    def pairs(self) -> list[tuple[int, float]]:
        return list(zip(self.ids.tolist(), self.products.tolist(), strict=True))


class VectorIndex(Protocol):
    """Exact search over one scope's vectors."""

    async def search(
        self, scope: Scope, query: Vector, k: int, among: NDArray[np.int64] | None = None
    ) -> Nearest:
        """At most `k`; always as of the store's present version.

        `among`: the ids of the facts that compete; None: all.
        """
        ...
