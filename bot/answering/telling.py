"""A message that asks nothing and tells something of the person: it is acknowledged, and of what is remembered only what
speaks of the same is said.

Invariant: pure. What may be a question, a wish or a request is none.
"""

import re
from collections.abc import Sequence

from bot.memory.claims import contradicts, read_claims
from bot.memory.clauses import clauses_of, is_first_person, is_request
from bot.memory.content_words import FUNCTION_CHARACTERS, content_terms, indexed_terms
from bot.memory.fact import Fact
from bot.memory.normalise import normalise
from bot.memory.statements import sort_of, sort_of_claims

_WANTS = re.compile(
    r"想(?:要|买|吃|喝|找|换|退|看|订|问|了解|知道|查|学|去|选|给|送)|要(?:买|退|换|订|点|找|送|寄|一|几|个|份)|推荐|帮|求|需要|适合|选|挑|怎|咋|吗|呢|谁|哪|几|多少|什么|啥"
    r"|没收到|还没|查|投诉|退款|退货|换货|催|坏了|订单|单号|你|您|记得|忘"
)
"""Something is wanted of whoever hears it, or asked without a mark."""
_GREETING = re.compile(r"[你您]们?好|hi|hello|谢谢[你您]?")
_SAID_OF_ALL = frozenset(
    re.findall(
        r"\S+",
        "每天 天天 早上 晚上 中午 下午 上午 平时 最近 以后 已经 一直 经常 喜欢 不喜 开始 比较 特别"
        " 非常 一般 习惯 自己 今年 去年 明年 周末 今天 昨天 明天 现在 时候 不能 不会 不想 不要 没有"
        " 可以 有点 一个 一只 一次 不吃 不喝 不太 从来 其实 因为 所以 但是 朋友 家里",
    )
)
"""Pairs of characters that two statements may share and yet speak of different things."""


def only_tells(text: str) -> bool:
    """「我对花生过敏」: nothing in it asks or wants something, and something is told of the person."""
    text = _GREETING.sub("", normalise(text))
    clauses = clauses_of(text)
    if not clauses or _WANTS.search(text):
        return False
    if any(clause.is_question or is_request(clause.text) for clause in clauses):
        return False
    return any(_is_told(clause.text) for clause in clauses)


def _is_told(clause: str) -> bool:
    if is_first_person(clause):
        return True
    return _OF_ONESELF.search(clause) is not None and (sort_of(clause) or sort_of_claims(clause)) is not None


_OF_ONESELF = re.compile(r"我|家里|了$|改成|换成")


def of_the_same(text: str, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Those that share what the message speaks of, and don't say what it says is over."""
    asked = {
        term
        for term in content_terms(text)
        if len(term) > 1 and term not in _SAID_OF_ALL and FUNCTION_CHARACTERS.isdisjoint(term)
    }
    told = read_claims(text)
    return tuple(
        fact
        for fact in facts
        if asked & indexed_terms(fact.text) and not contradicts(told, read_claims(fact.text))
    )
