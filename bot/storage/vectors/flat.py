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


def check_query(query: Vector, dimension: int) -> None:
    """Raises EmbedderUnavailable when the query is no vector of this dimension."""
    if query.shape != (dimension,) or not query.size or not bool(np.isfinite(query).all()):
        raise EmbedderUnavailable(f"no vector of {dimension} finite numbers: shape {query.shape}")


def nearest(matrix: Matrix, query: Vector, k: int) -> Found:
    """At most `k` rows of a contiguous float32 matrix, for a query that was checked."""
    if k < 1 or not len(matrix):
        return _NOTHING
    # OpenMP's setting belongs to the calling thread, and any thread may call. Two threads are
    # slower than one for a single query.
    faiss.omp_set_num_threads(1)
    question = np.ascontiguousarray(query[np.newaxis, :], dtype=np.float32)
    scores, found = faiss.knn(question, matrix, min(k, len(matrix)), metric=faiss.METRIC_INNER_PRODUCT)
    return found[0], scores[0]


class FaissFlat:
    """`FlatIndex` by faiss's exhaustive search: 4·n·d bytes, no training, no recall to lose."""

    def __init__(self, matrix: Matrix) -> None:
        """`matrix` is `(n, d)` float32 with L2-normalised rows; it is kept as it is, not copied."""
        self.dimension = matrix.shape[1]
        self._matrix = np.ascontiguousarray(matrix, dtype=np.float32)
        self._matrix.setflags(write=False)

    def search(self, query: Vector, k: int) -> list[tuple[int, float]]:
        """(row, inner product), best first, at most `k`.

        Raises EmbedderUnavailable when the query is no vector of this matrix's dimension.
        """
        check_query(query, self.dimension)
        return list(zip(*(each.tolist() for each in nearest(self._matrix, query, k)), strict=True))
