"""The trivial filter: what needs no model, no memory and often no answer.

Invariant: pure; whatever could answer something that is open (a question of the bot's, a held answer,
a confirmation) is never trivial, nor is anything an FAQ rule answers.
"""

import re
import unicodedata
from datetime import timedelta
from enum import StrEnum
from itertools import pairwise

from bot.conversation.text import clean, content
from bot.rules.trivial_words import (
    ASSENTS,
    CHATTER,
    GREETINGS,
    INTERJECTIONS,
    PARTICLES,
    PINGS,
    STICKERS,
    THANKS,
)

COURTESY_PAUSE = timedelta(minutes=10)
"""BEHAVIOUR.md: one short line per ten minutes, else the bot chatters."""


LONGEST = 500
"""Characters. Somebody who writes more than this says something."""


class Trivial(StrEnum):
    """Kinds of message that need no thought."""

    PING = "ping"
    """「？」「在吗」: deliver a held answer, else say that one is here."""
    COURTESY = "courtesy"
    """「嗯」「谢谢」「好的」."""
    NOISE = "noise"
    """「。」「啊啊啊」, only emoji, one character with nothing open."""
    GREETING = "greeting"
    """「你好」 alone."""
    BARE_MENTION = "bare_mention"
    """Called in a group without a word."""


_LAUGHTER = re.compile(
    "h{2,}|(?:ha|he|hei|xi|lo){2,}[hl]?|w{3,}|x{3,}|6{3,}|2333*|e+m{2,}|h+m{2,}|u+m{2,}|(?:ok){2,}|a+h+|o+h+|z{2,}|q{2,}|t{2,}"
)
_SAME_KEY = re.compile(r"([0-9a-z])\1{2,}|([0-9])\2")
_NO_VOWEL = re.compile("[b-df-hj-np-tv-xz]{6,14}")
_AGREED = re.compile(r"[+＋][0-9１-９]{1,5}|[1１][+＋]")
"""「+1」: what others in the group said."""

LONGEST_TRIFLE = 30
"""Letters and digits. Who strings more of such words together is looked at as if they said something."""
KEY_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
SHORTEST_MASHED = 5
MASHED_SHARE = 0.8
"""Of the steps from key to key in `asdasd` that go to a neighbour; 「power」 has three of four."""

_WECHAT_CODE = re.compile(
    r"/:(?:[a-z]{1,9}(?![A-Za-z0-9])|[!-~]{1,4}?(?=\s|/:|[^!-~]|$))|\[([^\[\]]{1,12})\]"
)
"""WeChat writes its own stickers as 「[微笑]」 or, in older clients, 「/::)」 and 「/:rose」."""

_QUESTION_MARKS = frozenset("?？¿⁇❓❔")


def classify(
    text: str, *, is_open: bool, is_group: bool, has_held: bool = False, has_rule: bool = False
) -> Trivial | None:
    """What kind of trifle this is; None: it deserves an answer.

    `is_open`: the bot's last line asked something, or a confirmation or an answer is waiting.
    `has_held`: an answer is held for this person. `has_rule`: an FAQ rule answers this very text.
    """
    if len(text) > LONGEST:
        return None
    visible = clean(text)
    if not visible:
        return Trivial.BARE_MENTION if is_group else Trivial.NOISE
    if has_rule:
        return None
    said = content(_without_stickers(visible))
    if not said:
        return _classify_wordless(visible, is_open=is_open, has_held=has_held)
    if said in PINGS and (has_held or not is_open or len(said) > 1):
        return Trivial.PING
    if is_open and len(said) == 1:
        return None
    if said in GREETINGS:
        return Trivial.GREETING
    if said in THANKS:
        return Trivial.COURTESY
    return None if is_open else _classify_idle(said, visible)


