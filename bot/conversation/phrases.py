"""Which of many fixed strings stand in a text.

Invariant: a hash look-up for each place in the text and each length of string that begins with its
character, so 10,000 strings cost about what ten do; there is no memory budget that could run out.
"""

from collections import defaultdict
from collections.abc import Iterator


class Phrases:
    """Strings, and the numbers of what they belong to."""

    def __init__(self) -> None:
        self._owners: dict[str, list[int]] = defaultdict(list)
        self._lengths: dict[str, list[int]] = {}

    def add(self, phrase: str, owner: int) -> None:
        """`phrase` isn't empty. The same phrase may have many owners."""
        self._owners[phrase].append(owner)
        lengths = self._lengths.setdefault(phrase[0], [])
        if len(phrase) not in lengths:
            lengths.append(len(phrase))
            lengths.sort()

    def owners(self, phrase: str) -> list[int]:
        return self._owners[phrase]

    def found_in(self, text: str) -> Iterator[tuple[int, str]]:
        """(place, phrase), once for each place where a phrase stands, in the order of places."""
        for place, first in enumerate(text):
            if first not in self._lengths:
                continue
            for length in self._lengths[first]:
                phrase = text[place : place + length]
                if phrase in self._owners:
                    yield place, phrase
