"""A deadline on the embedding of a question: past it, keyword recall serves.

Invariant: `embed_query` returns or raises within `seconds`; passages have no deadline.
"""

import asyncio
from collections.abc import Sequence

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Embedder, Matrix, Vector

QUERY_SECONDS = 0.5
"""Of the five that WeChat gives the whole answer. A short question takes 0.02; past this, the machine
is overloaded or the service is away, and keyword recall is at hand."""


class DeadlineEmbedder:
    """An `Embedder` around another one."""

    def __init__(self, inner: Embedder, seconds: float = QUERY_SECONDS) -> None:
        self._inner = inner
        self._seconds = seconds

    @property
    def model_id(self) -> str:
        return self._inner.model_id

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    async def embed_query(self, text: str) -> Vector:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._inner.embed_query(text)
        except TimeoutError:
            raise EmbedderUnavailable(f"{self._seconds:g} 秒内没有得到问题的向量") from None

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return await self._inner.embed_passages(texts)
