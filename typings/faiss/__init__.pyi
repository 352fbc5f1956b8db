"""What we call of faiss."""

import numpy as np
from numpy.typing import NDArray

class IDSelectorBatch:
    def __init__(self, indices: NDArray[np.int64]) -> None: ...

class SearchParameters:
    def __init__(self, *, sel: IDSelectorBatch) -> None: ...

class IndexFlatIP:
    d: int
    ntotal: int
    def __init__(self, d: int) -> None: ...
    def add(self, x: NDArray[np.float32]) -> None: ...
    def search(
        self, x: NDArray[np.float32], k: int, *, params: SearchParameters | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]: ...

def omp_set_num_threads(num_threads: int) -> None: ...
