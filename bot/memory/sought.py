"""Whether a text holds words that are to be forgotten, however they were written there.

Invariant: pure; width, case, spaces, numerals and traditional characters make no difference, and a code of letters and
digits counts as a whole word only: 12 isn't in 2012.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bot.conversation.simplified import simplified
from bot.memory.normalise import normalise, searchable

SHORTEST = 2
"""Characters. One (「M」) is part of nearly every text."""
_CODE = re.compile(r"(?<![0-9a-z])(?=[a-z_-]{0,40}[0-9])[0-9a-z][0-9a-z_-]{4,63}(?![0-9a-z])")
"""Of orders, parcels, phones: nobody else's words hold them by chance."""
_IS_OF_CODE = re.compile(r"[0-9a-z]")
_DATE = re.compile(r"(?:19|20)[0-9]{2}-[0-9]{1,2}(?:-[0-9]{1,2})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """Words, in the form in which texts are compared."""

    phrases: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()
    """Whole words."""

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Sought":
        """What is too short to be told apart is left out."""
        phrases: set[str] = set()
        codes: set[str] = set()
        for text in texts:
            form = _folded(text)
            if len(form) >= SHORTEST:
                (codes if form.isascii() and form.isalnum() else phrases).add(form)
        return cls(phrases=frozenset(phrases), codes=frozenset(codes))

    def __bool__(self) -> bool:
        return bool(self.phrases or self.codes)

    def __or__(self, other: "Sought") -> "Sought":
        return Sought(phrases=self.phrases | other.phrases, codes=self.codes | other.codes)

    def is_in(self, text: str) -> bool:
        if not self:
            return False
        form = searchable(simplified(text))
        squeezed = form.replace(" ", "")
        return any(_stands_in(phrase, squeezed) for phrase in self.phrases) or any(
            _stands_in(code, form) or _stands_in(code, squeezed) for code in self.codes
        )


def codes_in(texts: Iterable[str]) -> Sought:
    """The codes that stand in these texts: 「我的单号是 SF123456」 is forgotten with its number, wherever that stands."""
    found = {code for text in texts for code in _CODE.findall(searchable(text))}
    return Sought(codes=frozenset(code for code in found if not _DATE.fullmatch(code)))


def _folded(text: str) -> str:
    return normalise(simplified(text)).replace(" ", "")


def _stands_in(words: str, text: str) -> bool:
    """Not as a part of a longer number or word of letters."""
    if words not in text:
        return False
    before = r"(?<![0-9a-z])" if _IS_OF_CODE.match(words[0]) else ""
    behind = r"(?![0-9a-z])" if _IS_OF_CODE.match(words[-1]) else ""
    return re.search(f"{before}{re.escape(words)}{behind}", text) is not None
