"""What we call of faiss."""

import numpy as np
from numpy.typing import NDArray

METRIC_INNER_PRODUCT: int

class IndexFlatIP:
    d: int
    ntotal: int
    def __init__(self, d: int) -> None: ...
    def add(self, x: NDArray[np.float32]) -> None: ...
    def search(self, x: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]: ...

def omp_set_num_threads(num_threads: int) -> None: ...
def knn(
    xq: NDArray[np.float32], xb: NDArray[np.float32], k: int, *, metric: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]: ...
