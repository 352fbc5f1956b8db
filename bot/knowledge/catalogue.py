"""The catalogue: the operator's products, found by name, by alias, and by how people point at them.

Invariant: pure; a name only fits as a whole word, the longest name wins its place in the text, and a
catalogue never changes after it was made.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.conversation.lexical import Bm25
from bot.conversation.phrases import Phrases
from bot.conversation.text import content, normalise
from bot.knowledge.passage import Passage

SOURCE = "商品目录"
MOST_NAMED = 3
"""Products quoted for one question. Who names more wants a list, and the list is the operator's to write."""
MOST_MEANT = 3
"""A description that fits more products than this points at none."""
LONGEST_QUESTION = 500
"""Characters looked at for names."""
LONGEST_ENTRY = 600
"""Characters of a product that are quoted or put before a model."""

_COUNTED = "[件款个条双只台部套瓶盒本张把块支顶辆包箱]"
_POINTING = (
    re.compile(rf"[那这]一?{_COUNTED}([^的，。？！,.?!\s]{{1,8}})的"),
    re.compile(rf"([^的，。？！,.?!\s]{{1,8}}?)的[那这]一?{_COUNTED}"),
)
"""「那件红色的」「红色的那件」."""
_ASCII_WORD = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """One row of the catalogue."""

    name: str
    aliases: tuple[str, ...] = ()
    details: tuple[tuple[str, str], ...] = ()
    """(column, value), as written, in the order of the columns; empty ones left out."""
    line: int = 0
    """Where it stands in its file."""

    @property
    def text(self) -> str:
        """What is quoted and searched."""
        parts = [self.name, *(f"{column}：{value}" for column, value in self.details)]
        if self.aliases:
            parts.insert(1, f"别名：{'、'.join(self.aliases)}")
        text = "；".join(parts)
        return text if len(text) <= LONGEST_ENTRY else text[: LONGEST_ENTRY - 1] + "…"

    @property
    def passage(self) -> Passage:
        return Passage(id=0, document=SOURCE, heading=self.name, text=self.text)


class Catalogue:
    """Products made ready for searching."""

    def __init__(self, products: Sequence[Product] = ()) -> None:
        self.products = tuple(products)
        self._names = Phrases()
        for number, product in enumerate(self.products):
            for name in dict.fromkeys(name_key(each) for each in (product.name, *product.aliases)):
                self._names.add(name, number)
        self._folded = [content(" ".join((each.name, each.text))) for each in self.products]
        self._bm25 = Bm25([each.text for each in self.products])
        self._product_names = tuple(name for each in self.products for name in (each.name, *each.aliases))

    def product_names(self) -> tuple[str, ...]:
        """All names and aliases, as written: the words that mean a product."""
        return self._product_names

    def named_in(self, text: str) -> tuple[Product, ...]:
        """The products that a text names or plainly points at, in the order it does; at most
        `MOST_NAMED`."""
        folded = normalise(text[:LONGEST_QUESTION])
        numbers = [number for _, name in self._whole_names(folded) for number in self._names.owners(name)]
        numbers = numbers or self._pointed_at(folded)
        return tuple(self.products[number] for number in dict.fromkeys(numbers))[:MOST_NAMED]

    def like(self, question: str, k: int) -> list[tuple[Product, float]]:
        """(product, share of the question's words it holds, weighed by rarity) of at most `k` products that
        share a word with the question, best first. Whether they fit is for the answerer to say."""
        coverage = self._bm25.coverage(self._bm25.scores(question), question)
        best = self._bm25.best(question, k)
        return [(self.products[place], float(coverage[place])) for place, _ in best]

    def _whole_names(self, text: str) -> list[tuple[int, str]]:
        """(place, name): no two overlap, the longer goes first; in the order of the text."""
        squeezed, edges = _squeezed(text)
        found = [
            (place, name)
            for place, name in self._names.found_in(squeezed)
            if edges[place] and edges[place + len(name)]
        ]
        taken: list[tuple[int, str]] = []
        for place, name in sorted(found, key=lambda each: -len(each[1])):
            end = place + len(name)
            if all(end <= other or place >= other + len(held) for other, held in taken):
                taken.append((place, name))
        return sorted(taken)

    def _pointed_at(self, text: str) -> list[int]:
        """「那件红色的」: the few products that hold the description."""
        for description in _descriptions(text):
            meant = [number for number, folded in enumerate(self._folded) if description in folded]
            if 0 < len(meant) <= MOST_MEANT:
                return meant
        return []


def name_key(name: str) -> str:
    """A name as it is compared: case and width folded, without spaces."""
    return normalise(name).replace(" ", "")


def _squeezed(text: str) -> tuple[str, list[bool]]:
    """The text without spaces, and for each place of it (and its end) whether a word may begin or end
    there: 「A 款」 is 「A款」, but neither stands in 「BA款」."""
    characters: list[str] = []
    edges: list[bool] = []
    before = " "
    for character in text:
        if character != " ":
            edges.append(not (before in _ASCII_WORD and character in _ASCII_WORD))
            characters.append(character)
        before = character
    return "".join(characters), [*edges, True]


def _descriptions(text: str) -> Iterator[str]:
    """What stands in the pointing phrases; what came before it (请问红色的那件) is taken off by degrees."""
    for form in _POINTING:
        for found in form.finditer(text):
            description = content(found[1])
            for start in range(max(len(description) - 1, min(len(description), 1))):
                yield description[start:]
