"""Vectors from nothing but the text: texts that share character pairs lie near each other.

Invariant: the same text gives the same vector in every process and on every machine.
"""

import hashlib
import itertools
import math


def vector_of(text: str, dimension: int) -> list[float]:
    """`dimension` numbers, L2-normalised. Each character pair adds ±1 at a place that its hash picks."""
    padded = f"\x02{text}\x03"
    vector = [0.0] * dimension
    for first, second in itertools.pairwise(padded):
        digest = hashlib.blake2b((first + second).encode("utf-8", "replace"), digest_size=8).digest()
        place = int.from_bytes(digest[:7], "big") % dimension
        vector[place] += 1.0 if digest[7] & 1 else -1.0
    length = math.sqrt(sum(value * value for value in vector))
    if length == 0.0:
        # All pairs may cancel out in few dimensions; a zero vector would be a fault of the simulator.
        return [1.0] + [0.0] * (dimension - 1)
    return [value / length for value in vector]
