"""What a person means by 「忘记 <words>」: a number, a thing, a time, the last thing said, or everything.

Invariant: pure; decided by the words and the moment they were said at. Where it could be less or all, it is less.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.conversation.simplified import simplified
from bot.memory.listed_numbers import numbers_named
from bot.memory.normalise import normalise
from bot.memory.time_zh import OPEN_START, Kind, TimeSpan, Window, find_times

LONGEST_READ = 200
"""Characters."""


class Means(StrEnum):
    """What sort of thing is to be forgotten."""

    ALL = "all"
    LAST = "last"
    """What was said last."""
    NUMBER = "number"
    """One memory, by the number it is shown with."""
    TIME = "time"
    """All that was said in a time."""
    THING = "thing"
    """What the words name, perhaps in a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetRequest:
    means: Means
    phrase: str = ""
    """Of a THING: what names it, normalised, without the words around it and without a time that binds."""
    whole: str = ""
    """The same with the time: where that is part of what was told (「上周去医院的事」)."""
    numbers: tuple[int, ...] = ()
    is_only_number: bool = False
    """Nothing says that it is a number of a list: it may as well be the thing itself."""
    window: Window | None = None
    sessions_back: int = 0
    """1: the latest earlier talk (「上次」), whose window only the turns tell."""
    is_said_then: bool = False
    """The time is when it was said, not perhaps what was said."""
    is_recent: bool = False
    """「刚才」: of the talk going on."""


_RECENT = re.compile(r"刚才|刚刚|方才|刚(?![好性果需强毅烈])|just now|just said")
_LAST_MARK = re.compile(
    r"刚|方才|最后|最近[说讲发]|[上前]面|[上前]一?[句条]|这[句条个件]|what i (?:just )?(?:said|told you)"
)
_LAST_ONLY = re.compile(
    r"刚才|刚刚|方才|刚(?![好性果需强毅烈])|最近|最后|[上前]面|[上前]一?(?=[句条])|[这那一句条个件]|话|消息|信息|事情|事|说错|打错|发错|弄错|搞错|口误|嘴快|嘴瓢|废话|胡话|语音|内容|东西|这些|那些|告诉|[我你您跟和对给说讲发提聊写过到的了吧]"
    r"|what i (?:just )?(?:said|told you)|[\s.!~,]"
)
_SAYING = r"[说讲聊谈提问发写告]"
_EVERY = re.compile(
    r"每一?[句件条个]|任何|从头到尾|点点滴滴|一切|所有|全部|全都|统统|通通|整个|everything|all\b"
)
_IN_ALL = re.compile(
    r"一切|所有|全部|全都?|统统|通通|整个|每一|都|一起|[我你您咱](?:们)?|关于|有关|对|跟|和|与|之间|以前|之前|从前|到现在|至今"
    r"|everything|all|about|you know|me|my|i|told|that|记忆|记录|记得|记住|知道|了解|保存|存|记|聊天|对话"
    r"|谈话|说|讲|聊|谈|提|告诉"
    r"|事情|事儿|事|东西|内容|信息|数据|资料|档案|痕迹|历史|隐私|个人|脑[子海]|[这那][里儿]|之间|过去|任何|交流|沟通|往来|从头到尾|点点滴滴|画像|印象|背景|身上|情况|话|这些|那些|[里在件句条个过的了吧啊到给]|[\s,.!]"
)
_IS_ALL_ALONE = re.compile(
    r"(?:关于)?我(?:的?(?:事情?|记忆|信息|数据|资料|一切)|(?:的?个?人?(?:隐私|资料|信息|档案))|这个人)?|(?:你的?)?记忆|(?:我们的?|以前的?|之前的?|你?对我的)*(?:聊天|对话|历史)?(?:记录|历史|了解|印象)"
    r"|(?:[你您](?:们|这里|那里|这边|那边)?)?(?:脑[子海]里|心里|手[里上])?的?(?:存|记|留|知道|掌握|保存|记录|收集)?(?:着|下|过|了|住)?的?(?:关于|有关|对|和|跟)?我(?:个人|本人|自己)?的"
    r"(?:记忆|印象|了解|认识|记录|资料|信息|数据|档案|画像|隐私|东西|内容|事情?)"
    r"|[我你]?(?:说|讲|聊|谈)过的?(?:话|事情?|东西|内容)?"
    r"|[你您我都所已经]*(?:记得|记住|知道)的?(?:我的?)?(?:事情?|东西|内容)?"
)
_TALK_ONLY = re.compile(
    r"对话|聊天|谈话|交谈|闲聊|会话|记录|内容|消息|发言|全部|所有|一切|都|全|这段|那段|那次|这次|那些|这些|这几句|那几句|几句|一段|一些|部分|期间"
    r"|废话|闲话|胡话|心里话|牢骚|吐槽|抱怨|唠嗑|唠|交流|沟通|往来|留言|语音|信息|数据|资料|任何|整天|一整天|一天|全天|那会儿?|每一?[句条件]|[一两几]?[句条件点]"
    r"|里面?|里|中|时候?|[我你您咱]们?|和|跟|对|与|给|说|讲|聊|谈|提|告诉|问|发|过|的|了|吧|啊|到|话|事情|事儿|事|东西|记忆|记住|记得|记|那天|当天|[所有时内上俩刚间]|[\s,.!~]"
)
_WHOLE_TALK = re.compile(r"对话|聊天|聊|谈话|会话|这段|全部|所有|都|全|那些|这些|几句")
_AROUND = re.compile(
    r"^(?:请|(?:前面|上面|上头|前头)(?=[说讲发提聊写])|前面(?:那[个条]|的)?|上面(?:那[个条]|的)?|[说讲发提聊写给记存留填报]过?的|把|掉|后悔|不该|不应该|曾经?|凡是|涉及|含有|带有|包含|提及|叫|一切|关于|有关|跟|我们|我|咱们?|你|您|刚才|刚刚|方才|之前|上次|以前|前面|曾经|和你|跟你|对你|向你|给你|说过?的?|讲过?的?|聊天记录|聊天"
    r"|提(?:过|到|起)的?|聊(?:过|到)?的?"
    r"|告诉过?你?的?|记住的?|记得的?|保存的?|存的|那[个件条份张笔些]|这[个件条份张笔些]|的|所有|全部"
    r"|about|that|my|the|what i (?:just )?(?:said|told you)"
    r"|just now|\s|[:,\"'])+"
    r"|(?:的?(?:那件事|这件事|那事儿?|这事儿?|事情|事儿|事|话题|话|内容|东西|记忆|记录|信息|情况"
    r"|什么的|这[回码]事|那[回码]事|这个人|那个人|相关|有关|的一切|的任何|这一?[条点]|那一?[条点])|的|吧|了|啊|哦|全部|所有|都|[\s.!~,\"'])+$"
)


