"""Simplified characters for traditional ones, so that 「對蝦過敏」 and 「对虾过敏」 compare equal.

Invariant: every character keeps its place; for comparing alone, never for what is stored or shown.
"""

from functools import cache
from importlib.resources import files

_BESIDE = dict(zip("妳牠祂説麽裏爲銹帳", "你它他说么里为锈账", strict=True))
"""Pronouns, variants that the table leaves out, and 帳, of which people who write of sums mean 账."""


def simplified(text: str) -> str:
    return text if text.isascii() else text.translate(_table())


@cache
def _table() -> dict[int, str]:
    lines = files("bot.conversation").joinpath("simplified.txt").read_text("utf-8").splitlines()
    pairs = (pair for line in lines if not line.startswith("#") for pair in line.split())
    return str.maketrans({pair[0]: pair[1] for pair in pairs} | _BESIDE)
