"""A later clause that takes back the very words of an earlier one: denies its verb, ends its number, does what it
lacked, or tells another amount of the same.

Invariant: pure; linear: gaps are bounded. Both are clauses in their form, of one owner; the words that are taken back
stand in the earlier one, and aren't denied there.
"""

import re
from functools import lru_cache

from bot.memory.claims.asserting import other_amount
from bot.memory.claims.exceptions import is_for_once
from bot.memory.claims.owners import owner_of

_DENIALS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:再也不|不再)(?:想|能|敢|会|用|怎么)?(?P<p>[^,.;]{2,8}?)了?(?=$|[,.;])",
        r"(?<![要是])不(?:再|能|敢|会|用|怎么|太)?(?P<p>[^,.;]{2,8}?)了(?=$|[,.;])",
    )
)
_TOPIC_DENIED = re.compile(
    r"(?:^|,)(?:我的?|现在|以后|那个|这个)*(?P<o>[^,.;]{2,6}?)(?:我|就|也|都|现在|已经|以后|早就|早|先|暂时|最近)*"
    r"(?:再也不|不再|不)(?:再|能|敢|会|用|怎么)?(?P<v>[\u4e00-\u9fff])(?:到|上|成|动)?了(?=$|[,.;])"
)
_EMPTY_PREDICATE = re.compile(
    r"(?:知道|清楚|明白|记得|行|要|用|想|会|能|好|对|是|说|聊|急|打扰|麻烦|客气|了)+(?:了|的)?|.*(?:你|您|什么|怎么).*"
)
"""Says of nothing that it is over."""
_NO = re.compile(r"[不没别未](?:有|再|能|会|太|怎么|是)?$")

_CODE = re.compile(r"[0-9a-z@._*+\-]{3,40}")
_LEAST_CODE = 5
"""Characters that two different numbers seldom share."""
_NUMBER_ENDED = (
    r"注销|销户|销号|销了|停机|停用|停了|不用了(?=$|[,.;])|不用这个|弃用|作废|失效|打不通|被封|封了|被盗|丢了|不登|登不上|不上了|不看了|过期|换掉|空号"
    r"|报废|不是我(?:的(?:号|邮箱|微信|电话)?|用)?了|不是我的号|欠费|(?:别|不要|甭)(?:再|往)?(?:打|发|加|用|联系)|是(?:我)?(?:的)?(?:旧|老|以前的?|原来的?)号"
)
_IS_NUMBER_ENDED = re.compile(_NUMBER_ENDED)
_PART_OF_CODE = re.compile(
    r"(?:尾号|末尾)?(?P<c>[0-9a-z]{3,11})(?:开头|结尾)?的?(?:那个|这个|那张|这张)?(?:手机|电话|微信)?(?:号码?|邮箱|卡|账号)"
)
_OLD_NUMBER = re.compile(
    r"^(?:我的?)?(?:(?:那个|这个|那张)(?P<n>手机号码?|手机卡|电话号?码?|电话卡|号码?|卡号?|微信号?"
    rf"|邮箱|qq号?)|(?P<m>qq号?|邮箱|微信号?))(?:现在|已经|早就?|都|被|刚|我|也)*(?:{_NUMBER_ENDED})"
)
_KINDS = {"微": "wechat", "邮": "email", "q": "qq"}

_LACK = re.compile(r"(?:还|一直|目前|从来|暂时|都)?没(?:有)?(?P<x>[^,.;了过]{2,6})$")
_DONE = re.compile(r"了(?=$|[,.;])")
_NOT_DONE = re.compile(r"[不没别未想]|打算|准备|计划|要(?=$|[^,]*了?$)|可能|快|如果")

_NUMERAL = re.compile(r"[0-9]+(?:\.[0-9]+)?|[半两几一二三四五六七八九十百千万]+")
_AROUND_NUMERAL = re.compile(
    r"我们?|现在|如今|目前|最近|以后|已经|只能|只要|只|才|都|就|最多|最少|顶多|也|得|能|要|可以|了|改成?|减到?|加到?|变成"
)
_LEAST_ALIKE = 3
_LATELY = 256
"""Clauses: one is held against every memory of its person."""
_ORDERED = r"(?:订|买|要|约|点|拍|定|预约|下单)(?:了|的|好|过)?[^,.;]{{0,4}}?(?P<n>[0-9]+|[一二两三四五六七八九十半]+){unit}"


_SUPPOSES = re.compile(r"的话|如果|要是|万一|假如|时候?就|才能|才会")


def undoes(new: str, old: str) -> bool:
    """`new` takes back what `old` says, in its words."""
    if is_for_once(new) or _SUPPOSES.search(new):
        return False
    return (
        _denies(new, old)
        or _leaves(new, old)
        or ends_code(new, old)
        or _does_what_lacked(new, old)
        or _tells_other_amount(new, old)
    )


def _denies(new: str, old: str) -> bool:
    for pattern in _DENIALS:
        for found in pattern.finditer(new):
            said = found["p"]
            if not _EMPTY_PREDICATE.fullmatch(said) and (
                _affirms(old, said) or _has_both(old, said[0], said[1:])
            ):
                return True
    return any(
        _has_both(old, found["v"], found["o"]) or (found["v"] in _WORKS and _affirms(old, found["o"]))
        for found in _TOPIC_DENIED.finditer(new)
    )


