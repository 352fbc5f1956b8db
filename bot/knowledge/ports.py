"""What knowledge needs from the stores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bot.conversation.ports import Matrix, Vector
from bot.knowledge.passage import NewPassage, Passage

TokenMatrix: TypeAlias = NDArray[np.int8]
"""`(n, d)`: a row for each token of a passage, of length `TOKEN_LENGTH` but for rounding."""
TOKEN_LENGTH = 127.0


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionTokens:
    """A question, token by token."""

    rows: Matrix
    """`(n, d)` float32, L2-normalised. May have no row."""
    weights: Vector
    """`(n,)`, above 0: how much each says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageTokens:
    """The passages of a document, token by token."""

    model_id: str
    matrices: Sequence[TokenMatrix]
    """In the order of the passages."""


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
        tokens: PassageTokens | None = None,
    ) -> None:
        """Put a document in place of one of the same name, in one transaction."""
        ...

    async def passage_tokens(self, ids: Sequence[int], model_id: str) -> Mapping[int, TokenMatrix]:
        """Of those of these passages that have tokens of this model."""
        ...


class FlatIndex(Protocol):
    """Exact search over a matrix held in memory."""

    def search(self, query: Vector, k: int) -> list[tuple[int, float]]:
        """(row, inner product), best first. Raises EmbedderUnavailable for a vector of another shape."""
        ...


class TokenEmbedder(Protocol):
    """Text to a vector for each token."""

    @property
    def model_id(self) -> str: ...

    async def warm(self) -> None:
        """Have the model at hand. Raises EmbedderUnavailable."""
        ...

    async def embed_question(self, text: str) -> QuestionTokens:
        """Raises EmbedderUnavailable."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> list[TokenMatrix]:
        """In the order of `texts`. Raises EmbedderUnavailable."""
        ...
