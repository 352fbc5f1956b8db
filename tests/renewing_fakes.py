"""Embedders of several models over one file, and a renewal that uses one of them."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.conversation.errors import EmbedderUnavailable, ModelRefused
from bot.conversation.ports import Matrix, Vector
from bot.metrics import Metrics
from bot.pacing import Pace
from bot.renewing import Renewing
from bot.storage.sql.reembedding import SqlVectors
from tests.memory_stage import Stage, vector_of, vectors_of


@dataclass
class SaltedEmbedder:
    """An `Embedder` whose vectors are its model's own. `refused`: texts it declines."""

    model_id: str
    dimension: int
    is_away: bool = False
    refused: frozenset[str] = frozenset()
    batches: list[int] = field(default_factory=list)

    @property
    def kind(self) -> tuple[str, int]:
        return self.model_id, self.dimension

    def vector(self, text: str) -> Vector:
        return vector_of(f"{self.model_id}\n{text}", self.dimension)

    async def embed_query(self, text: str) -> Vector:
        return self.vector(text)

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if self.is_away:
            raise EmbedderUnavailable("away")
        if self.refused.intersection(texts):
            raise EmbedderUnavailable("declined") from ModelRefused("declined")
        self.batches.append(len(texts))
        return vectors_of([f"{self.model_id}\n{text}" for text in texts], self.dimension)


def renewing_of(stage: Stage, embedder: SaltedEmbedder | None, metrics: Metrics | None = None) -> Renewing:
    return Renewing(
        vectors=SqlVectors(stage.database, stage.clock),
        facts=stage.facts,
        embedder=embedder,
        pace=Pace(),
        metrics=metrics or Metrics(),
        # Every batch seems slow: batches get small, so that much happens between them.
        monotonic=itertools.count().__next__,
    )
