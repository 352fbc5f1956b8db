"""Retrieval: the passages of the operator's documents that answer a question.

Invariant: every answer is as of the store's present version, also when another process changed it; what
ranks is how passages compare for one question, never a raw score against a fixed threshold.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anyio
import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Embedder, Matrix, Vector
from bot.knowledge.catalogue import Product
from bot.knowledge.catalogue_file import CatalogueFile
from bot.knowledge.library import Library, prepare_all
from bot.knowledge.passage import Passage
from bot.knowledge.ports import FlatIndex, PassageStore, TokenEmbedder
from bot.knowledge.ranking import (
    CANDIDATES,
    CLOSE_CANDIDATES,
    Candidates,
    Ranked,
    candidates,
    closeness,
    fused,
)

CONTEXT_CHARACTERS = 500
"""A short passage is found and quotes well, and says little alone: docs/decisions/0090."""
MOST_ALIKE = 2
"""Products nobody named that may stand behind the passages."""
CLOSE_SECONDS = 0.3
"""A question of 20 characters takes 0.03, one of 240 0.3; a machine that takes longer has no time for it."""
_INLINE_FLOATS = 1_500_000
"""A search of up to 3,000 × 512 floats is quicker than a change of thread (measured)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievedPassage:
    """A passage and why it was found."""

    passage: Passage
    score: float
    """What it was ranked by, 0 to 1 + `EXACT_BONUS`; compares within one question only."""
    dense: float | None
    """The cosine to the question; None when either has no vector."""
    lexical: float
    """How much of the question's words it holds, weighed by rarity, 0 to 1; 0: not one."""
    among: int = 1
    """How many passages it was compared with: the best of many is near by chance."""
    context: tuple[Passage, ...] = ()
    """What a model reads: the passage among its neighbours in the document, in their order, up to
    `CONTEXT_CHARACTERS`. Contexts of one question may overlap. (): the passage alone."""
    is_named: bool = False
    """A product that the question names: it belongs to the answer whatever its words."""

    is_given: bool = False
    """A rule that touches the question gave it: it may be read whatever its words."""


