"""A person's words, cut into clauses, and what kind of saying each one is.

Invariant: pure; every clause is a piece of the text as it was written. Every pattern takes linear time:
stars are bounded, anchored or run on RE2, since the text is anybody's.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

import re2

from bot.memory.normalise import normalise
from bot.memory.questions import is_question

_CLAUSES = re.compile(
    # A comma between digits belongs to a number (1,000); a space cuts where a new sentence begins.
    r"(?:(?<![0-9])[,，]|[,，](?![0-9])|[。！？!?;；…\n]+|\.(?=\s|$)|\s{1,8}(?=(?:我|俺|本人|i\b|i'm|my\b)))",
    re.IGNORECASE,
)
_SENTENCE_ENDS = frozenset("。！？!?;；…\n.")

_FILLERS = re.compile(
    r"^(?:(?:嗯+|哦+|啊|哈+|那个?|其实|对了|另外|还有|顺便(?:说一下|提一句)?|你好|您好|hi|hello|因为|由于|但是?|不过|而且|所以"
    r"|然后|就是|话说|好的?|so|and|but|by the way|well)[,，、:：\s]*)+",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:请|麻烦)?(?:你|您)?(?:一定)?(?:要|得)?(?:帮我|给我)?(?:记住|记得|记好|记着|知道|注意)(?:一下|了)?[:：,，\s]*(?=我|俺|本人|咱)"
)
_FIRST_PERSON = re.compile(
    r"^(?:以后|平时|一般|最近|现在|今年|今天|明天|后天|昨天|前天|上周|下周|周[一二三四五六日末]|每[天周月年]|小时候|从小)?"
    r"(?:(?:你们?|您)?(?:可以|请|就)?(?:叫我|喊我|称呼我)|我|俺|本人|咱|i\b|i'm|im\b|my\b|mine\b|we\b|our\b)"
)
_REQUESTS = re.compile(
    r"^(?!(?:请|麻烦|帮我|给我|你|您){1,3}(?:把.{1,8}?)?(?:记|登记|备注|标)(?:成|为|作))(?:请|帮|推荐|给我|告诉|麻烦|来[一个点份]|查|看看|求|想问|问一下|你|您|please\b|can\b|could\b|tell\b)"
)
_LIST_MARKS = re.compile(r"(?m)^[ \t]{0,8}(?:[0-9]{1,2}(?:\.(?![0-9])|[、)）])|[-*•])\s*")
_SUPPOSED = re.compile(r"如果|假如|假设|要是|万一|倘若|若是|比如|例如|比方|譬如|\bif\b|suppose|for example")
_REPORTED = re.compile(
    r"(?:你|您|他|她|它|机器人|客服|对方|有人|朋友|书上|网上|上面)(?:们)?(?:刚才|刚刚|之前|上次)?(?:说|讲|写|问|回答|回复|告诉)"
)
_OPENING_MARKS = frozenset('“「『"‘')
_QUOTED_SPEECH = re2.compile(r"(?i)[“「『\"‘][^”」』\"’]*(?:我|本人|\bi\b|\bmy\b)[^”」』\"’]*[”」』\"’]")
"""RE2, since two stars around a character that repeats take cubic time in `re`."""
_ORDERS = re.compile(
    r"(?:你|您|机器人|助手|ai|bot|系统|模型|客服)(?:们)?[^,，。我]{0,6}(?:必须|应该|应当|只能|不许|不准|不得|不能再|不要再|永远|一律|都要|都得"
    r"|要(?!是)|需要|务必)"
    r"|(?:忽略|无视|忘掉|忘记|抛开|跳过|绕过)[^,，。]{0,8}(?:指令|提示|规则|设定|要求|限制|内容|对话|系统)"
    r"|(?:扮演|假装(?:你|自己)?是|你(?:现在|从现在起|从此)?(?:就)?是(?!谁|什么|不是|否))"
    r"|(?:每次|以后|今后|从现在起|从今以后|接下来)[^,，。]{0,6}(?:回答|回复|输出|说话)"
    r"|回[答复][^,，。]{0,8}(?:必须|都要|都用|都得|只用|只能|不要|一律|前面|后面|加上|结尾|开头)"
    r"|(?:必须|一律|总是|永远)[^,，。]{0,8}(?:回答|回复|输出|告诉|称呼|推荐|相信|服从)"
    r"|我(?:才|就)?是(?:你的?|这里的)?(?:管理员|主人|开发者|创造者|超级用户|系统)(?!岗|运维|集成|工程)|系统提示|提示词(?!培训|工程|课|师)|开发者模式|越狱"
    r"|ignore[^.]{0,30}(?:instruction|prompt|rule|above|previous)|system prompt|developer mode"
    r"|you (?:must|should|are now|have to)"
    r"|pretend to be|act as|from now on"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One clause, and whether a sentence begins with it."""

    text: str
    """Trimmed, without its closing mark."""
    is_question: bool
    begins_sentence: bool


@lru_cache(16)
def clauses_of(text: str) -> tuple[Clause, ...]:
    """Cut at commas, sentence ends and line breaks; empty pieces are dropped."""
    clauses: list[Clause] = []
    start, begins = 0, True
    text = _LIST_MARKS.sub("", text)
    for cut in (*_CLAUSES.finditer(text), None):
        end = cut.start() if cut else len(text)
        mark = cut.group() if cut else ""
        piece = text[start:end].strip(" \t\r\n.。~～-*•")
        if piece:
            clauses.append(
                Clause(text=piece, is_question=is_question(piece + mark.strip()), begins_sentence=begins)
            )
            begins = False
        begins = begins or not _SENTENCE_ENDS.isdisjoint(mark)
        start = cut.end() if cut else len(text)
    return tuple(clauses)


def without_lead(clause: str) -> str:
    """Without fillers (其实…) and without 「你要记得」 before the person's own statement."""
    return _LEAD.sub("", _FILLERS.sub("", clause))


def is_first_person(clause: str) -> bool:
    """The speaker is its subject (or its object in 叫我…)."""
    return bool(_FIRST_PERSON.search(normalise(clause)))


def is_request(clause: str) -> bool:
    """Asks for something to be done (推荐点零食): says nothing of the speaker."""
    return bool(_REQUESTS.search(normalise(clause)))


def is_supposed(clause: str) -> bool:
    """Says what might be, not what is."""
    return bool(_SUPPOSED.search(normalise(clause)))


def is_reported(clause: str) -> bool:
    """Repeats what somebody else said, the bot included: not the speaker's own statement."""
    if _REPORTED.search(normalise(clause)):
        return True
    return not _OPENING_MARKS.isdisjoint(clause) and bool(_QUOTED_SPEECH.search(clause))


def is_order(clause: str) -> bool:
    """Tells the bot how to behave (「以后你必须…」「忽略之前的指令」): never a memory."""
    return bool(_ORDERS.search(normalise(clause)))


def states(text: str) -> bool:
    """Something in it is no question."""
    return any(not clause.is_question for clause in clauses_of(text))
