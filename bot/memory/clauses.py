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
LONGEST_LEAD = 20
"""Characters in which a clause says that something was forgotten."""
_SENTENCE_ENDS = frozenset("。！？!?;；…\n.")

_FILLERS = re.compile(
    r"^(?:(?:嗯+|哦+|啊|哈+|那个?|其实|对了|另外|还有|顺便(?:说一下|提一句)?|你好|您好|hi|hello|因为|由于|但是?|不过|而且|所以"
    r"|然后|就是|话说|好的?|so|and|but|by the way|well)[,，、:：\s]*)+",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:请|麻烦)?(?:你|您)?(?:一定)?(?:要|得)?(?:帮我|给我)?(?:记住|记得|记好|记着|知道|注意)(?:一下|了)?[:：,，\s]*(?=我|俺|本人|咱)"
)
_TO_YOU = r"(?:你们?|您们?|客服)"
_FORGOT_TO_TELL = re.compile(
    r"(?:(?:不好意思|抱歉|对不起|对了|哎呀?|唉|啊|哦|噢|我|俺|刚才|刚刚|刚|之前|上次|昨天|差点儿?|都|还|也|又|老|光顾着聊)[,，\s]{0,2}){0,4}"
    r"(?:忘记掉?|忘掉|忘)了?(?:要|该|应该|应当|得|先|提前|早点|早|及时|主动|顺便|同时|当时|再|还|也|来|去|在.{1,6}?[里中上]|把.{1,12}?){0,3}"
    rf"(?:(?:[跟和给对向同与]{_TO_YOU})?(?:再|先)?(?:说(?!话|明书|的)(?:明|清楚?|起|到)?|声明|强调|自我介绍)"
    rf"|[跟和给对向同与]{_TO_YOU}(?:再|先)?[讲提问报聊写](?:明|清楚?|起|到)?"
    rf"|(?:告诉|告知|提醒|通知|转告|回复|[讲问报发])给?{_TO_YOU}|(?:告诉|告知|通知|[讲问])(?=了|一[下声]|[,，:：\s]|$)"
    r"|(?:提(?:起|到)?|讲|报|交[代待]|补充|介绍|备注|注明|标注|反馈|透露|汇报|填写?|写[上明]?|留)"
    r"(?=了|一[下声句点]|[:：,，\s]|$|我|俺|咱|本人|不|没|对|的是))"
    rf"{_TO_YOU}?(?!过|的(?!是))(?:了?(?:一(?:声|下|句|点)|几句|件事|个事)|了|的是)?(?:[:：,，\s]{{1,3}}|哈|啊|呢|哦)?"
)
"""「忘了告诉你我不吃羊肉」「忘记说了」: what somebody meant to tell, and tells now."""

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
            piece = piece[forgot_to_tell(piece) :] or piece
            clauses.append(
                Clause(text=piece, is_question=is_question(piece + mark.strip()), begins_sentence=begins)
            )
            begins = False
        begins = begins or not _SENTENCE_ENDS.isdisjoint(mark)
        start = cut.end() if cut else len(text)
    return tuple(clauses)


def forgot_to_tell(clause: str) -> int:
    """How many characters say that the rest was forgotten to be told (「忘了跟你说」); 0: none."""
    found = _FORGOT_TO_TELL.match(clause) if "忘" in clause[:LONGEST_LEAD] else None
    return found.end() if found else 0


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