class Retrieval:
    """Dense and keyword search over all passages, fused."""

    def __init__(
        self,
        store: PassageStore,
        make_index: Callable[[Matrix], FlatIndex],
        embedder: Embedder | None,
        catalogue: CatalogueFile | None = None,
        tokens: TokenEmbedder | None = None,
    ) -> None:
        """Without an embedder, keywords alone find. `catalogue`: products, searched along. `tokens`: with it the
        candidates are compared with the question token by token, where that is known in time."""
        self._store = store
        self._make_index = make_index
        self._embedder = embedder
        self._catalogue = catalogue
        self._tokens = tokens
        self._libraries: dict[str, Library] = {}
        """By the app_id that has documents of its own; "" is what all share."""
        self._libraries_key = (0, "", 0)
        self._loading = anyio.Lock()

    async def retrieve(
        self, question: str, k: int, query_vector: Vector | None = None, app_id: str = ""
    ) -> tuple[RetrievedPassage, ...]:
        """At most `k` passages, best first; () when nothing is ingested or no word is shared and there
        is no vector. In addition, products that the question names stand before them; where it names none,
        those that share its words stand behind.

        `query_vector` is the question's `(d,)` vector of this embedder, made once by the caller and
        shared with recall. Without one, keywords alone find. `app_id`: the official account or bot that
        was asked; documents of another are not searched.
        """
        if k <= 0:
            return ()
        library = await self._current(app_id)
        named, alike = await self._products(question)
        try:
            passages = await self._ranked(library, question, k, query_vector)
        except EmbedderUnavailable:
            # Not a vector of these passages, such as one of another dimension.
            passages = await self._ranked(library, question, k, None)
        return (*named, *passages, *alike)

    async def _ranked(
        self, library: Library, question: str, k: int, query_vector: Vector | None
    ) -> tuple[RetrievedPassage, ...]:
        if not library.passages:
            return ()
        has_tokens = self._tokens is not None and query_vector is not None and library.index is not None
        depth = CLOSE_CANDIDATES if has_tokens else CANDIDATES
        if library.matrix.size <= _INLINE_FLOATS:
            found = candidates(library, question, query_vector, depth)
        else:
            found = await anyio.to_thread.run_sync(candidates, library, question, query_vector, depth)
        close = await self._closeness(library, question, found) if has_tokens else None
        return tuple(_found(library, each) for each in fused(library, question, found, close, k))

    async def _closeness(
        self, library: Library, question: str, found: Candidates
    ) -> NDArray[np.float32] | None:
        """None where it isn't known in time: the vectors of the whole then rank alone."""
        if self._tokens is None:
            return None
        ids = np.array([library.passages[int(place)].id for place in found.places], np.int64)
        with anyio.move_on_after(CLOSE_SECONDS):
            stored = await self._store.passage_tokens(ids.tolist(), self._tokens.model_id)
            if not stored:
                return None
            try:
                asked = await self._tokens.embed_question(question)
            except EmbedderUnavailable:
                return None
            return await anyio.to_thread.run_sync(closeness, ids, asked, stored)
        return None

    async def _products(
        self, question: str
    ) -> tuple[tuple[RetrievedPassage, ...], tuple[RetrievedPassage, ...]]:
        """(products that are named, products that share words): one of both is empty."""
        if self._catalogue is None:
            return (), ()
        catalogue = await self._catalogue.catalogue()
        if not catalogue.products:
            return (), ()
        if named := catalogue.named_in(question):
            return tuple(_retrieved(each, score=1.0, is_named=True) for each in named), ()
        alike = catalogue.like(question, MOST_ALIKE)
        return (), tuple(_retrieved(product, score=share, is_named=False) for product, share in alike)

    async def _current(self, app_id: str) -> Library:
        key = (await self._store.knowledge_version(), *self._model())
        if not self._libraries or self._libraries_key != key:
            async with self._loading:
                if not self._libraries or self._libraries_key != key:
                    _, model_id, dimension = key
                    sheet = await self._store.passage_sheet(model_id, dimension)
                    self._libraries = await anyio.to_thread.run_sync(prepare_all, sheet, self._make_index)
                    if self._tokens is not None and len(sheet.embedded_ids):
                        with contextlib.suppress(EmbedderUnavailable):
                            await self._tokens.warm()
                    self._libraries_key = (sheet.version, model_id, dimension)
        return self._libraries.get(app_id) or self._libraries[""]

    def _model(self) -> tuple[str, int]:
        """Id and dimension of the vectors to compare with; ("", 0) for none yet."""
        if self._embedder is None:
            return "", 0
        try:
            return self._embedder.model_id, self._embedder.dimension
        except EmbedderUnavailable:
            # A remote embedder that never answered does not know its dimension.
            return "", 0


def _retrieved(product: Product, *, score: float, is_named: bool) -> RetrievedPassage:
    return RetrievedPassage(
        passage=product.passage, score=score, dense=None, lexical=score, is_named=is_named
    )


def _found(library: Library, ranked: Ranked) -> RetrievedPassage:
    return RetrievedPassage(
        passage=library.passages[ranked.place],
        score=ranked.score,
        dense=ranked.dense,
        lexical=ranked.lexical,
        among=len(library.passages),
        context=_context(library.passages, ranked.place),
    )


def _context(passages: Sequence[Passage], place: int) -> tuple[Passage, ...]:
    """The passage and as many neighbours as fit, taken by turns from behind and before."""
    first = last = place
    document = passages[place].document
    room = CONTEXT_CHARACTERS - len(passages[place].text)
    steps = [1, -1]
    while steps:
        for step in tuple(steps):
            beside = last + 1 if step > 0 else first - 1
            is_neighbour = 0 <= beside < len(passages) and passages[beside].document == document
            if not is_neighbour or len(passages[beside].text) > room:
                steps.remove(step)
                continue
            room -= len(passages[beside].text)
            first, last = min(first, beside), max(last, beside)
    return tuple(passages[first : last + 1])
