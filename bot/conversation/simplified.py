"""Simplified characters for traditional ones, so that 「對蝦過敏」 and 「对虾过敏」 compare equal.

Invariant: every character keeps its place; for comparing alone, never for what is stored or shown.
"""

from functools import cache
from importlib.resources import files

_OF_PRONOUNS = {"妳": "你", "牠": "它", "祂": "他"}


def simplified(text: str) -> str:
    return text if text.isascii() else text.translate(_table())


@cache
def _table() -> dict[int, str]:
    lines = files("bot.conversation").joinpath("simplified.txt").read_text("utf-8").splitlines()
    pairs = (pair for line in lines if not line.startswith("#") for pair in line.split())
    return str.maketrans({pair[0]: pair[1] for pair in pairs} | _OF_PRONOUNS)
