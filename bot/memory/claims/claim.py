"""The words of this package: one claim, and the forms in which texts are compared.

Invariant: pure data and pure functions.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from bot.memory.normalise import normalise, with_digits

SELF = ""
"""The owner of what a person says of themselves."""

LINK = (
    r"(?:现在|目前|已经|已|都|应该|其实|就|也|还|又|重新|临时)?(?:是|为|叫|:|改成了?|改为了?|改到了?|改了|换成了?"
    r"|换为|换到了?|换了|变成了?|变为了?|变了"
    r"|更新[为成到]?|更改[为成]?|调[整]?[成为到]了?|应该是|用的?是|在|到|=|填|写)[,:]?(?:新的?(?:是)?)?"
)
"""Between what is named and its value."""

_LATELY = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One thing that a clause claims."""

    owner: str
    """Of whom: `SELF`, or a word for somebody of theirs (妈妈, 猫)."""
    slot: str
    """Of what: `size:鞋`, `place:家`, `phone`. Of one slot one value holds at a time."""
    value: str
    """In digits, without particles; "" where only that it ended is said."""
    holds: bool = True
    """False: it says that the value holds no longer, or never did."""
    needs_change: bool = False
    """Several may hold side by side (two meetings): only who says that it changed closes another."""


@lru_cache(_LATELY)
def form(text: str) -> str:
    """Width, case, punctuation and numerals folded, without spaces between Chinese characters."""
    return _SPACE.sub("", with_digits(normalise(text)))


_SPACE = re.compile(r"(?<![0-9a-z])\s+|\s+(?![0-9a-z])")
