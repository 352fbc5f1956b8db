"""Keyword search over one scope's facts.

Invariant: pure; made of one snapshot of the facts and never changed afterwards. A later one takes over what it shares
with it: who chats adds a memory with each message, and only that is read.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache, cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bot.conversation.lexical import K1, B, exact_tokens, is_joined
from bot.memory.answer_forms import Form, forms_asked, told_form
from bot.memory.content_words import FUNCTION_CHARACTERS, content_terms
from bot.memory.fact import Fact, FactKind
from bot.memory.fact_rows import KINDS, NEVER, FactRows
from bot.memory.normalise import searchable
from bot.memory.searched import Codes, Hits, Part, Rows, codes_of
from bot.memory.time_zh import Window
from bot.memory.told_times import read_written, times_told
from bot.memory.topics import told_words, topics_asked

LASTING = (FactKind.IDENTITY, FactKind.PREFERENCE)
"""Kinds that say who somebody is, whatever is asked."""
_LASTS = np.array([kind in LASTING for kind in KINDS], np.float32)
_DERIVED_BYTES = 24
"""A fact: its weight and its kind's, four each, and when it was said first and last, eight each."""
ENTRY_BYTES = 4_000
"""Beside the facts: what an index without any holds."""
SMALL_PART = 512
"""Texts. A part with fewer is joined with each memory added: 0.03 ms, a third of what one part more costs a question."""
MOST_LARGER = 3
"""Times as large as what is added a part may be to be joined with it: so a person has few parts, and a memory is joined
a few times in all."""

_Content: TypeAlias = tuple[list[Hits], NDArray[np.float64], NDArray[np.float64]]
"""Of a question's content terms: where they stand, their rarities and weights."""


_Signs: TypeAlias = tuple[Codes, re.Pattern[str] | None]
"""What tells that a memory has something: terms, and what is no term."""


