"""The person's 「对」 to a question of the bot's: what the bot asked whether it is so, is so.

Invariant: pure, linear. Only one plain question about the person (「您的鞋码是42，对吗？」) and an answer that is
nothing but a yes make a fact of the bot's words; an offer, a suggestion, a question with a choice, one of several
questions, or a doubtful answer make none.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.conversation.text import content
from bot.memory.claims import read_claims
from bot.memory.clauses import clauses_of, is_order, is_request, is_supposed
from bot.memory.fact import FactKind, NewFact
from bot.memory.normalise import normalise
from bot.memory.statements import new_fact, sort_of
from bot.memory.third_parties import is_about_others

ANSWERED_WITHIN = timedelta(hours=24)
"""A yes that comes later may be one to something else."""
LONGEST_REPLY = 60
"""Characters: who writes more says it themselves."""
LONGEST_ASKED = 120
CONFIRMED_IMPORTANCE = 0.8
"""Asked for and answered."""

_SENTENCE = re.compile(r"[^。！!？?\n；;]+[。！!？?；;]*")
_TAG = re.compile(
    r"[,，\s]*(?:我?(?:说|记|理解)得?(?:对|没错)吗|(?:这)?(?:个|样)?(?:信息|说法)?(?:对不对|是不是|对吗|对吧|对么"
    r"|是吗|是吧|是么|没错吧|没错吗|没记错吧|正确吗|准确吗|属实吗)|吗|么|吧|呢)[\s?？~～。]*$"
)
_ASKS = re.compile(r"[?？][\s~～]*$|[吗么吧][\s~～。]*$")
_LEAD = re.compile(
    r"^(?:(?:好的?呢?|嗯|那么?|所以|也就是说|这么说|看来|请问|抱歉|不好意思|对了|顺便(?:问一下)?|想?(?:再)?(?:跟您"
    r"|和您|向您|跟你|和你)?(?:再)?(?:确认|核对|核实)(?:一下|下)?|我(?:想|需要|这边)?(?:再)?(?:跟您|和您"
    r"|向您)?(?:确认|核对|核实)(?:一下|下)?"
    r"|我(?:这边)?(?:记得|记录的是|看到|查到)|(?:系统|记录|资料)(?:里|上)?(?:显示|记录)?(?:的)?(?:是)?|(?:您"
    r"|你)?(?:之前|以前|上次|刚才|刚刚)(?:说|提到|提)(?:过|的是)?|(?:您|你)(?:说|提到)(?:过|的是)?|之前)[,，:：、\s]*)+(?=.)"
)
_OPEN = re.compile(
    r"什么|啥|哪(?!怕)|多少|多[大高重长久远]|几(?!乎)|怎么|怎样|如何|谁|何时|为什么|为何"
    r"|(?<=[0-9a-zA-Z码号色款味])还是|还是(?!这|那|原|老|之前|[0-9])|或者|要不要|需不需要|能不能|可不可以|想不想"
    r"|有没有|会不会|好不好|行不行"
)
_OFFERS = re.compile(
    r"需要(?:我|帮|为|给|人工)|要我|(?:我们?|这边|小店|本店|店里|客服|咱们)(?!的)(?:这边)?(?:可以|能|会|来|先|再|就"
    r"|帮|给|为|替|把|安排|推荐|有|是|在)|帮[您你]|给[您你](?!的)|为[您你](?!的)|替[您你]|推荐|建议|试试|试一[下试]"
    r"|考虑|看看|要不(?!要)|不如|介意|愿意|方便|可以[吗么]|行[吗么]|好[吗么]|好吧|怎么样"
    r"|想(?:要)?(?:了解|看|试|买)|感兴趣|请[您你]|记住|转人工|麻烦[您你]"
)
_PERSON = re.compile(r"[您你](?!们)")
_INTERJECTION = re.compile(r"^(?:哈+|嘿+|呵+|嘻+|哎呀?|诶|欸|啊|噢|哦|喔|哇|唉|嗨|昂|咦)+(?=.)")
_YES = re.compile(
    r"(?:嗯+[呢呐哪啊哈]?|恩+|昂+|en|对+[的啊呀哒滴哦呢啦头吖喽哈咯呗哇嘛呐哪]*|是+[的啊呀滴哦呢哒吖哈咯呗哇嘛呐哪]*"
    r"|没错[的啊]?|正确|确实如?此?|就是(?:这样|这个|它|的)?|就这[样个]|[没无]误|属实|当然[是了]?|必须的?|可不(?:是|嘛)?"
    r"|完全正确|一点没错|全对|都对|[你您]?(?:说|记|猜|答)[的得]?(?:对|没错)了?|[你您]?记[性忆]力?真?(?:好|不错)"
    r"|是这样的?|没变|不变|没改|老样子|(?:还是|就是)?(?:那个|这个|原来的?|老)(?:地址|号码|尺码)?|yes|yep|yeah|yup"
    r"|right|correct|sure|1)+"
)
_COURTESY = re.compile(
    r"(?:谢谢[你您]?|多谢|辛苦了?|麻烦了?|哈+|嘿+|哦|呢|啦|呀|的|了|吧(?!$)|没错|记得真清楚|厉害|真棒|真细心)*"
)
_NO = re.compile(
    r"^(?:嗯+|哦|啊)?(?:不是(?:的|啊|哦|呢|这个|这样)*|不对(?:的|啊|哦|了)*|不+|错了?|错啦|没有(?:啊|的|哦)?|没|否"
    r"|no|nope|不正确|记错了?|[你您]?(?:说|记|搞|弄)错了?|并不是|并没有|早就?不是了?|已经不是了?)+$"
)
_ADDED = re.compile(
    r"但|不过|只是|其实|改|换|不是|应该|现在|可能|好像|有时|偶尔|除了|以前|暂时|算是|骗|玩笑|逗[你您]|别记|不用记"
    r"|不要记|随口|假的|乱说|才怪|个鬼|之前|曾经|不再|已经|[别不没]|[他她]|别人|朋友|同事|老公|老婆|[我给帮替是][妈爸]|帮|替|送"
)
_CORRECTION_LEAD = re.compile(
    r"^(?:现在|其实|应该|我的?|实际上?|正确的|早就|已经|都|目前|最近|去年|是|改成|换成|改为|改到|改|换到|换|叫|穿"
    r"|住到|住|在|变成|为|搬到|搬去|搬|要|了|:|：)+"
)
_TAIL = re.compile(r"(?:才对|了|啦|啊|哦|呢|的|吧|哈)+$")
_DIGITS = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_DOUBT = re.compile(r"吧$|可能|好像|大概|也许|应该是|不确定|不清楚|忘了|算是")
_ECHOED = 8
"""Characters of a yes that repeats the question's word: 「有」 to 「您有猫吗」."""
_HAS = re.compile(r"有|养|带|买")
_DEICTIC = re.compile(
    r"这[个款样件条张里]|那[个款样件条张里]|链接|页面|刚才|图片|消息|明白|清楚|收到|听到|看到|在吗|听懂|说的|问的"
)
"""Of these a yes says nothing that lasts."""
_VALUE = re.compile(
    r"(?:[2-9]?x{0,4}[sml]|均码|加[大小]码|[大中小]码|[0-9]+(?:\.[0-9]+)?)(?:码|号|岁|斤|公斤|kg|cm|厘米|米|块|元|个"
    r"|位|人|楼|层)?|[0-9][0-9a-z.:/月日号年点分半室楼弄]{0,24}"
)
_WHICH = re.compile(
    r"(?:是)?(?:什么|哪(?:个|种|一个|里|儿)?|多少|几|多大|多高|多重)(?:尺码|尺寸|大小|码数?|号码|号|岁|斤|公斤|元|钱|楼)?"
)
_CHOICE = re.compile(
    r"(?P<lead>.*?(?:穿|要|喝|吃|喜欢|爱|用|选|是|住|在|去|买|寄|送)(?:的是|到)?)(?P<a>[^,，]{1,6}?)(?P<unit>码|号"
    r"|色)?[,，]?还是(?:穿|要|喝|吃|喜欢|爱|用|选|住在|在|去|买|寄|送)?(?P<b>[^,，]{1,6}?)(?:码|号|色)?(?P<end>的.{1,6})?"
)
_REFUSAL = re.compile(r"算了|不|没|随便|再说|保密|秘密|什么|干嘛|谢谢|你好|您好")
_NAMED = re.compile(r"怎么称呼|贵姓|尊姓|叫什么(?:名字)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """What an answer to the bot's question says."""

    facts: tuple[NewFact, ...] = ()
    denied: str = ""
    """What the person said is not so, in their own person; "" for nothing."""


def asked_of(answer: str) -> str:
    """What an answer of the bot's ends in asking of the person, as a statement of theirs: 「我的鞋码是42」. "" where
    it asks nothing that a yes makes a fact."""
    asked = _question_of(answer)
    if not asked or _OPEN.search(_TAG.sub("", asked).replace("是不是", "")):
        return ""
    return _theirs(_TAG.sub("", asked).strip(" ?？。，,~～").replace("是不是", "是"))


def confirmed_by(answer: str, reply: str, at: datetime, *, is_group: bool) -> Confirmed:
    """What a person's reply makes of the bot's answer before it. `at`: when they replied."""
    clauses = clauses_of(reply) if len(reply) <= LONGEST_REPLY else ()
    if not clauses or any(clause.is_question for clause in clauses) or not (asked := _question_of(answer)):
        return Confirmed()
    said = [_INTERJECTION.sub("", content(clause.text)) for clause in clauses]
    texts = [clause.text for clause in clauses]
    stated = asked_of(answer)
    found = _answered(stated, said, texts) if stated else _Answered(holds=(_chosen(asked, texts[0].strip()),))
    facts = (
        _fact(text, at)
        for text in found.holds
        if text and not is_order(text) and not (is_group and is_about_others(text))
    )
    return Confirmed(facts=tuple(fact for fact in facts if fact is not None), denied=found.denied)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answered:
    holds: tuple[str, ...] = ()
    denied: str = ""


def _question_of(answer: str) -> str:
    """The one question that an answer ends in, if it offers nothing; "" for none."""
    sentences = [each.strip() for each in _SENTENCE.findall(answer[-400:]) if each.strip()]
    questions = [each for each in sentences[-3:] if _ASKS.search(each)]
    if len(questions) != 1 or questions[0] not in sentences[-2:] or len(questions[0]) > LONGEST_ASKED:
        return ""
    asked = _LEAD.sub("", questions[0])
    return "" if _OFFERS.search(asked) or is_supposed(asked) else asked


def _theirs(stated: str) -> str:
    """In the person's own person; "" where it isn't about them."""
    said = re.sub(r"[您你](?!们)", "我", stated)
    is_theirs = said != stated and not _DEICTIC.search(said)
    return said if stated and (is_theirs or read_claims(said).claims) else ""


def _answered(asked: str, said: Sequence[str], texts: Sequence[str]) -> _Answered:
    first, rest = said[0], texts[1:]
    if _is_yes(first, asked):
        if any(_ADDED.search(each) or _DOUBT.search(each) for each in rest):
            return _Answered()
        told = [each for each in rest if not (is_request(each) or _COURTESY.fullmatch(content(each)))]
        apart = [each for each in told if sort_of(each) is not None]
        # 「对，L码」 says more of the same.
        return _Answered(holds=("，".join([asked, *(each for each in told if each not in apart)]), *apart))
    if _NO.match(first):
        return _Answered(holds=(_corrected(asked, rest[0]) if rest else "",), denied=asked)
    if _YES.match(first):
        return _Answered()
    found = re.match(r"(?:不是|不对|错了|不)(?:的)?(?=是|我|现在|应该)", first)
    if found is not None or _is_other_value(first, asked):
        value = first[found.end() :] if found else texts[0]
        return _Answered(holds=(_corrected(asked, value),), denied=asked)
    return _Answered(denied=asked) if _is_echoed_no(first, asked) else _Answered()


def _is_yes(first: str, asked: str) -> bool:
    if (found := _YES.match(first)) is not None:
        rest = first[found.end() :]
        if _COURTESY.fullmatch(rest):
            return True
        rest = _TAIL.sub("", rest)
        return bool(rest) and rest in content(asked) and not _NO.match(rest)
    word = _TAIL.sub("", first)
    if word == "有" and _HAS.search(asked):
        return True
    return bool(word) and len(word) <= _ECHOED and word in content(asked) and not _NO.match(word)


def _is_echoed_no(first: str, asked: str) -> bool:
    """「不住」 to 「您住在杭州吗」."""
    found = re.fullmatch(r"(?:现在|早|已经)?[不没](.{1,4}?)(?:了|啊|的)?", first)
    return bool(found) and found[1] in content(asked) and first not in content(asked)


def _is_other_value(first: str, asked: str) -> bool:
    """「43」 or 「现在43码了」 to 「您的鞋码是42吗」: one of the same kind, and no more than that."""
    value = _TAIL.sub("", _CORRECTION_LEAD.sub("", first))
    is_changed = value != _TAIL.sub("", first)
    values = [claim.value for claim in read_claims(asked).claims]
    if not any(values):
        return False
    if _VALUE.fullmatch(value):
        return any(_VALUE.fullmatch(each) for each in values)
    return is_changed and 1 < len(value) <= _ECHOED and not _DOUBT.search(first)


def _chosen(asked: str, said: str) -> str:
    """A question's statement with the value that the person gave: 「M」 to 「您穿M还是L」, 「43」 to 「您穿多大码」."""
    value = _TAIL.sub("", _CORRECTION_LEAD.sub("", said))
    if not value or _DOUBT.search(said):
        return ""
    if _NAMED.search(asked):
        return f"我叫{value}" if value != said or (1 < len(value) <= 4 and not _REFUSAL.search(value)) else ""
    stated = _theirs(_TAG.sub("", asked).strip(" ?？。，,~～"))
    if (choice := _CHOICE.fullmatch(stated)) is not None:
        unit = choice["unit"] or ""
        bare = value.removesuffix(unit)
        is_one = any(
            each.casefold() == bare.casefold() or each.startswith(bare) for each in choice.group("a", "b")
        )
        return f"{choice['lead']}{bare}{unit}{choice['end'] or ''}" if is_one else ""
    which = _WHICH.search(stated)
    if which is None or not _VALUE.fullmatch(value.casefold()):
        return ""
    unit = next((each for each in ("码", "岁", "公斤", "斤", "楼") if each in which.group()), "")
    link = "是" if which.group().startswith("是") else ""
    return f"{stated[: which.start()]}{link}{value.removesuffix(unit)}{unit}{stated[which.end() :]}"


def _corrected(asked: str, said: str) -> str:
    """The question's statement with the value that the person puts right; "" where that says itself what is so, or
    nothing."""
    value = _TAIL.sub("", _CORRECTION_LEAD.sub("", said.strip())).strip()
    if not value or len(value) > 30 or _DOUBT.search(said) or _COURTESY.fullmatch(content(said)):
        return ""
    if sort_of(said) is not None and re.match(r"我|俺|本人", said):
        return ""
    for claim in read_claims(asked).claims:
        place = normalise(asked).find(claim.value)
        if not claim.value or place < 0 or len(normalise(asked)) != len(asked):
            continue
        old = asked[place : place + len(claim.value)]
        if _DIGITS.search(old) and not _DIGITS.search(value):
            continue
        if (number := _DIGITS.fullmatch(value)) and _DIGITS.search(old):
            return asked[:place] + _DIGITS.sub(number.group(), old, count=1) + asked[place + len(old) :]
        end = place + len(old)
        unit = asked[end : end + 1]
        return asked[:place] + value + asked[end + (value.endswith(unit) if unit else 0) :]
    before, link, old = asked.rpartition("是")
    if _DIGITS.search(old) and not _DIGITS.search(value):
        return ""
    return f"{before}是{value}" if link else ""


def _fact(text: str, at: datetime) -> NewFact | None:
    sort = sort_of(text)
    kind = sort[0] if sort else FactKind.IDENTITY if read_claims(text).claims else FactKind.EVENT
    fact = new_fact(text, at, kind, CONFIRMED_IMPORTANCE)
    return fact if fact.text else None
