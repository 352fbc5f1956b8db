"""Exact inner-product search over one matrix.

Invariant: an index never changes after it was built.
"""

import faiss
import numpy as np
from numpy.typing import NDArray

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Matrix, Vector

Rows = NDArray[np.int64]
"""Places in a matrix, each below its length."""
FEW = 64
"""Rows."""


class FewRows:
    """`FlatIndex` over so few rows that numpy has found the best before faiss has looked at its settings."""

    def __init__(self, matrix: Matrix) -> None:
        """See `FaissFlat`; the matrix itself is kept."""
        self.rows, self.dimension = matrix.shape
        self._matrix = matrix

    @property
    def size_bytes(self) -> int:
        return 4 * self.rows * self.dimension

    def search(self, query: Vector, k: int, among: Rows | None = None) -> list[tuple[int, float]]:
        """See `FaissFlat.search`."""
        check_query(query, self.dimension)
        if k < 1 or not self.rows:
            return []
        scores = self._matrix @ query
        best = np.argsort(-scores, kind="stable")
        best = (best if among is None else best[np.isin(best, among)])[:k]
        return list(zip(best.tolist(), scores[best].tolist(), strict=True))


def make_flat(matrix: Matrix) -> "FewRows | FaissFlat":
    """The quicker of both for this many rows."""
    return FewRows(matrix) if len(matrix) <= FEW else FaissFlat(matrix)


def check_query(query: Vector, dimension: int) -> None:
    """Raises EmbedderUnavailable when the query is no vector of this dimension."""
    if query.shape != (dimension,) or not query.size or not bool(np.isfinite(query).all()):
        raise EmbedderUnavailable(f"no vector of {dimension} finite numbers: shape {query.shape}")


class FaissFlat:
    """`FlatIndex` on faiss `IndexFlatIP`: 4·n·d bytes, no training, no recall to lose."""

    def __init__(self, matrix: Matrix) -> None:
        """`matrix` is `(n, d)` float32 with L2-normalised rows; its memory is copied."""
        self.rows, self.dimension = matrix.shape
        self._index: faiss.IndexFlatIP | None = None
        if self.rows and self.dimension:
            self._index = faiss.IndexFlatIP(self.dimension)
            self._index.add(np.ascontiguousarray(matrix, dtype=np.float32))

    @property
    def size_bytes(self) -> int:
        return 4 * self.rows * self.dimension

    def search(self, query: Vector, k: int, among: Rows | None = None) -> list[tuple[int, float]]:
        """(row, inner product), best first, at most `k`; of these rows alone, where some are given.

        Raises EmbedderUnavailable when the query is no vector of this matrix's dimension.
        """
        check_query(query, self.dimension)
        if self._index is None or k < 1:
            return []
        # OpenMP's setting belongs to the calling thread, and any thread may call. Two threads are
        # slower than one for a single query.
        faiss.omp_set_num_threads(1)
        question = np.ascontiguousarray(query[np.newaxis, :], dtype=np.float32)
        if among is None:
            scores, rows = self._index.search(question, min(k, self.rows))
        elif len(among):
            chosen = faiss.SearchParameters(sel=faiss.IDSelectorBatch(np.sort(among)))
            scores, rows = self._index.search(question, min(k, len(among)), params=chosen)
        else:
            return []
        return [(int(row), float(score)) for row, score in zip(rows[0], scores[0], strict=True)]
