"""Python's collector of cycles, set for a process that holds much and never lets go of it.

Invariant: nothing is collected here; only what is looked through, and how often.
"""

import gc

YOUNG_OBJECTS = 10_000
"""More than the messages under way hold at once: what is looked through before they are done is still in use. Passes
cost half as much in all as at 2,000, and each takes some ten milliseconds when fifty messages are under way."""
YOUNG_PASSES = 20
MIDDLE_PASSES = 10


def spare_what_stays() -> None:
    """Once all is put together. Libraries, rules and models are 180,000 objects: looking through them took 50 ms,
    in which nobody was answered, every few hundred messages, and a seventh of all the processor's time."""
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, YOUNG_PASSES, MIDDLE_PASSES)
