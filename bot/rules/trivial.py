"""The trivial filter: what needs no model, no memory and often no answer.

Invariant: pure; whatever could answer something that is open (a question of the bot's, a held answer,
a confirmation) is never trivial, nor is anything an FAQ rule answers.
"""

import re
import unicodedata
from datetime import timedelta
from enum import StrEnum

from bot.conversation.text import clean, content
from bot.rules.trivial_words import ASSENTS, GREETINGS, INTERJECTIONS, PINGS, STICKERS, THANKS

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


_LAUGHTER = re.compile("h{2,}|(?:ha){2,}h?|w{3,}|6{3,}|2333+")

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
    if is_open:
        return None
    if said in ASSENTS:
        return Trivial.COURTESY
    is_one_character = len(said) == 1 and not _has_signs(visible)
    return Trivial.NOISE if is_one_character or _is_drawn_out(said) else None


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

    return _WECHAT_CODE.sub(replace, text)


def _is_drawn_out(said: str) -> bool:
    """「啊啊啊」「哈哈哈哈」「666」."""
    return INTERJECTIONS.issuperset(said) or _LAUGHTER.fullmatch(said) is not None


def _has_signs(text: str) -> bool:
    """「c++」 is more than its letter."""
    return any(unicodedata.category(character) in ("Sm", "Sc") for character in text)


def _is_punctuation(text: str) -> bool:
    return all(unicodedata.category(character)[0] in "PZ" for character in text)
