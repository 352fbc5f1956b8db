"""The number that a memory is shown with: 「/忘记 第3条」, 「/更正 3 …」.

Invariant: a number means what was last shown under it: nothing that is told, corrected or forgotten since moves one.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from bot.memory.fact import Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The numbers of the last list that somebody was shown. Nothing of the words."""

    ids: tuple[int, ...] = ()
    """Of the facts, in the order of their numbers, from 1; also of those that were not on the page."""
    seen: frozenset[int] = frozenset()
    """The numbers that were."""


def numbered(held: Iterable[Fact], shown: Shown | None = None) -> dict[int, Fact]:
    """All that is held of a scope, also out of view, by its number. A text that several accounts said is one memory.
    What came after the list follows behind its last number; what is gone since leaves its number empty."""
    first: dict[str, Fact] = {}
    facts = sorted(held, key=lambda fact: fact.id)
    for fact in facts:
        first.setdefault(fact.text, fact)
    if shown is None:
        return dict(enumerate(first.values(), 1))
    by_id = {fact.id: fact for fact in facts}
    numbers = {number: by_id[fact] for number, fact in enumerate(shown.ids, 1) if fact in by_id}
    known = {fact.text for fact in numbers.values()}
    later = (fact for text, fact in first.items() if text not in known)
    return numbers | dict(enumerate(later, len(shown.ids) + 1))


def number_of(held: Iterable[Fact], shown: Shown | None = None) -> dict[str, int]:
    """By text."""
    return {fact.text: number for number, fact in numbered(held, shown).items()}
