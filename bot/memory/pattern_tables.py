"""Tables of patterns, which stand beside their readers as text.

Invariant: a line is a row, its columns parted by "; "; the last may hold that too. Empty lines and those with # say nothing.
"""

from collections.abc import Iterator
from importlib.resources import files


def rows_of(package: str, name: str, columns: int) -> Iterator[list[str]]:
    """Each of `columns` texts. Raises FileNotFoundError."""
    for line in files(package).joinpath(name).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("; ", columns - 1)
