"""The time a question binds to: 「上周三说的地址」 asks for what was said on that day, and for nothing else.

Invariant: a time to come binds to nothing, nor does one in a command or in what the person tells. Only the turns of
the scope itself tell when an earlier talk was.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.conversation.scope import Scope
from bot.conversation.turn import Turn
from bot.memory.ports import TurnLog
from bot.memory.questions import is_question
from bot.memory.sessions import earlier_session
from bot.memory.time_zh import OPEN_START, Kind, TimeSpan, Window, find_times

LONGEST_READ = 200
"""Characters: who asks for something of a time is brief."""

LATELY = 3
"""Turns in which 「那天」 may have been named."""
LOOKED_BACK = 1_000
"""Turns: more than a long day's talk and the one before."""

LONGEST_OF_DEEDS = timedelta(days=100)
"""A window for what was done, not said."""

_TIME = re.compile(
    r"[今昨前]|大前|上+(?:一|个)?[次回周星礼月年半季]|刚|[这本]个?[周月年星礼]|最近|近[0-9一二两三几来期日]|去年|周[一二三四五六日天末]|星期|礼拜"
    r"|[0-9一二两三四五六七八九十几半][个多来]*(?:天|日|号|月|周|年|小时|钟头|分钟)|国庆|中秋|春节|过年|元旦|五一|六一|十一|双十|双1|618"
    r"|[0-9]\.[0-9]|端午|清明|七夕|圣诞|平安夜|情人节|除夕|初[一二三四五六七八]|[春夏秋冬暑寒][天假]|月[初底中末]|年[初底中末]|早上|凌晨|上午|中午|下午|晚上|夜里"
)
"""Cheap, and true of every expression that people recall by: most messages are done with here."""
_THAT_DAY = re.compile(r"那一?(?:天|回|次|会儿|阵子|几天|些天|时候?|周|个月)|当[天时]")
"""Of the time that was asked for a moment ago."""

