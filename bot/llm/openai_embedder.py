"""An embedding model behind any OpenAI-compatible endpoint.

Invariant: what it returns is finite, L2-normalised, and of one dimension for the life of the object.
"""

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from bot.conversation.errors import EmbedderUnavailable, ModelRefused, ModelUnavailable
from bot.conversation.ports import Matrix, Vector
from bot.llm.openai_connection import OpenAiConnection
from bot.llm.plain_text import without_unsafe_characters
from bot.llm.unit_vectors import unit_rows

BATCH = 10
"""Texts in one call. 阿里云百炼 takes 10 at most; and decoding 64 would hold the event loop for 36 ms."""
LARGEST_BATCH = 64
LIMIT_CHARACTERS = 2000
"""Longer texts are cut: most endpoints refuse or cut far longer ones, and passages are shorter anyway."""
EMPTY = "。"
"""Sent for a text of nothing, which most endpoints refuse."""


class OpenAiEmbedder:
    """An `Embedder`. Its dimension is a setting, or known from the first answer on."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        model: str,
        timeout_seconds: float = 30.0,
        dimension: int | None = None,
        batch: int = BATCH,
    ) -> None:
        """`timeout_seconds` covers one call of at most `batch` texts (1 to 64), its retry included."""
        if not 1 <= batch <= LARGEST_BATCH:
            raise ValueError(f"batch must be 1 to {LARGEST_BATCH}, not {batch}")
        self._connection = OpenAiConnection(
            base_url=base_url, api_key=api_key, timeout_seconds=timeout_seconds
        )
        self._model = model
        self._dimension = dimension
        self._batch = batch

    @property
    def model_id(self) -> str:
        """`openai:{model}:{dimension}`. Raises EmbedderUnavailable while the dimension is unknown."""
        return f"openai:{self._model}:{self.dimension}"

    @property
    def dimension(self) -> int:
        """Raises EmbedderUnavailable while no answer has told it."""
        if self._dimension is None:
            raise EmbedderUnavailable("还不知道向量的维度：向量服务还没有回答过")
        return self._dimension

    async def warm(self) -> None:
        """Build the client and learn the dimension. Raises EmbedderUnavailable."""
        await self.embed_query(EMPTY)

    async def embed_query(self, text: str) -> Vector:
        return (await self._embed([text]))[0]

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.empty((0, self._dimension or 0), dtype=np.float32)
        starts = range(0, len(texts), self._batch)
        return np.concatenate([await self._embed(texts[start : start + self._batch]) for start in starts])

    async def close(self) -> None:
        await self._connection.close()

    async def _embed(self, texts: Sequence[str]) -> Matrix:
        cleaned = [without_unsafe_characters(text)[:LIMIT_CHARACTERS].strip() or EMPTY for text in texts]
        try:
            document = await self._connection.post(
                "/embeddings", {"model": self._model, "input": cleaned, "encoding_format": "float"}
            )
        except ModelRefused as error:
            raise EmbedderUnavailable("向量服务拒绝了这段内容") from error
        except ModelUnavailable as error:
            raise EmbedderUnavailable(f"向量服务没有回答：{error}") from error
        matrix = unit_rows(_vectors_in_order(document), len(texts), self._dimension)
        self._dimension = int(matrix.shape[1])
        return matrix


def _vectors_in_order(document: object) -> list[object]:
    """The vectors of an answer in the order of the input. Raises EmbedderUnavailable."""
    rows = cast("Mapping[str, object]", document).get("data") if isinstance(document, Mapping) else None
    if not isinstance(rows, list):
        raise EmbedderUnavailable("向量服务的回答里没有向量")
    entries = [cast("dict[str, object]", row) for row in cast("list[object]", rows) if isinstance(row, dict)]
    indices = [entry.get("index") for entry in entries]
    # Servers that leave `index` out, or repeat 0, answer in order; the others may not.
    if sorted(index for index in indices if isinstance(index, int)) == list(range(len(entries))):
        entries.sort(key=lambda entry: cast("int", entry["index"]))
    return [entry.get("embedding") for entry in entries]
