"""What of a message tells of one of several things that it names: 羽绒服 of 「SF1是保温杯的，YT2是羽绒服的」.

Invariant: pure. Of a message that names one of them alone, all tells of it.
"""

import re
from collections.abc import Sequence

from bot.memory.entities.entity import SeenEntity

_APART = re.compile(r"[，,。；;、！!？?\n]|和|跟|以及|还有|另外|\s(?=[^\s0-9A-Za-z])")


def own_words(entity: SeenEntity, among: Sequence[SeenEntity]) -> str:
    """`among`: what it is to be told apart from."""
    others = [each.value for each in among if each.normalised != entity.normalised]
    return "\n".join(
        _of_line(line, entity.value, others) for line in entity.context.split("\n") if line.strip()
    )


def _of_line(line: str, value: str, others: Sequence[str]) -> str:
    if not any(other in line for other in others):
        return line
    return " ".join(piece for piece in _APART.split(line) if value in piece)
