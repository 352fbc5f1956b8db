"""Which of many patterns a text may hold, by the characters that each of them needs.

Invariant: a pattern that is left out is not found anywhere in the text. What a pattern needs is read off its parsed form,
never guessed: where that is not plain, it counts as needing nothing.

A table of a hundred patterns takes a hundred searches for each clause. Nearly all of them name a character the clause
has not got, and one look at each of its characters says for all patterns at once which those are.
"""

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, TypeAlias

_PARSER: Any = import_module("re._parser")
"""The standard library's own reader of patterns."""
_MOST_CHARACTERS = 200
"""Of a set: a wider one (all Chinese characters) leaves nothing out."""
_LOOKS = 3
"""Sets of each pattern that are looked for: of 「(?:买|换)(?:了)?手机」 two say most, all would cost more than they spare."""
_COMMON = dict.fromkeys("的了我不是一有在就也都,", 0.4) | dict.fromkeys(
    "0123456789人这那个上来到去要会说没", 0.2
)
_RARE = 0.03
"""How likely a text has a character, roughly: what a pattern needs least often tells most."""
_OTHER_CASES = {"i": "\u0130\u0131", "k": "\u212a", "s": "\u017f"}

_Set: TypeAlias = frozenset[str]


class Sieve:
    """Of patterns, by their places in the sequence it was made of."""

    __slots__ = ("_all", "_count", "_free", "_given")

    def __init__(self, patterns: Sequence[re.Pattern[str]]) -> None:
        self._count = count = len(patterns)
        self._all = (1 << count) - 1
        self._free = 0
        self._given: dict[str, int] = {}
        for place, pattern in enumerate(patterns):
            sets = sorted(needed(pattern), key=_likelihood)[:_LOOKS]
            for look in range(_LOOKS):
                bit = 1 << (look * count + place)
                if look >= len(sets):
                    self._free |= bit
                    continue
                for character in sets[look]:
                    self._given[character] = self._given.get(character, 0) | bit

    def fitting(self, text: str) -> Iterator[int]:
        """The places of the patterns that may be found in the text, in order."""
        return places(self.mask(text))

    def mask(self, text: str) -> int:
        """The same, a bit for each."""
        given = self._given
        found, count = self._free, self._count
        for character in text:
            if character in given:
                found |= given[character]
        return found & (found >> count) & (found >> 2 * count) & self._all


def places(mask: int) -> Iterator[int]:
    """Of the bits that are set, the lowest first."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def needed(pattern: re.Pattern[str]) -> tuple[_Set, ...]:
    """Sets of characters: whatever the pattern finds stands in a text that has at least one character of each."""
    return tuple(dict.fromkeys(_of_sequence(_PARSER.parse(pattern.pattern, pattern.flags), pattern.flags)))


def _likelihood(characters: _Set) -> float:
    return sum(_COMMON.get(each, _RARE) for each in characters)


def _of_sequence(parsed: Any, flags: int) -> list[_Set]:
    return [each for operation, value in parsed for each in _of(str(operation), value, flags)]


def _of(operation: str, value: Any, flags: int) -> list[_Set]:
    match operation:
        case "LITERAL":
            return _set([value], flags)
        case "IN":
            return _of_choice(value, flags)
        case "BRANCH":
            return _of_branch(value[1], flags)
        case "SUBPATTERN":
            _, added, removed, inner = value
            return _of_sequence(inner, (flags | added) & ~removed)
        case "ATOMIC_GROUP":
            return _of_sequence(value, flags)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, _, inner = value
            return _of_sequence(inner, flags) if least else []
        case "ASSERT":
            return _of_sequence(value[1], flags)
        case _:
            return []


def _of_choice(items: Any, flags: int) -> list[_Set]:
    codes: list[int] = []
    for operation, value in items:
        match str(operation):
            case "LITERAL":
                codes.append(value)
            case "RANGE":
                codes += range(value[0], min(value[1], value[0] + _MOST_CHARACTERS) + 1)
            case _:
                return []
    return _set(codes, flags)


def _of_branch(alternatives: Any, flags: int) -> list[_Set]:
    """One of each alternative's: the union of what they need most rarely, and of what they need next."""
    needs = [sorted(_of_sequence(each, flags), key=_likelihood) for each in alternatives]
    if not all(needs):
        return []
    joined = [
        frozenset[str]().union(*(sets[min(look, len(sets) - 1)] for sets in needs)) for look in range(_LOOKS)
    ]
    return [each for each in joined if len(each) <= _MOST_CHARACTERS]


def _set(codes: Sequence[int], flags: int) -> list[_Set]:
    if len(codes) > _MOST_CHARACTERS:
        return []
    characters = {chr(code) for code in codes}
    if flags & re.IGNORECASE:
        cased = {each for each in characters if each.lower() != each or each.upper() != each}
        if not all(each.isascii() for each in cased):
            return []
        for each in cased:
            characters |= {each.lower(), each.upper(), *_OTHER_CASES.get(each.lower(), "")}
    return [frozenset(characters)]
