"""How a reply stands to what the bot asked whether it is so: a yes, a no, or another value in its place.

Invariant: pure, linear. Both are short; what is doubtful is neither.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.conversation.text import content
from bot.memory.claims import read_claims
from bot.memory.clauses import is_request
from bot.memory.putting_right import (
    CORRECTION_LEAD,
    COURTESY,
    DIGITS,
    DOUBT,
    ECHOED,
    ENDED,
    LONGEST_VALUE,
    NO,
    TAIL,
    by_claim,
    by_form,
    by_kind,
    by_verb,
    corrected,
)
from bot.memory.statements import sort_of

_PARTICLES = "的啊呀哒滴哦呢啦头吖喽哈咯呗哇嘛呐哪噢喔嘞"
_YES = re.compile(
    rf"(?:嗯+[呢呐哪啊哈]?|恩+|昂+|en|欸|对+[{_PARTICLES}]*|是+[{_PARTICLES}]*"
    r"|没错[的啊哦]?|正确|确实如?此?|就是(?:这样|这个|它|的)?|就这[样个]|[没无]误|属实|准确|当然[是了]?|必须的?|可不(?:是|嘛)?"
    r"|完全正确|一点没错|一点儿没错|全对|都对|[你您]?(?:们)?(?:说|记|猜|答|登记)[的得]?(?:对|没错|准确|很准)了?"
    r"|没(?:说|记|搞|弄|写|填)错|[你您]?记[性忆]力?真?(?:好|不错)"
    r"|(?:还)?是这样的?|没变(?:化|过)?|不变|没改过?|没换过?|没毛病|正解|那是|[你您]?(?:真是)?好记性|记得?(?:真|很|挺|好)?(?:准|牢|清楚)|还在?用(?:着"
    r"|的)?|在用|老样子|老规矩|照旧|一样的?|跟(?:之前|以前|上次)一样|和(?:之前|以前|上次)一样"
    r"|(?:还是|就是|用|是)?(?:那个|这个|原来的?|老)(?:地址|号码|尺码|那个)?|yes|yep|yeah|yup|right|correct|sure|1)+"
)
_AGREES = re.compile(
    r"(?:可以|行|好|成|中|ok|okay|没问题|没有问题|就这样|就这么|同意|妥|当然|叫吧|(?:记|登记|写|备注|标|填|改)(?:上|下|一下)?吧|要的?|需要|不错)"
    r"(?:[的啊呀哒滴哦呢啦哈嘞吧了]|就这样|就这么|记|定|写|登记|叫|谢谢|辛苦|麻烦)*"
)
"""To what is to be written down."""
_MOVED = re.compile(
    r"^(?:我|现在|早就?|已经|都|刚|刚刚|最近|去年|前阵子|上个月|那个|地址|号码|电话|工作|这个|全|又)*"
    r"(?:(?:搬|换|改|变|调|跳槽|辞职?|离职|毕业|转行|升|涨|降|胖|瘦|长)(?:家|走|掉|过|工作|地方|号|人|公司|单位|高|大|小)*了"
    r"|不(?:住|在|用|穿|喝|吃|养|开|做|干|叫|要|是)(?:那|这|那里|那儿|那边|这儿|这里|这个|那个)?了|停用了|作废了)[啦哦呢]*$"
)
"""It was so, and is no longer."""
_ADDED = re.compile(
    r"但|不过|只是|其实|改|换|不是|应该|现在|可能|好像|有时|偶尔|除了|以前|暂时|算是|骗|玩笑|逗[你您]|别记|不用记"
    r"|不要记|随口|假的|乱说|才怪|个鬼|之前|曾经|不再|已经|[别不没]|[他她]|别人|朋友|同事|老公|老婆|[我给帮替是][妈爸]|帮|替|送"
)
_UNCHANGED = re.compile(
    r"现在(?:也|还|就)是?|不用(?:改|换|变)|没(?:变|换|改|错|问题)过?|不(?:变|换|改)|已经(?:好几|很多|[0-9一二三两四五六七八九十]+)年"
)
"""Of these words none takes back what was affirmed."""
_HAS = re.compile(r"有|养|带|买")
_STILL = re.compile(r"^(?:还是|就是|还在|还|也|现在|一直|都|就|是|确实|我|刚|刚满|的确|依然|仍然)+")
_VALUE = re.compile(
    r"(?:[2-9]?x{0,4}[sml]|均码|加[大小]码|[大中小]码|[0-9]+(?:\.[0-9]+)?)(?:码|号|岁|斤|公斤|kg|cm|厘米|米|块|元|个"
    r"|位|人|楼|层)?半?|[0-9][0-9a-z.:/月日号年点分半室楼弄]{0,24}"
)
_APPROXIMATE = re.compile(r"左右|大概|大约|差不多|上下|约")
_NEARLY = re.compile(r"(?:差不多|大概是?|大致|基本上?)(?:[的吧是]|就这样)*")
_QUESTIONING = re.compile(r"什么|啥|干嘛|怎么|你猜|谁|为何|哪")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What a reply says of a statement that was asked about."""

    holds: tuple[str, ...] = ()
    denied: str = ""


