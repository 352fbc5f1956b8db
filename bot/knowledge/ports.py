"""What knowledge needs from the stores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bot.conversation.ports import Matrix, Vector
from bot.knowledge.passage import NewPassage, Passage


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageSheet:
    """All passages and their vectors, in one snapshot."""

    version: int
    passages: tuple[Passage, ...]
    """By id."""
    embedded_ids: NDArray[np.int64]
    """`(n,)`: the passages that have a vector of the asked model."""
    matrix: Matrix
    """`(n, d)`, rows as `embedded_ids`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """What is known of a document without reading it."""

    digest: str
    app_id: str
    """The official account or bot it belongs to; "" to all of them."""


class PassageStore(Protocol):
    async def knowledge_version(self) -> int:
        """Changes with every change of any document, also from another process."""
        ...

    async def passage_sheet(self, model_id: str, dimension: int) -> PassageSheet: ...

    async def find_document(self, name: str) -> StoredDocument | None: ...

    async def replace_document(
        self,
        name: str,
        digest: str,
        passages: Sequence[NewPassage],
        vectors: Matrix | None,
        model_id: str,
        app_id: str = "",
    ) -> None:
        """Put a document in place of one of the same name, in one transaction."""
        ...


class FlatIndex(Protocol):
    """Exact search over a matrix held in memory."""

    def search(self, query: Vector, k: int) -> list[tuple[int, float]]:
        """(row, inner product), best first. Raises EmbedderUnavailable for a vector of another shape."""
        ...