class FactIndex:
    """Words, topics and forms of facts, with their weights and times."""

    def __init__(self, facts: Sequence[Fact], previous: "FactIndex | None" = None) -> None:
        """2 µs a fact that `previous` has not read already (`rows_to_read`), and 0.15 ms."""
        self.facts = FactRows.of(facts)
        self.parts = _parts(self.facts, previous)
        self.ids = self.facts.ids
        """`(n,)`"""
        self.known_times = _times_of(self.facts, previous)
        """Of `times_told`, by the fact's id."""
        self._latest: tuple[str, _Content] | None = None
        self.order = _order_of(self.facts, previous)
        """Rows by id; None where they are in that order."""

    @cached_property
    def importance(self) -> NDArray[np.float32]:
        """`(n,)`, 0 to 1."""
        return self.facts.importance.astype(np.float32)

    @cached_property
    def is_lasting(self) -> NDArray[np.float32]:
        """`(n,)`: 1 for identity and preference."""
        return _LASTS[self.facts.kinds]

    @cached_property
    def said_at(self) -> NDArray[np.float64]:
        """`(n,)`: seconds since the epoch, UTC."""
        return self.facts.said_at / 1e6

    @cached_property
    def last_said_at(self) -> NDArray[np.float64]:
        """`(n,)`: of what was told more than once, the last time."""
        again = self.facts.said_again_at
        return np.where(again == NEVER, self.facts.said_at, again) / 1e6

    def knows_times_of(self, row: int) -> bool:
        """Whether its times were read before."""
        return self.facts.told_times[row] is not None or int(self.ids[row]) in self.known_times

    def times_told(self, row: int) -> tuple[Window, ...]:
        """The times that a fact names, as meant when it was said. Read once: a person's questions ask about the same
        months."""
        key = int(self.ids[row])
        if (known := self.known_times.get(key)) is None:
            told = self.facts.told_times[row]
            known = _read(self.facts[row]) if told is None else read_written(told)
            self.known_times[key] = known
        return known

    @property
    def size_bytes(self) -> int:
        parts = sum(each.size_bytes for each in self.parts)
        return self.facts.size_bytes + parts + _DERIVED_BYTES * len(self.facts) + ENTRY_BYTES

    @property
    def newest(self) -> int:
        """The highest id; 0 where there is no fact."""
        return int(self.ids.max(initial=0))

    def with_added(self, facts: Sequence[Fact]) -> FactRows:
        """Its facts and these, by time."""
        if not len(facts):
            return self.facts
        more = FactRows.of(facts).by_time()
        together = self.facts + more
        return together if self.facts.is_before(more) else together.by_time()

    def rows_of(self, ids: NDArray[np.int64]) -> Rows:
        """Where the facts of these ids stand; -1 of those that aren't here."""
        if not len(self.ids) or not len(ids):
            return np.full(len(ids), -1)
        rows = np.minimum(np.searchsorted(self.ids, ids, sorter=self.order), len(self.ids) - 1)
        rows = rows if self.order is None else self.order[rows]
        return np.where(self.ids[rows] == ids, rows, -1)

    def said_in(self, window: Window | None) -> Rows:
        """What was said in the window, also what was then said again; None: all."""
        if window is None:
            return np.arange(len(self.facts))
        start, end = window.start.timestamp(), window.end.timestamp()
        first = (self.said_at >= start) & (self.said_at < end)
        last = (self.last_said_at >= start) & (self.last_said_at < end)
        return np.flatnonzero(first | last)

    def said_about(self, window: Window, span: timedelta) -> Rows:
        """What was said outside the window, by at most so much before or after."""
        near = Window(start=window.start - span, end=window.end + span)
        return np.setdiff1d(self.said_in(near), self.said_in(window), assume_unique=True)

    def scores(self, question: str) -> NDArray[np.float32]:
        """`(n,)` float32 ≥ 0: BM25 of the question's content terms, by the order of the facts."""
        found, rarities, _ = self._content(question)
        if not self.facts:
            return np.zeros(0, np.float32)
        lengths = np.concatenate([each.lengths for each in self.parts])
        mean = max(float(lengths.mean()), 1.0)
        scores: list[NDArray[np.float32]] = []
        for part, hits in zip(self.parts, found, strict=True):
            dampings = K1 * (1 - B + B * part.lengths[hits.rows] / mean)
            weights = rarities[hits.terms] * hits.counts * (K1 + 1) / (hits.counts + dampings)
            scores.append(np.bincount(hits.rows, weights, part.size).astype(np.float32))
        return self._joined(scores)

    def covered(self, question: str) -> NDArray[np.float32]:
        """`(n,)`: the weighted share of the question's content terms each fact holds, 0 to 1.

        A term counts by the root of its rarity: a rare word more than a common one, the rarest alone doesn't decide.
        """
        found, rarities, weights = self._content(question)
        counted = weights * np.sqrt(rarities)
        return self._summed(found, counted / (counted.sum() or 1.0))

    def exact_matches(self, question: str) -> NDArray[np.float32]:
        """`(n,)`: how many of the question's words of letters and digits each fact holds as they are."""
        asked = exact_tokens(searchable(question))
        if not asked:
            return np.zeros(len(self.facts), np.float32)
        return self._summed(self._hits(codes_of(tuple(asked))), np.ones(len(asked)))

    def shared_topics(self, question: str) -> NDArray[np.float32]:
        """`(n,)`: the share of the question's topics each fact is on, 0 to 1.

        A share, since a long message touches half the table, which says nothing.
        """
        return self._share({topic: _signs_of(told_words(topic)) for topic in topics_asked(question)})

    def forms(self, question: str) -> NDArray[np.float32]:
        """`(n,)`: the share of the forms of an answer the question asks for that each fact has, 0 to 1."""
        return self._share({form: _signs_of(*told_form(form)) for form in forms_asked(question)})

    def _share(self, signs: Mapping[int | Form, _Signs]) -> NDArray[np.float32]:
        shares = np.zeros(len(self.facts), np.float32)
        for key, (terms, pattern) in signs.items():
            finds = None if pattern is None else pattern.search
            start = 0
            for part in self.parts:
                shares[start : start + part.size] += part.flagged(key, terms, finds)
                start += part.size
        return shares / np.float32(len(signs) or 1)

    def _hits(self, asked: Codes) -> list[Hits]:
        """Of each part."""
        return [each.hits(asked) for each in self.parts]

    def _summed(self, found: Sequence[Hits], weights: NDArray[np.float64]) -> NDArray[np.float32]:
        sums = (
            np.bincount(hits.rows, weights[hits.terms], part.size)
            for part, hits in zip(self.parts, found, strict=True)
        )
        return self._joined([each.astype(np.float32) for each in sums])

    def _content(self, question: str) -> _Content:
        """The scores and the share of one question need the same."""
        if self._latest is None or self._latest[0] != question:
            terms = content_terms(question)
            found = self._hits(codes_of(tuple(terms)))
            weights = np.array(list(terms.values()), np.float64)
            self._latest = question, (found, self._rarities(found, len(terms)), weights)
        return self._latest[1]

    def _rarities(self, found: Sequence[Hits], count: int) -> NDArray[np.float64]:
        """`(count,)`: of each term, always positive (Lucene's form)."""
        holding = np.zeros(count)
        for hits in found:
            holding += np.bincount(hits.terms, minlength=count)
        return np.log1p((len(self.facts) - holding + 0.5) / (holding + 0.5))

    def _joined(self, parts: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)


