"""The house: a bot that remembers each person, wherever they write from, and forgets on request."""

import os

# Read by numpy when it is first imported. With huge pages, filling a large person's vectors holds the interpreter for up to
# thirty milliseconds at a time, while the system looks for two megabytes in one piece (docs/decisions/0123).
os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