def answered(asked: str, texts: Sequence[str], *, is_record: bool = False) -> Answered:
    """`asked`: in the person's own words. `texts`: the clauses of their reply. `is_record`: it is to be written down,
    so that who agrees says yes."""
    texts = _parted(texts)
    first, rest = _bare(texts[0]), texts[1:]
    if _is_yes(first, asked) or (is_record and _AGREES.fullmatch(first)):
        return _affirmed(asked, rest)
    if (put := _NOT_BUT.fullmatch(first)) is not None and put["old"] in content(asked):
        return Answered(holds=(corrected(asked, put["value"]),), denied=asked)
    if (but := _BUT_NOT.fullmatch(first)) is not None and but["old"] in content(asked):
        return Answered(holds=(corrected(asked, but["value"]),), denied=asked)
    if NO.match(first) or _MOVED.match(first) or _is_echoed_no(first, asked):
        put_right = (corrected(asked, each) for each in rest)
        return Answered(holds=(next((each for each in put_right if each), ""),), denied=asked)
    if (is_so := _IS.fullmatch(first)) is not None and _is_plain_value(is_so["value"], asked):
        return Answered(holds=(corrected(asked, is_so["value"]),), denied=asked)
    if _YES.match(first):
        return Answered()
    found = re.match(r"(?:不是|不对|错了|不)(?:的|了)?(?=是|我|现在|应该|改|换)", first)
    if found is not None:
        return Answered(holds=(corrected(asked, first[found.end() :]),), denied=asked)
    if _is_other_value(texts[0], first, asked):
        return Answered(holds=(corrected(asked, texts[0]),), denied=asked)
    return Answered()


_IS = re.compile(r"(?:现在|应当|其实|就)?是(?P<value>[^的啊呀哒滴哦呢啦哈].{0,20})")
_NOT_BUT = re.compile(
    r"不(?:是|叫|在|住|姓|用|穿)(?P<old>.{1,16}?)(?:了)?(?:而|应该)?(?:是|叫|在|住|姓|用|穿)(?P<value>.{1,24})"
)
_BUT_NOT = re.compile(
    r"(?:应该|其实|我)?(?:是|叫|在|住|姓|用|穿)(?P<value>[^不]{1,16}?)(?:而|[,，])?(?:不|可不)(?:是|叫|在|住|姓|用|穿)(?P<old>.{1,16}?)(?:[啊哦的]|哈)?"
)
_NO_VALUE = re.compile(
    r"[好行可对是不没我你您他她它吗呢啊吧了谢请嗯哦哈呵嘿啥咋]|等|稍|忙|晚点|回头|改天|客气|辛苦|算|随|看|知道|明白|收到|在线|人工|继续|客服|再见|拜|早|晚安|废话|烦|滚"
    r"|朋友|同事|老公|老婆|妈|爸|孩子|帮|替|送|问|说|退|换货|取消|快点|急|哪|谁|几|多少|什么|怎|无语|当然|必须|老样|照旧|差不多|大概|左右|前面|上面|这|那|一点|有点|还行"
    r"|一般|经常|偶尔|有时|以前|很少|发货|发了|赶紧|催|价|钱|优惠|店家"
)
"""What names no value that could stand in another's place."""


def _parted(texts: Sequence[str]) -> Sequence[str]:
    """「不对哦 43」: a no or a yes, then more."""
    head, _, tail = texts[0].strip().partition(" ")
    is_answer = tail and (NO.match(_bare(head)) or _YES.fullmatch(_bare(head)))
    return [head, tail.strip(), *texts[1:]] if is_answer else texts


def _is_plain_value(said: str, asked: str) -> bool:
    """A word or a number that may stand where the question's stands."""
    value = ENDED.sub("", said)
    is_short = 0 < len(value) <= ECHOED or DIGITS.search(value) is not None
    return is_short and not (_NO_VALUE.search(value) or DOUBT.search(said)) and value not in content(asked)


def value_of(said: str) -> str:
    """What a reply names, without what stands around it; "" where it is doubtful."""
    return "" if DOUBT.search(said) else TAIL.sub("", CORRECTION_LEAD.sub("", said)).strip()


def is_assent(said: str) -> bool:
    """A yes and nothing else: 「嗯哪」 asks nothing back."""
    return _YES.fullmatch(_bare(said)) is not None


def is_sign_of_assent(reply: str) -> bool:
    """A thumb, a tick, 「[OK]」, and nothing else."""
    return _SIGNS.fullmatch(reply) is not None


_SIGNS = re.compile(
    r"(?:(?:[👌👍👏✅☑✔🙆💯🆗⭕🫡]|\[(?:强|赞|点赞|ok|好的|点头|收到|握手|奋斗|爱心)\]|/(?:强|ok|:strong|:ok))[\U0001f3fb-\U0001f3ff\ufe0f\u200d♀♂]*\s*)+",
    re.IGNORECASE,
)


