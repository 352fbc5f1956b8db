"""What a message is about when it goes on a talk: the person's own words before it say more than it does.

Invariant: pure; words of one talk alone, and the person's alone: what the bot said is not what is looked for.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.conversation.ports import Vector
from bot.conversation.turn import Turn
from bot.memory.normalise import normalise
from bot.memory.questions import is_question, is_simple
from bot.memory.sessions import session_began

TURNS = 4
"""Before the message: what was said earlier is mostly about something else."""
CHARACTERS = 160
"""Of the end of it. The embedded model takes 1.4 ms a character, and a question has half a second."""

TALK_WEIGHT = 2.0
"""Of the talk, against 1 for the message alone: docs/decisions/0113-the-talk-goes-along.md has the measurements."""

_GOES_ON = re.compile(
    r"^(?:那|可|但|如果|要是|万一|所以|因为|然后|而且|还有|或者|不过|其实|除了|另外|and\b|but\b|so\b|if\b)"
)
"""Begins what only the words before it complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """What is looked for besides the message itself."""

    text: str
    vector: Vector | None
    """None: words alone decide."""


def talk_of(text: str, at: datetime, recent: Sequence[Turn]) -> str:
    """The person's words of this talk, the message's last. "" where the message stands for itself: nothing was
    said before it, or it is a simple question, which says all it asks.

    `recent`: the last turns of the scope, oldest first.
    """
    if not recent or _stands_alone(text):
        return ""
    began = session_began((turn.at for turn in reversed(recent)), at)
    before = [turn.question for turn in recent[-TURNS:] if turn.at >= began]
    return " ".join((*before, text))[-CHARACTERS:] if before else ""


def _stands_alone(text: str) -> bool:
    return is_simple(text) and is_question(text) and not _GOES_ON.search(normalise(text))
