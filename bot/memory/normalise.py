"""One form for texts that mean the same: escapes decoded, width and punctuation folded, numerals read.

Invariant: pure. The result is for comparing and searching, never for showing or storing.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import cn2an

from bot.conversation.lexical import fold

_ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")
_PUNCTUATION = {"。": ".", "、": ",", "「": '"', "」": '"', "『": '"', "』": '"', "《": '"', "》": '"'} | {
    "【": "[",
    "】": "]",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "—": "-",
    "–": "-",
    "·": " ",
}
_SPACE = re.compile(r"\s+")

_UNITS = (
    "块|元|角|毛|斤|公斤|千克|克|吨|公里|千米|厘米|毫米|米|岁|年|月|号|日|天|周|点|小时|分钟|秒"
    "|个|件|条|双|只|张|本|台|部|次|人|位|码|楼|层|折|度|万"
)
_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九十")} | {"两": 2, "〇": 0}
_NUMERAL = re.compile(rf"([零〇一二两三四五六七八九十百千万亿]{{1,16}})\s?({_UNITS})")

_NUMERALS_KEPT = 4_096
_LATELY = 64
"""Texts whose forms are kept. One message is looked at a dozen times in a row, by as many questions."""


@lru_cache(_LATELY)
def normalise(text: str) -> str:
    """Fold a text so that equal meaning compares equal.

    Literal `\\uXXXX` forms (clients that send JSON escapes as text) are decoded, surrogate pairs
    joined and lone ones replaced; NFKC and case folding follow; Chinese punctuation becomes ASCII.
    """
    return _normalised(text).strip()


def normalise_all(texts: Sequence[str]) -> list[str]:
    """Each as `normalise` has it, but for space at its ends. `normalised_texts` reads many in a twentieth of the time."""
    together = _normalised("\0".join(texts)).split("\0")
    # A text may hold the sign that was to part them.
    return together if len(together) == len(texts) else [normalise(text).replace("\0", " ") for text in texts]


def normalised_character(folded: str) -> str:
    """What a folded character becomes; space for all that is space."""
    form = _PUNCTUATION.get(folded, folded)
    return " " if form.isspace() else form


def number_forms(text: str) -> tuple[str, ...]:
    """The Chinese numerals before a unit, in digits: 三百块 → 300块. What can't be read is left out."""
    forms = (number_form(written) for _, written in numerals_in(text))
    return tuple(form for form in forms if form is not None)


def numerals_in(text: str) -> Iterator[tuple[int, str]]:
    """The numerals as written, with their units, and where they begin; `number_form` reads one."""
    return ((each.start(), each.group()) for each in _NUMERAL.finditer(text))


def number_form(written: str) -> str | None:
    """三百 块 → 300块. None: no number."""
    found = _NUMERAL.fullmatch(written)
    number = _number(found[1]) if found is not None else None
    return None if found is None or number is None else f"{number}{found[2]}"


@lru_cache(_LATELY)
def with_digits(normal: str) -> str:
    """A normalised text with the Chinese numerals before a unit in digits: 四十三码 → 43码."""
    return _NUMERAL.sub(_in_digits, normal)


@lru_cache(_LATELY)
def searchable(text: str) -> str:
    """The normalised text followed by its number forms: what is indexed and what is asked."""
    normal = normalise(text)
    return " ".join((normal, *number_forms(normal)))


@lru_cache(_NUMERALS_KEPT)
def _number(numeral: str) -> int | None:
    """cn2an takes 15 µs, and people use few numerals."""
    if len(numeral) == 1:
        return _DIGITS.get(numeral)
    try:
        return int(cn2an.cn2an(numeral.replace("〇", "零"), "normal"))
    except (ValueError, IndexError, KeyError):  # Of 「三四十三」 it looks for a unit that there isn't.
        return None


def _in_digits(found: re.Match[str]) -> str:
    number = _number(found[1])
    return found.group() if number is None else f"{number}{found[2]}"


def _normalised(text: str) -> str:
    decoded = _ESCAPES.sub(_decode, text)
    folded = fold(decoded)
    for written, form in _PUNCTUATION.items():
        folded = folded.replace(written, form)
    return _SPACE.sub(" ", folded)


def _decode(escapes: re.Match[str]) -> str:
    units = bytes.fromhex(escapes.group().replace("\\u", ""))
    return units.decode("utf-16-be", "replace")