_SAYING = r"说|讲|提|聊|谈|问|告诉|报(?![价名警修纸])|念叨|约|答应|承诺|讨论|发(?![货票烧现放生工])|交代|吩咐|嘱咐|写|记|留"
_SAID = re.compile(rf"(?:{_SAYING})")
_OF_THEN = re.compile(
    r"[^，。？！,.?!；;]{1,8}?(?:过|了|到|给你|给我)?的(?:那?[^，。？！,.?!；;的]{0,8})|(?:的|我的)?那[一个件双条款台部把张笔单家本次]"
)
"""A clause that tells which one is meant: 「买的那双」「说的地址」."""
_DONE = re.compile(
    r"(?<![为除忘])了(?!解)|(?<![不超通路经太])过(?![敏年期节])|来着|的(?:是|啥|什么|哪|谁|几|多少|多[重远大高长])|为(?:啥|什么)|干[嘛吗啥]|打算"
)
_AHEAD = re.compile(
    r"能不能|可不可以|可以|能(?:[^，。？！]{0,4}吗)|会不会|要不要|开门|营业|关门|上班|放假|送到|到货|发货|有货|活动|优惠|几点开|下[周个]|明[天早晚年]|后天|待会|一会"
)
_OF_HOUSE = re.compile(r"你们|店里|客服|贵店|官方|商家")
_ASKS_TOO = re.compile(
    r"(?:告诉|发|查|找|给|帮)[^，。？！]{0,3}我|想想|回忆|记得|重复|再说|列|总结|翻(?:一下|出|翻)"
    r"|(?<![十百千万好])几[^，。？！]?$|多[重高宽深厚快贵]$"
)
"""Asks for something without a word of asking, or only by its last one: 「我数学几分」."""
_ONLY_SAID = re.compile(r"刚|方才|适才|头先|将才|才将|现在|此刻|目前|眼下|这会儿")
"""「刚买的鞋怎么退」 asks about shoes, 「刚才说的鞋」 about what was said."""
_RECURS = re.compile(
    r"(?:周|星期|礼拜)[一二三四五六七日天末]|早上|早晨|凌晨|上午|中午|下午|傍晚|晚上|夜里|半夜"
)
"""Comes again and again: 「星期天晚饭几点送」 asks for a habit, 「星期天吃了什么」 for a day."""
_NUMBER = re.compile(r"[0-9]{4}")
_THEN = re.compile(r"^的?(?:时候|那[天会阵](?:儿|子)?|期间)")
_TELLING = re.compile(rf"(?:{_SAYING})(?:过|了|好|的|是|到)?[^，。？！,.?!；;]{{0,2}}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTime:
    """Which time a text asks for."""

    words: str
    """As written."""
    rest: str
    """The text without them: what is to be found in that time."""
    window: Window | None = None
    """None of a talk before this one, until the turns have told (`AskedTimes`)."""
    sessions_back: int = 0
    """1: the latest talk before this one (「上次」)."""
    is_said: bool = False
    """What was said then is asked for, not what was done."""


def asked_time(text: str, at: datetime) -> AskedTime | None:
    """The time whose memories a text said at `at` asks for; None where it asks for none in the past."""
    text = text[:LONGEST_READ]
    if _TIME.search(text) is None:
        return None
    asks = _asks(text)
    if not asks and _OF_THEN.search(text) is None:
        return None
    spans = [span for span in find_times(text, at) if (_window(span, at) or span.kind is Kind.SESSION)]
    bound = [span for span in spans if _binds(text, span, at, asks=asks)]
    if not bound:
        return None
    # 「上周三说的10号的票」: the time that something was said at is asked for, the other is what was said.
    span = next((span for span in bound if _is_said_at(text, span)), bound[0])
    rest = (text[: span.start] + _THEN.sub("", text[span.end :])).strip(" ，,、")
    return AskedTime(
        words=span.text,
        rest=rest,
        window=_window(span, at),
        sessions_back=span.sessions_back,
        is_said=_is_said_at(text, span),
    )


def asks_same_time(text: str) -> bool:
    """「那天还说了什么」: of the time that was asked for before."""
    return _THAT_DAY.search(text[:LONGEST_READ]) is not None and _asks(text)


class AskedTimes:
    """Reads the times that messages ask for, over the turns of their scopes."""

    def __init__(self, log: TurnLog) -> None:
        self._log = log

    async def read(self, text: str, at: datetime, scope: Scope, recent: Sequence[Turn]) -> AskedTime | None:
        """Always with its window. `recent`: the last turns of the scope, oldest first. Raises StoreUnavailable."""
        asked = asked_time(text, at)
        if asked is None and asks_same_time(text):
            for turn in reversed(recent[-LATELY:]):
                if (before := asked_time(turn.question, turn.at)) is not None:
                    return await self._placed(replace(before, rest=text), turn.at, scope)
        return await self._placed(asked, at, scope) if asked is not None else None

    async def _placed(self, asked: AskedTime, at: datetime, scope: Scope) -> AskedTime:
        if asked.window is not None:
            return asked
        times = await self._log.times(scope, LOOKED_BACK)
        return replace(asked, window=earlier_session(times, at, asked.sessions_back))


def _asks(text: str) -> bool:
    return is_question(text) or _ASKS_TOO.search(text) is not None


def _window(span: TimeSpan, at: datetime) -> Window | None:
    """The window as of the past: nothing was said in one to come."""
    for window in (span.window, span.earlier):
        is_all = window is not None and window.start <= OPEN_START and window.end >= at
        if window is not None and window.start < at and not is_all:
            return window
    return None


def _binds(text: str, span: TimeSpan, at: datetime, *, asks: bool) -> bool:
    before, behind = text[: span.start], text[span.end :]
    if _TELLING.search(before) and not _is_said_at(text, span):
        return False  # 「说好昨天到」: the time is what was said.
    is_clause = _OF_THEN.match(behind) is not None
    if _ONLY_SAID.search(span.text):
        return _is_said_at(text, span) and (asks or is_clause)
    if span.kind is Kind.SESSION:
        return asks or is_clause
    if not asks:
        return is_clause and _is_said_at(text, span)
    if _is_said_at(text, span):
        return True
    window = _window(span, at)
    # What happened in a year may be told in another, and what a number names needs no time.
    if (window is not None and window.end - window.start > LONGEST_OF_DEEDS) or _NUMBER.search(
        before + behind
    ):
        return False
    if _DONE.search(behind):
        return True
    if _RECURS.match(span.text):
        return False
    is_over = window is not None and window.end <= at
    return is_over and not (_AHEAD.search(span.text + behind) or _OF_HOUSE.search(text))


def _is_said_at(text: str, span: TimeSpan) -> bool:
    """Whether a verb of saying follows, close by."""
    behind = re.split(r"[，。？！,.?!；;]", text[span.end :], maxsplit=1)[0]
    return _SAID.search(behind[:8]) is not None
