"""What is no window: lengths (「三天」), repetition (「每周一」) and earlier talks (「上次」).

Invariant: these tell where they stand in the text, and nothing about the calendar.
"""

import re
from datetime import datetime

from bot.memory.time_zh.amounts import AMOUNT, AMOUNT_STARTS, read_amount
from bot.memory.time_zh.chain import read_chain
from bot.memory.time_zh.elements import TO, Context
from bot.memory.time_zh.numerals import COUNTING

_EVERY = re.compile(
    rf"每(?:隔|逢|到|过)?(?:个|一个?)?(?:{AMOUNT}|半?个?(?:天|日|周(?![边围])|星期|礼拜|月|年|季度|小时|钟头|分钟|秒|早上?|晚上?|工作日|周末))的?"
)
_EVERY_ONE = re.compile(r"每(?:逢|到)?个?")
_SESSION = re.compile(
    r"(?P<back>上{1,3})(?:一|个)?(?P<times>次(?![数序级品要])|回(?![家来去复答到头应报升落信话购收国校京]))"
)
_NOT_SESSION_AFTER = "早晚马路网线身天世山楼床车船头海赶跟加手心地以街府"
"""「晚上回家」, 「马上回」: 上 belongs to the word before."""
_LENGTH = re.compile(
    rf"(?:[0-9{COUNTING}]{{1,8}}{TO})?{AMOUNT}(?:以上|以下)?(?:[,]?{TO}?{AMOUNT}(?:以上|以下)?)?"
)
_NOT_LENGTH_AFTER = "第哪那这某每有同"
_MARKS = re.compile(r"(?:分|刻|一日|百年|千年|万年)$")
"""Points of a test, and figures of speech."""

LENGTH_STARTS = frozenset(AMOUNT_STARTS)


def read_recurrence(text: str, start: int, now: datetime) -> int | None:
    """Where the repetition that begins here ends."""
    context = Context(now=now, anchor=now)
    ends: list[int] = []
    if match := _EVERY.match(text, start):
        rest = read_chain(text, match.end(), context)
        ends.append(rest[1] if rest else match.start() + len(match[0].removesuffix("的")))
    if match := _EVERY_ONE.match(text, start):
        one = read_chain(text, match.end(), context)
        ends += [one[1]] if one else []
    return max(ends, default=None)


def read_session(text: str, start: int) -> tuple[int, int] | None:
    """How many talks back, and where the words end."""
    match = _SESSION.match(text, start)
    if match is None or (start and text[start - 1] in _NOT_SESSION_AFTER + "上"):
        return None
    return len(match["back"]), match.end()


def read_length(text: str, start: int) -> int | None:
    """Where the length that begins here ends."""
    before = text[start - 1 : start] if start else ""
    match = _LENGTH.match(text, start)
    if match is None or (before and before in _NOT_LENGTH_AFTER):
        return None
    amount = read_amount(match[0])
    if amount is None or (len(amount.pieces) == 1 and _MARKS.search(match[0])):
        return None
    return match.end()
