"""The last gate before a vector is used: right shape, finite, not zero, and of length one.

Invariant: nothing passes that would make an inner product meaningless.
"""

from collections.abc import Sequence

import numpy as np

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Matrix

LEAST_NORM = 1e-6
"""A shorter vector is rounding noise: dividing by its length would invent a direction."""


def unit_rows(rows: Sequence[object] | Matrix, count: int, dimension: int | None) -> Matrix:
    """`rows` as `(count, d)` float32, each row L2-normalised; `dimension` None accepts any d > 0.

    Raises:
        EmbedderUnavailable: too few or too many rows, a wrong or no dimension, zero, NaN or infinity.
    """
    if len(rows) != count:
        raise EmbedderUnavailable(f"向量数目不对：要 {count} 个，得到 {len(rows)} 个")
    if count == 0:
        return np.empty((0, dimension or 0), dtype=np.float32)
    try:
        matrix = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise EmbedderUnavailable("向量不是等长的数字列表") from None
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise EmbedderUnavailable("向量是空的")
    if dimension is not None and matrix.shape[1] != dimension:
        raise EmbedderUnavailable(f"向量维度不对：应为 {dimension}，得到 {matrix.shape[1]}（换过模型吗？）")
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    # NaN and infinity fail this comparison too; a plain `norms < LEAST_NORM` would let NaN through.
    if not bool(np.all((norms >= LEAST_NORM) & np.isfinite(norms))):
        raise EmbedderUnavailable("向量全为零，或含有不是数字的值")
    return np.ascontiguousarray(matrix / norms, dtype=np.float32)