def is_value(said: str) -> bool:
    """A size, a number with its unit, and nothing else."""
    return _VALUE.fullmatch(said.casefold()) is not None


def _bare(text: str) -> str:
    return _INTERJECTION.sub("", content(text))


_INTERJECTION = re.compile(r"^(?:哈+|嘿+|呵+|嘻+|哎呀?|诶|欸|啊|噢|哦|喔|哇|唉|嗨|昂|咦)+(?=.)")


def _affirmed(asked: str, rest: Sequence[str]) -> Answered:
    added = [each for each in rest if not _is_echoed(content(each), asked)]
    if any(_takes_back(each, asked) for each in added):
        return Answered()
    told = [
        each
        for each in added
        if not (is_request(each) or COURTESY.fullmatch(content(each)) or _YES.fullmatch(_bare(each)))
    ]
    apart = [each for each in told if sort_of(each) is not None]
    # 「对，L码」 says more of the same.
    return Answered(holds=("，".join([asked, *(each for each in told if each not in apart)]), *apart))


def _takes_back(said: str, asked: str) -> bool:
    """A denial beside a denial affirms it."""
    added = _UNCHANGED.sub("", said)
    if _DENIES.search(asked):
        added = re.sub(r"(?:不|没有?)(?!是|对|再)", "", added)
    return bool(_ADDED.search(added) or DOUBT.search(said))


_DENIES = re.compile(r"不|没|别|过敏|忌")


def _is_yes(first: str, asked: str) -> bool:
    if _APPROXIMATE.search(asked) and _NEARLY.fullmatch(first):
        return True
    found = _YES.match(first)
    rest = first[found.end() :] if found is not None else first
    if found is not None and (COURTESY.fullmatch(rest) or _YES.fullmatch(rest)):
        return True
    word = ENDED.sub("", rest)
    if found is None and word == "有" and _HAS.search(asked):
        return "没有" not in asked
    return (found is not None or len(word) <= LONGEST_VALUE) and _is_echoed(word, asked)


def _is_echoed(said: str, asked: str) -> bool:
    """It repeats the question's own word: 「还在用」, 「住」, 「不喝」 to 「您不喝咖啡吧」."""
    word = ENDED.sub("", said)
    whole, word = _bare_no(content(asked)), _bare_no(word)
    for each in (word, _STILL.sub("", word)):
        place = whole.find(each) if each and not NO.match(each) else -1
        if place >= 0:
            return not re.search(r"[不没别]$|不(?:能|会|太|想|爱)$", whole[:place])
    return False


def _bare_no(text: str) -> str:
    return text.replace("没有", "没")


def _is_echoed_no(first: str, asked: str) -> bool:
    """「不住」 to 「您住在杭州吗」, 「喝」 to 「您不喝咖啡吧」."""
    whole = content(asked)
    found = re.fullmatch(r"不(?:是|叫|住|在|姓|用|穿|要)(.{1,20}?)(?:了|啊|的)?", first)
    if found is not None and found[1] in whole:
        return True
    found = re.fullmatch(r"(?:现在|早|已经|都)?[不没](.{1,4}?)(?:了|啊|的)?", first)
    if found is not None:
        return found[1] in whole and first not in whole
    word = ENDED.sub("", first)
    return (
        bool(word)
        and len(word) <= ECHOED
        and re.search(rf"[不没别](?:能|会|太|想|爱)?{re.escape(word)}", whole) is not None
    )


_UNITS = ("码号", "斤公斤kg", "cm厘米公分米", "块元", "楼层", "岁", "个位人")


def _is_of_other_unit(value: str, asked: str) -> bool:
    """「39块」 is no size."""
    unit = re.sub(r"[0-9.半]+", "", value.casefold())
    alike = next((each for each in _UNITS if unit and unit in each), "")
    return bool(alike) and any(re.search(rf"[0-9][{each}]", asked) for each in _UNITS if each != alike)


_LONE = re.compile(r"[\u4e00-\u9fff]{2,6}")


def _is_other_value(text: str, first: str, asked: str) -> bool:
    """「43」 or 「现在43码了」 to 「您的鞋码是42吗」: one of the same kind, and no more than that."""
    if _QUESTIONING.search(first) or DOUBT.search(first):
        return False
    if by_form(asked, text) or by_verb(asked, text) or by_kind(asked, text):
        return True
    if (
        not first.endswith("了")
        and _is_plain_value(first, asked)
        and _LONE.fullmatch(ENDED.sub("", first))
        and by_claim(asked, ENDED.sub("", first))
    ):
        return True
    value = TAIL.sub("", CORRECTION_LEAD.sub("", first))
    values = [claim.value for claim in read_claims(asked).claims]
    if not any(values):
        return False
    if _is_of_other_unit(value, asked):
        return False
    if _VALUE.fullmatch(value):
        return any(_VALUE.fullmatch(each) for each in values)
    return value != TAIL.sub("", first) and 1 < len(value) <= ECHOED
