"""How many memories a question deserves: by rule, or as a model has judged it.

Invariant: pure and total; the number is always from `SIMPLE_K` to `COMPLEX_K`.
"""

import re

from bot.conversation.lexical import fold
from bot.memory.normalise import normalise
from bot.memory.questions import is_about_oneself, is_simple

SIMPLE_K, ORDINARY_K, BOUND_K, SEVERAL_K, COMPLEX_K = 3, 5, 6, 8, 10
"""One thing is asked; more than one word of context; within a time; two or three things; all there is.
More memories than a question needs distract a model, fewer leave out what it is to add up."""

_ALL = re.compile(
    r"哪些|所有|全部|都有(?:什么|啥|哪|谁)|都(?:买|说|聊|提|问|去|吃|做|用|记|知道|喜欢)(?:过|了|得|到)?(?:些|什么|啥|哪)|总结|汇总|归纳|梳理|列出|列一下|列举|盘点|回顾"
    r"|一共|总共|总计|合计|加起来|多少[次个件单笔种]|几[次单笔]|统计|概括|历次|每一?[次单笔个]|清单|说说我|介绍(?:一下)?我|所有的|有没有别的|还有(?:什么|哪|啥)|从头|完整|详细"
    r"|summar|list (?:all|every)|\ball\b|every|how many|overview"
)
_COMPARED = re.compile(
    r"对比|比较|相比|区别|差别|不同|哪个(?:更|比较|好|贵|便宜)|哪一?[款件种].{0,4}(?:更|好|贵|便宜)|更(?:好|贵|便宜|适合)|变化|分别|各自|之间|还是.{1,10}好|versus|\bvs\b|compare|differ"
)
_WITHIN = re.compile(
    r"上次|上回|刚才|刚刚|之前|以前|前几天|最近|昨天|前天|今天|上周|上上周|上个?月|这个?月|这周|本周|本月|去年|今年|前年"
    r"|[0-9一二两三四五六七八九十几]{1,6}(?:天|周|个?月|年|个?小时|分钟)(?:前|之?内|以来)"
    r"|周[一二三四五六日天末]|星期|[0-9]{1,2}月|[0-9]{1,2}[号日]"
    r"|双十一|双11|国庆|春节|五一|618|元旦|中秋|yesterday|last (?:week|month|year|time)|ago"
)
_ONE_NAME = re.compile(r"我叫(?:什么|啥)|我的名字|我姓什么|称呼我|叫我(?:什么|啥)|my name")
"""Asks about the person, and for one thing all the same."""
_JOINED = re.compile(r"[,;?.]|以及|还有|并且|同时|另外|顺便|和|跟|\band\b")
_WHY = re.compile(r"为什么|为啥|怎么会|原因|怎么办|分析|建议|推荐|适合|应该|why|how come|recommend|suggest")

_KIND = re.compile(
    r"(?:问题|问句|提问)?(?:类型|类别|复杂度|难度)\W{0,6}?[:=]\W{0,6}([^\s,。;|/、]{1,20})(\s?[|/、或])?"
)
_COUNT = re.compile(
    r"(?:(?:检索|召回|查询|需要|返回|记忆|条目|条数|数量|数目|个数|建议|的){1,6}|top[_\s-]?k|k)\W{0,6}?[:=]\W{0,6}?(?:约|大约|至少|最多)?"
    r"(?<!-)([0-9]{1,4}|[一二两三四五六七八九十]{1,3})(?![0-9一二两三四五六七八九十]|\s?[|/、或]\s?[0-9一二两三四五六七八九十])",
    re.IGNORECASE,
)
"""One of several, as in the template that a model hands back (「简单/普通/复杂」), is no answer; nor is less than none."""
_KINDS = (
    (re.compile(r"复杂|聚合|综合|总结|汇总|列举|统计|complex|aggregate|summary", re.IGNORECASE), COMPLEX_K),
    (re.compile(r"对比|比较|多项|compar", re.IGNORECASE), SEVERAL_K),
    (re.compile(r"时间|时序|时效|temporal|time", re.IGNORECASE), BOUND_K),
    (re.compile(r"简单|单一|事实|直接|simple|fact", re.IGNORECASE), SIMPLE_K),
    (re.compile(r"普通|一般|中等|常规|ordinary|medium|normal", re.IGNORECASE), ORDINARY_K),
)
_NUMERALS = {numeral: value for value, numeral in enumerate("零一二三四五六七八九十")} | {"两": 2}
LONGEST_READ = 1_000
"""Characters of a question or an answer."""


def k_of(question: str) -> int:
    """How many memories to recall."""
    normal = normalise(question[:LONGEST_READ])
    if not any(character.isalnum() for character in normal):
        return SIMPLE_K
    asks_all, compares = bool(_ALL.search(normal)), bool(_COMPARED.search(normal))
    if asks_all or (is_about_oneself(normal) and not _ONE_NAME.search(normal)):
        return COMPLEX_K
    if compares:
        return SEVERAL_K
    if _WITHIN.search(normal):
        return BOUND_K
    if _ONE_NAME.search(normal) or (is_simple(normal) and not _WHY.search(normal)):
        return SIMPLE_K
    body = normal.rstrip("?!.~ ")
    return SEVERAL_K if len(_JOINED.findall(body)) >= 2 else ORDINARY_K


def read_k(answer: str) -> int | None:
    """Of a model's 「问题类型：… 检索条目数量：…」: the number, else what the type deserves. None: neither is there."""
    answer = fold(answer[:LONGEST_READ])
    count = _COUNT.search(answer)
    if count:
        return min(max(_number(count[1]), SIMPLE_K), COMPLEX_K)
    kind = _KIND.search(answer)
    if kind is None or kind[2]:
        return None
    return next((k for words, k in _KINDS if words.search(kind[1])), None)


def _number(text: str) -> int:
    if text.isdigit():
        return int(text)
    tens, ten, ones = text.partition("十")
    if not ten:
        return _NUMERALS[text[0]]
    return _NUMERALS.get(tens, 1) * 10 + _NUMERALS.get(ones, 0)