def read_request(words: str, at: datetime) -> ForgetRequest:
    """Of the words behind 「忘记」, said at `at` (aware)."""
    # 「上礼拜的一切」 is no Monday.
    text = simplified(words.strip()[:LONGEST_READ]).replace("一切", "全部")
    normal = normalise(text)
    if numbers := numbers_named(normal):
        # Of several, nobody would speak as of one word.
        whole = normal if normal.isdecimal() else ""
        return ForgetRequest(
            means=Means.NUMBER, numbers=numbers, is_only_number=bool(whole), phrase=whole, whole=whole
        )
    if _LAST_MARK.search(normal) and not _LAST_ONLY.sub("", normal) and not _WHOLE_TALK.search(normal):
        return ForgetRequest(means=Means.LAST, is_recent=True, is_said_then=True)
    if _RECENT.search(normal):
        return _recent(normal)
    if (span := _time(text, at)) is not None:
        return _in_time(text, span, at)
    if _is_all(normal):
        return ForgetRequest(means=Means.ALL)
    phrase = strip_around(normal)
    if not _TALK_ONLY.sub("", phrase):
        is_last = re.search(_SAYING, normal) is not None
        return ForgetRequest(means=Means.LAST if is_last else Means.THING)
    return ForgetRequest(means=Means.THING, phrase=phrase, whole=phrase)


def strip_around(normal: str) -> str:
    """What names the thing in normalised words."""
    return _AROUND.sub("", normal)


def _recent(normal: str) -> ForgetRequest:
    rest = _RECENT.sub("", normal)
    if _TALK_ONLY.sub("", rest) == "":
        means = Means.TIME if _WHOLE_TALK.search(rest) else Means.LAST
        return ForgetRequest(means=means, is_recent=True, is_said_then=True)
    phrase = strip_around(normal)
    return ForgetRequest(means=Means.THING, phrase=phrase, whole=phrase, is_recent=True)


def _time(text: str, at: datetime) -> TimeSpan | None:
    """The time that something was said at; of several, the one that a word of saying follows."""
    spans = [span for span in find_times(text, at) if span.kind is Kind.SESSION or _window(span, at)]
    return next((span for span in spans if _is_said(text, span)), spans[0] if spans else None)


def _in_time(text: str, span: TimeSpan, at: datetime) -> ForgetRequest:
    rest = normalise(text[: span.start] + " " + text[span.end :])
    phrase = strip_around(rest)
    is_talk = not _TALK_ONLY.sub("", rest)
    return ForgetRequest(
        means=Means.TIME if is_talk else Means.THING,
        phrase="" if is_talk else phrase,
        whole=strip_around(normalise(text)),
        window=_window(span, at),
        sessions_back=span.sessions_back,
        is_said_then=is_talk or _is_said(text, span),
    )


def _is_said(text: str, span: TimeSpan) -> bool:
    return re.match(rf"[^,，。]{{0,6}}?(?:{_SAYING}|记(?:住|下|的))", text[span.end :]) is not None


def _window(span: TimeSpan, at: datetime) -> Window | None:
    """As of the past."""
    for window in (span.window, span.earlier):
        if window is not None and window.start < at and window.start > OPEN_START:
            return Window(start=window.start, end=window.end)
    # 「三个月以前说的」 has no beginning, and is meant all the same.
    if span.window is not None and span.window.start <= OPEN_START and span.window.end <= at:
        return span.window
    return None


def _is_all(normal: str) -> bool:
    bare = normal.strip(" .!~,")
    if _IS_ALL_ALONE.fullmatch(bare):
        return True
    return _EVERY.search(bare) is not None and not _IN_ALL.sub("", bare)
