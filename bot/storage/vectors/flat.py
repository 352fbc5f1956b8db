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
Found = tuple[Rows, NDArray[np.float32]]
"""Rows and their inner products, best first."""
_NOTHING: Found = (np.zeros(0, np.int64), np.zeros(0, np.float32))
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

    def nearest(self, query: Vector, k: int, among: Rows | None = None) -> Found:
        """See `FaissFlat.nearest`."""
        check_query(query, self.dimension)
        if k < 1 or not self.rows:
            return _NOTHING
        scores = self._matrix @ query
        best = np.argsort(-scores, kind="stable")
        best = (best if among is None else best[np.isin(best, among)])[:k]
        return best, scores[best]

    def search(self, query: Vector, k: int, among: Rows | None = None) -> list[tuple[int, float]]:
        """See `FaissFlat.search`."""
        return as_pairs(self.nearest(query, k, among))


def as_pairs(found: Found) -> list[tuple[int, float]]:
    return list(zip(*(each.tolist() for each in found), strict=True))


def make_flat(matrix: Matrix) -> "FewRows | FaissFlat":
    """The quicker of both for this many rows."""
    return FewRows(matrix) if len(matrix) <= FEW else FaissFlat(matrix)


def check_query(query: Vector, dimension: int) -> None:
    """Raises EmbedderUnavailable when the query is no vector of this dimension."""
    if query.shape != (dimension,) or not query.size or not bool(np.isfinite(query).all()):
        raise EmbedderUnavailable(f"no vector of {dimension} finite numbers: shape {query.shape}")


class FaissFlat:
    """`FlatIndex` by faiss's exhaustive search: 4·n·d bytes, no training, no recall to lose."""

    def __init__(self, matrix: Matrix) -> None:
        """`matrix` is `(n, d)` float32 with L2-normalised rows; it is kept as it is, not copied: at a person's first
        question after a while, that costs a quarter of reading it."""
        self.rows, self.dimension = matrix.shape
        self._matrix = np.ascontiguousarray(matrix, dtype=np.float32)
        self._matrix.setflags(write=False)

    @property
    def size_bytes(self) -> int:
        return 4 * self.rows * self.dimension

    def nearest(self, query: Vector, k: int, among: Rows | None = None) -> Found:
        """At most `k`; of these rows alone, where some are given.

        Raises EmbedderUnavailable when the query is no vector of this matrix's dimension.
        """
        check_query(query, self.dimension)
        rows = self._matrix if among is None else self._matrix[among]
        if k < 1 or not len(rows):
            return _NOTHING
        # OpenMP's setting belongs to the calling thread, and any thread may call. Two threads are
        # slower than one for a single query.
        faiss.omp_set_num_threads(1)
        question = np.ascontiguousarray(query[np.newaxis, :], dtype=np.float32)
        scores, found = faiss.knn(question, rows, min(k, len(rows)), metric=faiss.METRIC_INNER_PRODUCT)
        return (found[0] if among is None else among[found[0]]), scores[0]

    def search(self, query: Vector, k: int, among: Rows | None = None) -> list[tuple[int, float]]:
        """(row, inner product), as `nearest`."""
        return as_pairs(self.nearest(query, k, among))
