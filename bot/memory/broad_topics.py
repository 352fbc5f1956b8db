"""Topics as people name them when they want them forgotten, wider than those of recall.

Invariant: what is found by them alone is shown to its person and asked about before it goes.
"""

from functools import cache
from importlib.resources import files

from bot.memory.normalise import normalise


@cache
def _topics() -> tuple[tuple[frozenset[str], tuple[str, ...]], ...]:
    """Names, and words of memories."""
    lines = files("bot.memory").joinpath("broad_topics.txt").read_text("utf-8").splitlines()
    rows = [line.split(";") for line in lines if line.strip() and not line.startswith("#")]
    return tuple((frozenset(names.split()), (*names.split(), *told.split())) for names, told in rows)


def is_of_topic(phrase: str, memory: str) -> bool:
    """Whether a memory belongs to a topic that the phrase is a name of."""
    text = normalise(memory)
    return any(any(word in text for word in words) for names, words in _topics() if phrase in names)
