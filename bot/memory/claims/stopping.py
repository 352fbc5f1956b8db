"""Does a stance put an end to an earlier clause? By its opposite, or because what is no more is named there.

Invariant: pure. What was used up, lost or broken once ends no habit; of somebody else only a parting ends anything.
"""

import re

from bot.memory.claims.claim import SELF
from bot.memory.claims.dates import event_in, times_in
from bot.memory.claims.owners import owner_of, with_owners
from bot.memory.claims.reading import ANIMALS, Clause
from bot.memory.claims.stances import DONE, Stance

_POOLED = frozenset({"eat", "do", "like", "any", "have"})
"""Who does something no more doesn't, whatever word was used for it."""
_SOMETHING_ELSE = re.compile(r"[店机馆厅杯豆师厂具器味树园屋粉酱油瓶盒包票证码号单衣鞋山城街路区市县座]")
"""Behind a thing it makes another of it: 咖啡店, 咖啡机."""
_GOVERNS = re.compile(
    r"有|养|叫|在|用|开|骑|租|学|练|办|订|打算|计划|准备|要|想|去|喜欢|爱|每|天天|习惯|常|吃|喝|抽|玩|做|参加|报|约"
)
"""What is had, done or planned; what was bought or eaten once is over anyway."""
_WORN = re.compile(r"戴|打|装|贴|敷|送|教|卖|跑|联系|留|追|寄|住")
_LAID_DOWN = re.compile(r"摘|拆|卸|取|停|撤|注销|退|戒|弃|掐|辞|结束|解[除绑]|关|完了|不")
"""What is worn or done with a thing goes on though one of them is lost or broken."""
_BROKEN = re.compile(r"坏了|丢了|丢失|偷了|找不到|没了|断了$")
_LIKED = re.compile(r"喜欢|爱|迷|粉|最")
_USED_UP = re.compile(r"(?:追|看|读|学|考|坐|喝|吃|用)完")
_OF_GOODS = re.compile(r"[喝吃用看追读]完|打不通|注销|停机|卸载|退订|作废|到期|退[掉了]|盘[出给]")
_PARTED = re.compile(r"世|走了|没了|不在了|死|离开|黄了|吹了|[分掰离]了|辞")
"""Ends what is told of a person; that somebody fetched them ends nothing."""
_THINGS = frozenset("鱼肉糖酒茶辣蛋奶烟虾蟹甜猫狗面米饭药车鸟兔龟葱蒜姜醋盐油")
"""Of one character: others stand in too many words."""
_PETS = frozenset("猫狗鱼鸟兔龟")
_TELEPHONES = frozenset({"手机", "电话"})
"""Before a number they mean it, and not the thing."""
_FIXED_LINES = frozenset({"座机", "固话", "传真"})
_NUMBER_BEHIND = re.compile(r"号?码?(?:是|为|:)?[0-9]")


def ends(stance: Stance, before: Clause, said: str) -> bool:
    """`before`: an earlier clause of the same person. `said`: the clause that the stance is of."""
    is_name = before.owner in ANIMALS and f"叫{stance.object}" in before.text
    if is_name and (stance.verb in ("eat", "like") or _OF_GOODS.search(said)):
        # 「可乐不喝了」 is not said of the cat that is called so.
        return False
    if stance.verb == "any" and owner_of(stance.object) not in ANIMALS | {SELF} and not _PARTED.search(said):
        # 「女儿被奶奶接走了」.
        return False
    if _USED_UP.search(said) and _LIKED.search(before.text):
        return False
    is_broken = stance.verb == "any" and _BROKEN.search(said)
    if not stance.holds and any(
        not (is_broken and claim.slot.startswith("state:"))
        and _names(stance.object, claim.value)
        and stance.verb in ("any", "do", "like")
        for claim in before.claims
    ):
        return True
    if any(_is_opposite(stance, each) for each in before.stances):
        return True
    return not stance.holds and _is_named(stance, before, said)


def _names(word: str, value: str) -> bool:
    """One character alone stands in too many words."""
    return word == value or (len(word) > 1 and word in value)


def _is_named(stance: Stance, before: Clause, said: str) -> bool:
    """What is no more stands in a clause that says it was, or would be."""
    is_word = len(stance.object) > 1 or stance.object in _PETS
    # 「猫送人了」 after 「我养了只布偶」.
    text = with_owners(before.text) if stance.object in ANIMALS else before.text
    place = text.find(stance.object) if is_word else -1
    if place < 0 or (stance.object in ANIMALS and stance.verb == "any" and not before.is_open):
        return False
    if stance.object in _FIXED_LINES and _NUMBER_BEHIND.match(text[place + len(stance.object) :]):
        return True
    if stance.object in _TELEPHONES and _NUMBER_BEHIND.match(text[place + len(stance.object) :]):
        return False
    is_had = before.owner in ANIMALS
    is_event = is_had or bool(event_in(stance.object) and times_in(text[:place]))
    is_worn = _WORN.search(text[:place] or text) and _LAID_DOWN.search(said)
    if not (is_event or is_worn or _GOVERNS.search(text[:place] or text)):
        return False
    if any(not each.holds for each in before.stances) and stance.word != DONE:
        return False
    end = place + len(stance.object)
    return not _SOMETHING_ELSE.match(text[end:]) and stance.verb in _POOLED


def _is_opposite(mine: Stance, theirs: Stance) -> bool:
    if mine.holds == theirs.holds or not _is_same_kind(mine, theirs):
        return False
    if len(mine.object) == 1 and mine.object not in _THINGS:
        return mine.object == theirs.object
    if mine.holds:
        return mine.object == theirs.object or mine.object.endswith(theirs.object)
    return mine.object == theirs.object or (
        theirs.object.endswith(mine.object)
        or (
            theirs.object.startswith(mine.object)
            and not _SOMETHING_ELSE.match(theirs.object[len(mine.object) :])
        )
    )


def _is_same_kind(mine: Stance, theirs: Stance) -> bool:
    if "养" in (mine.word[:1], theirs.word[:1]) and "eat" in (mine.verb, theirs.verb):
        return False
    return mine.verb == theirs.verb or (mine.verb in _POOLED and theirs.verb in _POOLED)