def _read(fact: Fact) -> tuple[Window, ...]:
    return times_told(fact.text, fact.said_at)


@cache
def _signs_of(words: tuple[str, ...], pattern: str = "") -> _Signs:
    """Pairs and single characters stand in the index; a longer word has to be looked for."""
    terms = [word for word in words if _is_term(word)]
    others = [re.escape(word) for word in words if not _is_term(word)] + [pattern] * bool(pattern)
    return codes_of(tuple(terms)), re.compile("|".join(others), re.IGNORECASE) if others else None


def _is_term(word: str) -> bool:
    return all(map(is_joined, word)) and (
        len(word) == 2 or (len(word) == 1 and word not in FUNCTION_CHARACTERS)
    )


def rows_to_read(facts: FactRows, previous: FactIndex | None) -> int:
    """How many of them an index reads that takes over what it can of `previous`."""
    return len(facts) - sum(part.size for part in _kept(facts, previous))


def _begins_with(facts: FactRows, before: FactRows) -> bool:
    return facts.grew_from(before) or np.array_equal(facts.ids[: len(before)], before.ids)


def _times_of(facts: FactRows, before: FactIndex | None) -> dict[int, tuple[Window, ...]]:
    """Those read before, of facts that are still there."""
    if before is None:
        return {}
    if _begins_with(facts, before.facts):
        return before.known_times
    here = set(facts.ids.tolist())
    # Copied at once: the loop may put another to it meanwhile.
    return {key: times for key, times in before.known_times.copy().items() if key in here}


def _order_of(facts: FactRows, before: FactIndex | None) -> NDArray[np.intp] | None:
    is_known = before is not None and before.order is None and facts.grew_from(before.facts)
    # The last of those known too: the first one behind it has to follow it.
    ids = facts.ids[max(len(before.facts) - 1, 0) :] if before is not None and is_known else facts.ids
    return None if bool((ids[1:] > ids[:-1]).all()) else np.argsort(facts.ids, kind="stable")


def _parts(facts: FactRows, before: FactIndex | None) -> tuple[Part, ...]:
    parts = _kept(facts, before)
    start = sum(part.size for part in parts)
    if start < len(facts):
        parts.append(Part.of(facts.texts[start:].tolist()))
    while len(parts) > 1 and parts[-2].size < max(SMALL_PART, MOST_LARGER * parts[-1].size + 1):
        later = parts.pop()
        parts[-1] += later
    return tuple(parts)


def _kept(facts: FactRows, before: FactIndex | None) -> list[Part]:
    """Of the same ids the same parts: a text never changes."""
    if before is None:
        return []
    if facts.grew_from(before.facts):
        return list(before.parts)
    kept: list[Part] = []
    start = 0
    for part in before.parts:
        rows = slice(start, start + part.size)
        if not np.array_equal(facts.ids[rows], before.facts.ids[rows]):
            break
        kept.append(part)
        start += part.size
    return kept