_WORKS = frozenset("干做搞")
"""Of whatever is one's work: 「驾校不干了」."""


def _affirms(old: str, said: str) -> bool:
    place = old.find(said)
    return place >= 0 and not _NO.search(old[:place])


def _has_both(old: str, verb: str, thing: str) -> bool:
    """The verb, and what it is of soon after it."""
    if len(thing) < _LEAST_THING:
        return False
    place = old.find(verb)
    return (
        place >= 0
        and thing in old[place + 1 : place + 1 + _REACH + len(thing)]
        and not _NO.search(old[:place])
    )


_LEAST_THING = 2
_REACH = 5
"""Characters between a verb and what it is of: 「吃了三年的」."""


def _leaves(new: str, old: str) -> bool:
    """「从浦东搬走了」, 「浦东的房子退了」."""
    places = [found["x"] for pattern in _LEFT for found in pattern.finditer(new)]
    return _IS_AT.search(old) is not None and any(place in old for place in places)


_LEFT = (
    re.compile(
        r"从(?P<x>[^,.;]{2,6}?)(?:那边|那儿)?(?:搬|撤|走|出来|离职|毕业|辞|退|调|回来|跳)[^,.;]{0,4}了(?=$|[,.;])"
    ),
    re.compile(
        r"^(?:我|把|现在)*(?P<x>[^,.;]{2,6}?)(?:那边|那套|那间)?的?(?:房子?|公寓|宿舍)(?:都|已经|也|全|就)*(?:退|卖|到期|转租|不租|不住)[^,.;]{0,3}了"
    ),
)
_IS_AT = re.compile(r"在|住|租|家")


def ends_code(new: str, old: str) -> bool:
    """The number, address or account that `old` names is in use no more."""
    if _IS_NUMBER_ENDED.search(new) is None:
        return False
    codes = [code for code in _CODE.findall(old) if len(code) >= _LEAST_CODE]
    if any(code in new for code in codes):
        return True
    return any(
        code.startswith(found["c"]) or code.endswith(found["c"]) or f"@{found['c']}" in code
        for found in _PART_OF_CODE.finditer(new)
        for code in codes
    )


def loses_animal(new: str, old: str) -> bool:
    """「阿福得了猫瘟，没救回来」: a message in its form that begins with an animal that `old` names, and says in a later
    clause that it is gone."""
    if _GONE.search(new) is None:
        return False
    begin = _BEFORE_NAME.sub("", new)
    names = {begin[:length] for length in _LENGTHS_OF_NAMES}
    return any(f"叫{name}" in old for name in names if len(name) > 1) or any(
        name in old and owner_of(name) in _ANIMALS for name in names
    )


_ANIMALS = frozenset({"猫", "狗", "宠物"})
_LENGTHS_OF_NAMES = (1, 2, 3, 4)
_BEFORE_NAME = re.compile(r"^(?:我家?的?|我们家?的?|家里?的|那[只条个])+")
_GONE = re.compile(
    r",(?:最后|还是|就|后来|也|只好|结果|没多久|终于|上个?月|上周|昨[天晚]|前[天晚]|前几天|今[天早]|去年)*(?:(?:安详|平静)地?离开了|没(?:能)?(?:救|挺|熬|撑|抢救)(?:活|回来|过来|过去)|送(?:人|走|养)了|送(?:去|到|给|回)[^,]{1,6}了"
    r"|(?:去世|病逝|死|走|没|不在)了)(?=$|[,.;])"
)


def ends_slot_of_number(new: str) -> str:
    """The slot of which 「那个号注销了」 says that its number is in use no more; "" for none. 「老号注销了」 says nothing of
    the number that is held: it may be the new one."""
    found = _OLD_NUMBER.search(new)
    return _KINDS.get((found["n"] or found["m"])[0], "phone") if found else ""


def _does_what_lacked(new: str, old: str) -> bool:
    found = _LACK.search(old)
    if found is None or not _DONE.search(new) or _NOT_DONE.search(new):
        return False
    lacked = found["x"]
    place = new.find(lacked[1:])
    return lacked in new or (len(lacked) > _LEAST_THING and place >= 0 and lacked[0] in new[place + 1 :])


@lru_cache(_LATELY)
def _numerals(text: str) -> tuple[str, ...]:
    return tuple(_NUMERAL.findall(text))


@lru_cache(_LATELY)
def _around_numerals(text: str) -> str:
    return _NUMERAL.sub("#", _AROUND_NUMERAL.sub("", text))


def _tells_other_amount(new: str, old: str) -> bool:
    if (again := other_amount(new)) is not None:
        before = re.search(_ORDERED.format(unit=again["c"]), old)
        return before is not None and before["n"] != again["n"]
    mine, theirs = _numerals(new), _numerals(old)
    if mine == theirs or len(mine) != len(theirs):
        return False
    rest, other = _around_numerals(new), _around_numerals(old)
    return rest == other and len(rest) > _LEAST_ALIKE and new != old and bool(_CHANGED.search(new))


_CHANGED = re.compile(r"现在|如今|只|以后|改|减|加|变|了$")
