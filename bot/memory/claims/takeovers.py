"""What takes what's place though no value is named twice: 「我在联想做测试」 and 「跳到小米去了」.

Invariant: pure; linear. Both clauses are of one owner and in their form; the earlier said how it is, the later how it is
now.
"""

import re
from functools import cache, lru_cache

from bot.conversation.sieve import Sieve
from bot.memory.claims.exceptions import is_for_once
from bot.memory.pattern_tables import rows_of

_LATELY = 64
"""Clauses, each of which is held against every memory of its person."""
_ADDS = re.compile(r"也(?!不|没)|还(?!是|没|不|清|完)|另外|同时|打算|计划|准备|想(?!开)|可能|如果")
_NONE = "none"
"""Its topic is what the earlier clause says there is none of."""
_LACKED = re.compile(r"没(?:有)?(?:来得及)?(?:办|买|找|养|考|拿|装)?([^,.了]{1,4}?)(?:下来|好|到)?$")


_NAMED = re.compile(r"^(?:我的?)?(?P<o>[^,.]{2,5}?)(?:不学了|放弃了|治好|好了|退课|退游|卸载|不玩了)")
_ANY = re.compile(r"病|睡眠|血糖|血压|药|现在|已经|都|终于|身体|完全|全|基本")
"""Of no one thing."""


def ends_couple(new: str, old: str) -> bool:
    """Of the one or of the other: 「跟阿强分了」 after 「我男朋友叫阿强」."""
    return any(topic in _OF_COUPLE and before.search(old) for topic, before, _ in _told(new))


_OF_COUPLE = frozenset({"dating", "married"})


def takes_topic(new: str, old: str) -> bool:
    """Both are clauses in their form, of the same owner; `old` was not past when it was said."""
    if _ADDS.search(new) or is_for_once(new):
        return False
    named = _NAMED.match(new)
    if named is not None and not _ANY.search(named["o"]) and set(named["o"]).isdisjoint(old):
        return False
    for topic, before, later in _told(new):
        earlier = before.search(old)
        if earlier is None or not _is_of_one_thing(earlier, later):
            continue
        if topic == "job" and _NO_JOB.search(old):
            continue
        if topic in _PARTED and _is_of_other_part(topic, new, old):
            continue
        if topic != _NONE or _is_lacked(new, old):
            return True
    return False


_PARTS = re.compile(
    r"嗓|喉|腰|膝|肩|背|鼻|牙|耳|脚|腿|手(?!术|机)|腕|眼|脖|颈|胃|肠|肝|肾|肺|心脏|头(?!孢)|皮肤|血压|血糖|血脂|尿酸|甲状腺|睡|眠|敏|感冒|烧|咳|湿疹|痘|痛风|便秘|贫血"
)
_NO_JOB = re.compile(
    r"(?:骑|坐|开|拼|打|走|挤|乘|搭)[^,]{0,5}上班|上班[^,]{0,3}(?:骑|坐|开|走|打|路|通勤|要|得|时间)|学[^,]{1,4}的$|换工作|找到工作|转(?:做|行|岗)|不[做干考]|班当|视频|定做"
)
"""How they get there, what they learnt, what has ended: no work that another takes the place of."""
_MEALS = re.compile(r"[早午中晚夜]")
_PARTED = {"ill": _PARTS, "meal": _MEALS, "runs": _MEALS}
_SAME_PARTS = {"喉": "嗓", "睡": "眠", "颈": "脖", "午": "中", "夜": "晚"}


def _is_of_other_part(topic: str, new: str, old: str) -> bool:
    """Both name what is ill, or which meal, and nothing of it is the same."""
    mine, theirs = (
        {_SAME_PARTS.get(each, each) for each in _PARTED[topic].findall(text)} for text in (new, old)
    )
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _is_of_one_thing(earlier: re.Match[str], later: re.Match[str]) -> bool:
    """Where both name what they are of, by a group, it is the same."""
    one, other = ({each for each in found.groupdict().values() if each} for found in (earlier, later))
    return not (one and other) or bool(one & other)


def _is_lacked(new: str, old: str) -> bool:
    found = _LACKED.search(old)
    return found is not None and len(found[1]) > 1 and found[1] in new


@lru_cache(_LATELY)
def _told(new: str) -> tuple[tuple[str, re.Pattern[str], re.Match[str]], ...]:
    """Of what a clause tells: the topic, how an earlier one speaks of it, and what was found."""
    topics, sieve = _topics()
    told = ((place, topics[place][2].search(new)) for place in sieve.fitting(new))
    return tuple((*topics[place][:2], later) for place, later in told if later is not None)


@cache
def _topics() -> tuple[list[tuple[str, re.Pattern[str], re.Pattern[str]]], Sieve]:
    """The table, read once, and what later clauses are sifted by."""
    rows = rows_of("bot.memory.claims", "takeovers.txt", 3)
    found = [(topic, re.compile(before), re.compile(after)) for topic, before, after in rows]
    return found, Sieve([after for _, _, after in found])
