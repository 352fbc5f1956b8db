"""What the words of a statement show, for the heads: signs that are there or are not.

Invariant: pure and linear; the order of `SIGNS` is that of the weights, so a change of it needs a new training.
"""

import re

import numpy as np

from bot.conversation.ports import Vector
from bot.memory.claims import OTHERS, SELF, read_claims
from bot.memory.clauses import is_first_person, is_order, is_reported, is_request, is_supposed
from bot.memory.normalise import normalise
from bot.memory.questions import is_question
from bot.memory.statements import sort_of, sort_of_claims
from bot.memory.third_parties import is_about_others

_WORDS = {
    "i": r"我|俺|本人|\bi\b|\bmy\b",
    "mine": r"我的|我家|家里|我们家|单位|公司",
    "you": r"你|您",
    "he": r"[他她]",
    "people": r"大家|人家|别人|有人|网友|群里|他们",
    "kin": r"妈|爸|爷|奶|外[公婆]|老[公婆]|媳妇|儿子|女儿|闺女|孩子|宝宝|娃|姐|哥|弟|妹|对象|男友|女友|朋友",
    "pet": r"猫|狗|鸟|兔|鱼|宠物",
    "now": r"刚才|刚刚|^我刚|我先|我去|一会|等会|等下|马上|正在|呢$|一下$",
    "for long": r"一直|平时|每[天周月年次晚]|经常|总是|从来|从小|习惯|一般|常",
    "since": r"[0-9一二两三四五六七八九十几半][个多来]{0,2}(?:年|月|天|岁|周|学期)",
    "to come": r"明[天年早晚]|后天|下[个]?[周月年]|周[一二三四五六日末]|礼拜|月底|年底|[0-9一二三四五六七八九十]+[月号日]",
    "plans": r"打算|准备|计划|想要|要去|预约|报了|约了",
    "change": r"改|换|搬|不再|戒|取消|不.{1,6}了|已经|现在|以前",
    "not": r"不|没|别|无",
    "can't": r"不能|不会|不敢|不吃|不喝|不了|受不了|过敏|怕",
    "likes": r"喜欢|爱|最|讨厌|嫌|偏",
    "has": r"有|养|买|开|用|住|穿|戴|叫|姓|属|信",
    "work": r"上班|工作|做.{1,6}的|当|职|师|员|学|考|读",
    "body": r"病|疼|痛|手术|血|药|医院|怀孕|失眠|眼|牙|胃|腰|腿|皮肤",
    "if": r"如果|要是|假如|就好了|要不是|万一|也许|可能|说不定|恨不得|但愿|梦|差点|换作|本来",
    "laughs": r"哈哈|嘻|嘿嘿|骗你|逗你|玩笑|不信|才怪|你信|羡慕",
    "says": r"说|讲|听|传|转|据|告诉",
    "this": r"^(?:这|那|今天|外面|昨晚)",
    "wow": r"真|太|好[^的了,]|啊$|呀$|吧$|嘛$|啦$",
    "written": r"便|曾|之|此|终|岁月|风中|泪|灵魂|[“”\"「」：:]",
    "code": r"密码|口令|验证码|[a-z]{2,}://|www|\.com|链接|系统|记忆|权限|用户|会员",
    "digits": r"[0-9]",
    "latin": r"[a-z]{3,}",
    "list": r",",
}
_PATTERNS = tuple(re.compile(words) for words in _WORDS.values())
_LONG = (6, 10, 16)
"""Characters."""
SIGNS = (
    *_WORDS,
    *(
        "first person",
        "question",
        "request",
        "order",
        "supposed",
        "reported",
        "others",
        "owner kin",
        "owner others",
    ),
    *("sort", "sort claims", "claims", "stances"),
    *(f"longer than {length}" for length in _LONG),
)


def signs_of(text: str) -> Vector:
    """`(len(SIGNS),)` of 0 and 1."""
    normal = normalise(text)
    reading = read_claims(text)
    owners = {clause.owner for clause in reading.clauses}
    shown = (
        *(pattern.search(normal) is not None for pattern in _PATTERNS),
        is_first_person(text),
        is_question(text),
        is_request(text),
        is_order(text),
        is_supposed(text),
        is_reported(text),
        is_about_others(text),
        any(owner != SELF and not owner.startswith(OTHERS) for owner in owners),
        any(owner.startswith(OTHERS) for owner in owners),
        sort_of(text) is not None,
        sort_of_claims(text) is not None,
        bool(reading.claims),
        any(clause.stances for clause in reading.clauses),
        *(len(normal) > length for length in _LONG),
    )
    return np.array(shown, dtype=np.float32)
