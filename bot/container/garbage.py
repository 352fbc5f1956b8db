"""Python's collector of cycles, set for a process that holds much and never lets go of it.

Invariant: nothing is collected here; only what is looked through, and how often.
"""

import gc

YOUNG_OBJECTS = 2_000
"""More than the messages under way hold at once; at Python's 700 most of what is looked through is still in use."""
YOUNG_PASSES = 20
MIDDLE_PASSES = 10


def spare_what_stays() -> None:
    """Once all is put together. Libraries, rules and models are 180,000 objects: looking through them took 50 ms,
    in which nobody was answered, every few hundred messages, and a seventh of all the processor's time."""
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, YOUNG_PASSES, MIDDLE_PASSES)
