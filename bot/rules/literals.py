"""The words that a text must hold for a regular expression to match, so that most need not be tried.

Invariant: never wrong, only silent. What isn't understood has no required words, and an expression
without them is tried on every text. tests/property/test_literals.py holds this against RE2 itself.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

Words = frozenset[str]

MOST_WORDS = 16
"""Alternatives followed in one expression: beyond it they say less than they cost."""
LONGEST_CLASS = 4
"""Characters of a class such as [吗么呢] that is spelt out."""

_NOTHING: Words = frozenset(("",))
_EDGES = "AzbB"
"""After a backslash: places, not characters."""
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meaning:
    """What is known of the texts that a piece of an expression matches."""

    whole: Words | None = None
    """All of them; None: too many to name."""
    parts: Words | None = None
    """Each holds one of these; None: no word is sure."""

    @property
    def required(self) -> Words | None:
        if self.whole is not None and "" not in self.whole:
            return self.whole
        return self.parts


_ANYTHING = _Meaning()
_EMPTY = _Meaning(whole=_NOTHING)


class _NotUnderstood(Exception):
    pass


def fold_literal(text: str) -> str:
    """The form in which words are looked for: what RE2 takes for equal is equal in it."""
    return text.casefold()


def required_words(pattern: str) -> Words | None:
    """Words, folded, one of which stands in each text that `pattern` matches anywhere, case folded.

    None: no such word is known.
    """
    try:
        reader = _Reader(pattern)
        meaning = reader.alternatives()
        reader.expect_end()
    except (_NotUnderstood, RecursionError):
        return None
    return meaning.required


class _Reader:
    """Reads RE2's syntax from left to right."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def alternatives(self) -> _Meaning:
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else _either(branches)

    def expect_end(self) -> None:
        if self._at < len(self._pattern):
            raise _NotUnderstood

    def _sequence(self) -> _Meaning:
        so_far, best = _NOTHING, None
        is_whole = True
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            piece = self._repeated(self._piece())
            joined = _joined(so_far, piece.whole)
            if joined is None:
                is_whole = False
                best = _better(best, _Meaning(whole=so_far).required, piece.parts)
                joined = piece.whole if piece.whole is not None else _NOTHING
            so_far = joined
        if is_whole:
            return _Meaning(whole=so_far)
        return _Meaning(parts=_better(best, _Meaning(whole=so_far).required))

    def _piece(self) -> _Meaning:
        character = self._next()
        match character:
            case "^" | "$":
                return _EMPTY
            case ".":
                return _ANYTHING
            case "(":
                return self._group()
            case "[":
                return self._class()
            case "\\":
                return self._escape()
            case "*" | "+" | "?" | "{":
                raise _NotUnderstood
            case _:
                return _literal(character)

    def _repeated(self, meaning: _Meaning) -> _Meaning:
        while self._at < len(self._pattern) and self._pattern[self._at] in "*+?{":
            least, most = self._times()
            self._take("?")
            if (least, most) == (0, 1) and meaning.whole is not None:
                meaning = _Meaning(whole=meaning.whole | _NOTHING)
            elif least == 0:
                meaning = _ANYTHING
            elif (least, most) != (1, 1):
                meaning = _Meaning(parts=meaning.required)
        return meaning

    def _times(self) -> tuple[int, int | None]:
        match self._next():
            case "*":
                return 0, None
            case "+":
                return 1, None
            case "?":
                return 0, 1
            case _:
                end = self._pattern.find("}", self._at)
                least, comma, most = self._pattern[self._at : max(end, self._at)].partition(",")
                if not (least.isdecimal() and least.isascii() and (not most or most.isdecimal())):
                    raise _NotUnderstood
                self._at = end + 1
                return int(least), int(most) if most else None if comma else int(least)

    def _group(self) -> _Meaning:
        if self._take("?"):
            if self._take("P<") or self._take("<"):
                self._skip_past(">")
            else:
                while (flag := self._next()) != ":":
                    if flag == ")":
                        # A star behind bare flags repeats what stands before them.
                        if self._pattern[self._at : self._at + 1] in ("*", "+", "?", "{"):
                            raise _NotUnderstood
                        return _EMPTY
                    if flag not in "imsU-":
                        raise _NotUnderstood
        meaning = self.alternatives()
        if not self._take(")"):
            raise _NotUnderstood
        return meaning

    def _class(self) -> _Meaning:
        if self._take("^"):
            self._end_class()
            return _ANYTHING
        members = self._end_class()
        if len(members) > LONGEST_CLASS or not set(members).isdisjoint("-\\["):
            return _ANYTHING
        return _either(map(_literal, members))

    def _end_class(self) -> str:
        """What stands before the bracket that closes a class."""
        begin = self._at
        self._take("]")
        while (character := self._next()) != "]":
            if character == "\\":
                self._next()
            elif character == "[" and self._take(":"):
                self._skip_past(":]")
        return self._pattern[begin : self._at - 1]

    def _escape(self) -> _Meaning:
        character = self._next()
        if character in _EDGES:
            return _EMPTY
        if character in _CONTROL:
            return _literal(_CONTROL[character])
        if character in "dDsSwWC":
            return _ANYTHING
        if character in "pP":
            if self._take("{"):
                self._skip_past("}")
            else:
                self._next()
            return _ANYTHING
        if character.isalnum() and character.isascii():
            raise _NotUnderstood
        return _literal(character)

    def _next(self) -> str:
        if self._at >= len(self._pattern):
            raise _NotUnderstood
        self._at += 1
        return self._pattern[self._at - 1]

    def _take(self, wanted: str) -> bool:
        is_there = self._pattern.startswith(wanted, self._at)
        self._at += len(wanted) * is_there
        return is_there

    def _skip_past(self, mark: str) -> None:
        end = self._pattern.find(mark, self._at)
        if end < 0:
            raise _NotUnderstood
        self._at = end + len(mark)


def _literal(character: str) -> _Meaning:
    """Itself where its other cases fold to one character; the rest of Unicode's cases are left alone."""
    is_caseless = character.upper() == character.lower() == character.casefold() == character
    if is_caseless or character.isascii():
        return _Meaning(whole=frozenset((fold_literal(character),)))
    return _ANYTHING


def _joined(left: Words, right: Words | None) -> Words | None:
    if right is None or len(left) * len(right) > MOST_WORDS:
        return None
    return frozenset(map("".join, product(left, right)))


def _either(branches: Iterable[_Meaning]) -> _Meaning:
    branches = tuple(branches)
    wholes = [branch.whole for branch in branches if branch.whole is not None]
    if len(wholes) == len(branches):
        whole = frozenset[str]().union(*wholes)
        if len(whole) <= MOST_WORDS:
            return _Meaning(whole=whole)
    required = [branch.required for branch in branches if branch.required is not None]
    if len(required) < len(branches):
        return _ANYTHING
    return _Meaning(parts=frozenset[str]().union(*required))


def _better(*choices: Words | None) -> Words | None:
    """The words that are hardest to meet by chance: the longest, then the fewest."""
    known = [words for words in choices if words]
    return max(known, key=lambda words: (min(map(len, words)), -len(words)), default=None)
