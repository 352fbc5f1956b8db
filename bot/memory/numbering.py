"""The number that a memory is shown with: 「/忘记 第3条」, 「/更正 3 …」.

Invariant: what is told or corrected later changes no number; only a forgetting moves those behind it up.
"""

from collections.abc import Iterable

from bot.memory.fact import Fact


def numbered(held: Iterable[Fact]) -> dict[int, Fact]:
    """All that is held of a scope, also out of view, by its number, from 1. A text that several accounts said is one
    memory."""
    first: dict[str, Fact] = {}
    for fact in sorted(held, key=lambda fact: fact.id):
        first.setdefault(fact.text, fact)
    return dict(enumerate(first.values(), 1))


def number_of(held: Iterable[Fact]) -> dict[str, int]:
    """By text."""
    return {fact.text: number for number, fact in numbered(held).items()}