def _classify_idle(said: str, visible: str) -> Trivial | None:
    """With nothing open."""
    if said in ASSENTS:
        return Trivial.COURTESY
    if _says_nothing(said, visible):
        return Trivial.NOISE
    if _is_made_of(said, _COURTEOUS):
        return Trivial.COURTESY
    return Trivial.NOISE if _is_made_of(said, _IDLE) else None


def line_for(trivial: Trivial, *, is_group: bool, since_last: timedelta | None) -> str | None:
    """The catalogue key of the short line that answers a trifle when nothing is held; None: silence.

    `since_last`: how long ago this person got such a line in this conversation; None: never.
    """
    is_recent = since_last is not None and since_last < COURTESY_PAUSE
    match trivial:
        case Trivial.GREETING:
            return "greeting"
        case Trivial.PING if not is_group:
            return "ping"
        case Trivial.PING | Trivial.BARE_MENTION:
            return None if is_recent else "bare_mention"
        case Trivial.COURTESY | Trivial.NOISE:
            return None if is_group or is_recent else "courtesy"


def _classify_wordless(visible: str, *, is_open: bool, has_held: bool) -> Trivial | None:
    """Punctuation, emoji, stickers."""
    if _QUESTION_MARKS.issuperset(visible.replace(" ", "")):
        return Trivial.PING if has_held or not is_open else None
    if is_open and (len(visible) == 1 or not _is_punctuation(visible)):
        return None
    return Trivial.NOISE


def _without_stickers(text: str) -> str:
    def replace(found: re.Match[str]) -> str:
        name = found[1]
        return " " if name is None or name.lower() in STICKERS else found[0]

    if text[0] == "/" and text[1:] in STICKERS:
        return " "
    return _WECHAT_CODE.sub(replace, text)


def _says_nothing(said: str, visible: str) -> bool:
    """With nothing open: 「啊啊啊」「哈哈哈嗝」「111」「xswl」「asdfgh」「+1」, one character."""
    if len(said) == 1:
        return not _has_signs(visible) or _AGREED.fullmatch(visible) is not None
    if INTERJECTIONS.issuperset(said) or _LAUGHTER.fullmatch(said) is not None:
        return True
    if said.isascii():
        is_slang = said in CHATTER or _SAME_KEY.fullmatch(said) is not None
        return is_slang or _AGREED.fullmatch(visible) is not None or _is_mashed(said)
    return False


def _is_mashed(said: str) -> bool:
    """Keys beside each other, or letters that make no word."""
    if len(said) < SHORTEST_MASHED or not said.isalpha():
        return False
    if _NO_VOWEL.fullmatch(said):
        return True
    steps = [first + second in _NEIGHBOURS for first, second in pairwise(said) if first != second]
    least = 1.0 if len(said) == SHORTEST_MASHED else MASHED_SHARE
    return sum(steps) >= least * len(steps)


def _is_made_of(said: str, words: frozenset[str]) -> bool:
    """Of such words alone, one behind the other: 「嗯嗯好的」「没事没事」."""
    if len(said) > LONGEST_TRIFLE or not _LETTERS.issuperset(said):
        return False
    reached = {0}
    for end in range(1, len(said) + 1):
        if any(
            said[start:end] in words for start in range(max(0, end - _LONGEST_WORD), end) if start in reached
        ):
            reached.add(end)
    return len(said) in reached


_NEIGHBOURS = frozenset(
    pair for row in KEY_ROWS for first, second in pairwise(row) for pair in (first + second, second + first)
)
_COURTEOUS = ASSENTS | THANKS | INTERJECTIONS | PARTICLES
_IDLE = _COURTEOUS | CHATTER
_LETTERS = frozenset("".join(_IDLE))
_LONGEST_WORD = max(map(len, _IDLE))


def _has_signs(text: str) -> bool:
    """「c++」 is more than its letter."""
    return any(unicodedata.category(character) in ("Sm", "Sc") for character in text)


def _is_punctuation(text: str) -> bool:
    return all(unicodedata.category(character)[0] in "PZ" for character in text)
