"""Keyword search over one scope's facts.

Invariant: pure; built from one snapshot of the facts and never changed afterwards.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.conversation.lexical import Bm25, exact_tokens
from bot.memory.content_words import content_terms, single_characters
from bot.memory.fact import Fact, FactKind
from bot.memory.few_texts import FewTexts, Terms, terms_of
from bot.memory.normalise import searchable
from bot.memory.time_zh import Window
from bot.memory.topics import topics_asked, topics_told

LASTING = (FactKind.IDENTITY, FactKind.PREFERENCE)
"""Kinds that say who somebody is, whatever is asked."""

FEW_FACTS = 64
"""Up to here counting is quicker than arrays are made: 0.03 ms against 0.2."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one fact's text gives to search by."""

    text: str
    terms: Terms | None
    """None where it was one of many: their index holds them."""
    words: frozenset[str]
    topics: frozenset[int]


class FactIndex:
    """BM25 over facts, with their exact words, topics, weights and times."""

    def __init__(self, facts: Sequence[Fact], previous: "FactIndex | None" = None) -> None:
        """About 0.1 ms a fact, 0.03 ms for one that `previous` has read already: more than a handful
        is work for a thread."""
        self.facts = tuple(facts)
        known: dict[int, Reading] = previous.readings if previous else {}
        self.readings: dict[int, Reading] = {
            fact.id: known.get(fact.id) or _read(fact.text, is_of_few=len(facts) <= FEW_FACTS)
            for fact in self.facts
        }
        """By fact id; the text of a stored fact never changes."""
        self._bm25 = _ranking(self.readings.values())
        self.importance = np.array([fact.importance for fact in self.facts], np.float32)
        """`(n,)`, 0 to 1."""
        self.said_at = np.array([fact.said_at.timestamp() for fact in self.facts], np.float64)
        """`(n,)`: seconds since the epoch, UTC."""
        self.is_lasting = np.array([fact.kind in LASTING for fact in self.facts], np.float32)
        """`(n,)`: 1 for identity and preference."""

    @property
    def newest(self) -> int:
        """The highest id; 0 where there is no fact."""
        return max(self.readings, default=0)

    def with_added(self, facts: Sequence[Fact]) -> tuple[Fact, ...]:
        """Its facts and these, by time."""
        return tuple(sorted((*self.facts, *facts), key=lambda fact: (fact.said_at, fact.id)))

    def said_in(self, window: Window | None) -> slice:
        """The rows of what was said in the window, which lie in a row since facts come by time; None: all."""
        if window is None:
            return slice(0, len(self.facts))
        edges = (window.start.timestamp(), window.end.timestamp())
        first, last = np.searchsorted(self.said_at, edges).tolist()
        return slice(first, last)

    def scores(self, question: str) -> NDArray[np.float32]:
        """`(n,)` float32 ≥ 0: BM25 of the question's content terms, by the order of the facts."""
        terms = content_terms(question)
        if isinstance(self._bm25, FewTexts):
            return self._bm25.scores_of(terms)
        # A term between spaces is a run of its own, so that it comes out of the tokeniser unchanged.
        return self._bm25.scores(" ".join(terms))

    def covered(self, question: str) -> NDArray[np.float32]:
        """`(n,)`: the weighted share of the question's content terms each fact holds, 0 to 1."""
        terms = content_terms(question)
        return self._bm25.held(terms) / np.float32(sum(terms.values()) or 1.0)

    def exact_matches(self, question: str) -> NDArray[np.float32]:
        """`(n,)`: how many of the question's words of letters and digits each fact holds as they are."""
        asked = exact_tokens(searchable(question))
        if not asked:
            return np.zeros(len(self.facts), np.float32)
        return np.array([len(asked & reading.words) for reading in self.readings.values()], np.float32)

    def shared_topics(self, question: str) -> NDArray[np.float32]:
        """`(n,)`: the share of the question's topics each fact is on, 0 to 1.

        A share, since a long message touches half the table, which says nothing.
        """
        asked = topics_asked(question)
        if not asked:
            return np.zeros(len(self.facts), np.float32)
        shared = [len(asked & reading.topics) for reading in self.readings.values()]
        return np.array(shared, np.float32) / np.float32(len(asked))


def _ranking(readings: Collection[Reading]) -> Bm25 | FewTexts:
    if len(readings) > FEW_FACTS:
        return Bm25(reading.text for reading in readings)
    return FewTexts([reading.terms or terms_of(reading.text) for reading in readings])


def _read(text: str, *, is_of_few: bool) -> Reading:
    found = searchable(text)
    searched = f"{found} {' '.join(single_characters(found))}"
    terms = terms_of(searched) if is_of_few else None
    return Reading(searched, terms, exact_tokens(found), topics_told(found))
