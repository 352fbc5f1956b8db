"""Keyword search over one scope's facts.

Invariant: pure; made of one snapshot of the facts and never changed afterwards. A later one takes over what it shares
with it: who chats adds a memory with each message, and only that is read.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bot.conversation.lexical import K1, B, exact_tokens
from bot.memory.answer_forms import forms_asked, has_form
from bot.memory.content_words import content_terms
from bot.memory.fact import Fact, FactKind
from bot.memory.normalise import searchable
from bot.memory.searched import Codes, Hits, Part, Rows, codes_of
from bot.memory.time_zh import Window
from bot.memory.topics import told_pattern, topics_asked

LASTING = (FactKind.IDENTITY, FactKind.PREFERENCE)
"""Kinds that say who somebody is, whatever is asked."""
SMALL_PART = 64
"""Texts. A part with fewer is made anew with each memory added: 0.3 ms."""
MOST_LARGER = 3
"""Times as large as what is added a part may be to be made anew with it: so a person has few parts, and a memory is
read a few times in all."""


@dataclass(frozen=True, slots=True)
class _Section:
    """Some facts in order."""

    facts: tuple[Fact, ...]
    ids: NDArray[np.int64]
    part: Part
    importance: NDArray[np.float32]
    said_at: NDArray[np.float64]
    last_said_at: NDArray[np.float64]
    is_lasting: NDArray[np.float32]


_Content: TypeAlias = tuple[list[Hits], NDArray[np.float64], NDArray[np.float64]]
"""Of a question's content terms: where they stand, their rarities and weights."""


class FactIndex:
    """Words, topics and forms of facts, with their weights and times."""

    def __init__(self, facts: Sequence[Fact], previous: "FactIndex | None" = None) -> None:
        """15 µs a fact that `previous` has not read already (`rows_to_read`), and 0.3 ms."""
        self.facts = tuple(facts)
        self.sections = _sections(self.facts, previous.sections if previous else ())
        self.ids = np.concatenate([np.zeros(0, np.int64), *(each.ids for each in self.sections)])
        """`(n,)`"""
        self.importance = self._joined([each.importance for each in self.sections])
        """`(n,)`, 0 to 1."""
        self.is_lasting = self._joined([each.is_lasting for each in self.sections])
        """`(n,)`: 1 for identity and preference."""
        nothing = np.zeros(0, np.float64)
        self.said_at = np.concatenate([nothing, *(each.said_at for each in self.sections)])
        """`(n,)`: seconds since the epoch, UTC."""
        self.last_said_at = np.concatenate([nothing, *(each.last_said_at for each in self.sections)])
        """`(n,)`: of what was told more than once, the last time."""
        self._latest: tuple[str, _Content] | None = None
        self._by_id = np.argsort(self.ids, kind="stable")

    @property
    def newest(self) -> int:
        """The highest id; 0 where there is no fact."""
        return int(self.ids.max(initial=0))

    def with_added(self, facts: Sequence[Fact]) -> tuple[Fact, ...]:
        """Its facts and these, by time."""
        added = sorted(facts, key=_by_time)
        if not (self.facts and added) or _by_time(self.facts[-1]) <= _by_time(added[0]):
            return (*self.facts, *added)
        return tuple(sorted((*self.facts, *added), key=_by_time))

    def rows_of(self, ids: Sequence[int]) -> Rows:
        """Where the facts of these ids stand; -1 of those that aren't here."""
        asked = np.array(ids, np.int64)
        if not len(self.ids) or not len(asked):
            return np.full(len(asked), -1)
        at = np.minimum(np.searchsorted(self.ids, asked, sorter=self._by_id), len(self.ids) - 1)
        rows = self._by_id[at]
        return np.where(self.ids[rows] == asked, rows, -1)

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
        lengths = np.concatenate([each.part.lengths for each in self.sections])
        mean = max(float(lengths.mean()), 1.0)
        scores: list[NDArray[np.float32]] = []
        for section, hits in zip(self.sections, found, strict=True):
            dampings = K1 * (1 - B + B * section.part.lengths[hits.rows] / mean)
            weights = rarities[hits.terms] * hits.counts * (K1 + 1) / (hits.counts + dampings)
            scores.append(np.bincount(hits.rows, weights, section.part.size).astype(np.float32))
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
        return self._summed(self._hits(codes_of(tuple(asked))), np.ones(len(asked)))

    def shared_topics(self, question: str) -> NDArray[np.float32]:
        """`(n,)`: the share of the question's topics each fact is on, 0 to 1.

        A share, since a long message touches half the table, which says nothing.
        """
        return self._share({("topic", topic): told_pattern(topic).search for topic in topics_asked(question)})

    def forms(self, question: str) -> NDArray[np.float32]:
        """`(n,)`: the share of the forms of an answer the question asks for that each fact has, 0 to 1."""
        return self._share(
            {form: lambda text, form=form: has_form(text, form) for form in forms_asked(question)}
        )

    def _share(self, signs: dict[object, Callable[[str], object]]) -> NDArray[np.float32]:
        shares = np.zeros(len(self.facts), np.float32)
        for key, has in signs.items():
            shares += self._joined([each.part.flagged(key, has) for each in self.sections])
        return shares / np.float32(len(signs) or 1)

    def _hits(self, asked: Codes) -> list[Hits]:
        """Of each section."""
        return [each.part.hits(asked) for each in self.sections]

    def _summed(self, found: Sequence[Hits], weights: NDArray[np.float64]) -> NDArray[np.float32]:
        sums = (
            np.bincount(hits.rows, weights[hits.terms], section.part.size)
            for section, hits in zip(self.sections, found, strict=True)
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


def rows_to_read(count: int, previous: FactIndex | None) -> int:
    """How many facts an index of `count` reads that takes over what it can of `previous`, to which some were added."""
    held = [each.part.size for each in previous.sections] if previous else []
    return _unread(held, count - sum(held))


def _unread(held: list[int], added: int) -> int:
    """Takes those from the end of `held` that are made anew with the ones added. Returns how many there are to read."""
    while held and added and (held[-1] < SMALL_PART or held[-1] <= MOST_LARGER * added):
        added += held.pop()
    return added


def _sections(facts: tuple[Fact, ...], before: Sequence[_Section]) -> tuple[_Section, ...]:
    kept: list[_Section] = []
    start = 0
    for each in before:
        same = facts[start : start + each.part.size]
        if same == each.facts:
            kept.append(each)
        elif [fact.id for fact in same] == each.ids.tolist():
            kept.append(_section(same, each.part))
        else:
            break
        start += each.part.size
    sizes = [each.part.size for each in kept]
    unread = _unread(sizes, len(facts) - start)
    del kept[len(sizes) :]
    if unread:
        rest = facts[len(facts) - unread :]
        kept.append(_section(rest, Part([fact.text for fact in rest])))
    return tuple(kept)


def _section(facts: tuple[Fact, ...], part: Part) -> _Section:
    """`part`: of their texts, which never change."""
    return _Section(
        facts=facts,
        ids=np.array([fact.id for fact in facts], np.int64),
        part=part,
        importance=np.array([fact.importance for fact in facts], np.float32),
        said_at=np.array([fact.said_at.timestamp() for fact in facts], np.float64),
        last_said_at=np.array([fact.last_said_at.timestamp() for fact in facts], np.float64),
        is_lasting=np.array([fact.kind in LASTING for fact in facts], np.float32),
    )


def _by_time(fact: Fact) -> tuple[object, int]:
    return fact.said_at, fact.id
