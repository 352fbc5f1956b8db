"""How far a change of the embedding model has come, and what it needs of the stores.

Invariant: counts, names of models and a rate; never a text or a person.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from bot.conversation.ports import Matrix
from bot.conversation.scope import Scope
from bot.knowledge.passage import Passage
from bot.memory.fact import Fact

Kind: TypeAlias = tuple[str, int]
"""Model id and dimension."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewal:
    """How far the change from other models has come."""

    old_models: tuple[str, ...]
    facts_done: int
    facts_left: int
    """Vectors of the old models, of which some may be of facts that ended: they are not made anew."""
    passages_done: int
    passages_left: int
    is_begun: bool
    """New vectors have been made beside the old ones, or have taken their place."""

    @property
    def left(self) -> int:
        return self.facts_left + self.passages_left

    @property
    def total(self) -> int:
        return self.facts_done + self.passages_done + self.left


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A renewal, and how fast it goes."""

    model: str
    renewal: Renewal
    per_second: float
    """Of this process; 0 before the first batch."""

    @property
    def seconds_left(self) -> float | None:
        return self.renewal.left / self.per_second if self.per_second else None

    @property
    def text(self) -> str:
        """In 简体中文."""
        renewal = self.renewal
        share = 100 * (renewal.total - renewal.left) // max(renewal.total, 1)
        said = f"重做向量：剩记忆 {renewal.facts_left} 条、资料 {renewal.passages_left} 段，已完成 {share}%"
        if self.seconds_left is not None:
            said += f"，每秒 {self.per_second:.1f} 条，约剩 {duration(self.seconds_left)}"
        return said


class VectorStore(Protocol):
    """All vectors of the house. Each raises StoreUnavailable."""

    async def renewal(self, kind: Kind) -> Renewal | None:
        """None: every vector is of this kind, and no byte of others is left."""
        ...

    async def begin(self, kind: Kind) -> None:
        """Drop what was being made of other kinds."""
        ...

    async def stale_scopes(self, kind: Kind, beyond: int, limit: int) -> tuple[tuple[int, Scope], ...]:
        """(number, scope) with a number above `beyond`, by number: those where vectors of other kinds answer."""
        ...

    async def facts_to_renew(
        self, scope: Scope, kind: Kind, limit: int, but_for: Collection[int]
    ) -> tuple[Scope, tuple[Fact, ...]]:
        """Facts that have no vector of this kind, of one account whose memories are searched together with the
        scope's."""
        ...

    async def change_over(self, scope: Scope, kind: Kind, but_for: Collection[int]) -> bool:
        """Let the vectors of this kind answer, on all that a search of the scope covers, and delete the others;
        unless a fact lacks its own. Whether it was done."""
        ...

    async def passages_to_renew(self, kind: Kind, beyond: int, limit: int) -> tuple[Passage, ...]: ...

    async def add_passage_vectors(self, ids: Sequence[int], vectors: Matrix, kind: Kind) -> None: ...

    async def change_over_passages(self, kind: Kind, but_for: Collection[int]) -> bool: ...

    async def finish(self, kind: Kind) -> None:
        """No byte of the old vectors is left in any file when it returns."""
        ...


class FactVectors(Protocol):
    async def add_vectors(
        self, scope: Scope, fact_ids: Sequence[int], vectors: Matrix, model_id: str
    ) -> None: ...


def duration(seconds: float) -> str:
    """In 简体中文."""
    if seconds < 90:
        return f"{seconds:.0f} 秒"
    return f"{seconds / 60:.0f} 分钟" if seconds < 5400 else f"{seconds / 3600:.1f} 小时"
