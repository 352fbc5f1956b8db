"""Does a later memory take an earlier one's place? By claims of one slot, by stances to one thing, by named changes.

Invariant: pure. Only within one owner and one slot; a value that is only said more exactly, or another slot that is
more particular (the address at work beside the one at home), contradicts nothing.
"""

import re

from bot.memory.claims.claim import SELF, Claim
from bot.memory.claims.dates import event_in, times_in
from bot.memory.claims.frames import differs_in_value, names_change
from bot.memory.claims.owners import owner_of
from bot.memory.claims.plans import is_off, is_stopped
from bot.memory.claims.reading import ANIMALS, COUPLE, Clause, Reading
from bot.memory.claims.stances import DONE, Stance
from bot.memory.claims.takeovers import ends_couple, takes_topic

_NEEDS_CHANGE = (
    *("state:coffee", "state:tea", "state:payment", "state:courier", "state:contact by", "count:"),
    *("occupation", "petname", "car", "thing:", "nick:", "number:", "favourite:", "school"),
)
"""Slots in which a second value may stand beside the first."""
_NEEDS_SWITCH = tuple(
    f"state:{group}:" for group in ("exercise", "commute", "beverage", "shop", "breakfast", "learns")
)
"""Kinds of things of which people do several: only 「改」, 「换」 or 「不再」 puts one in another's place."""
_SWITCHES = re.compile(r"改|换|不再|不.{1,6}了[,，]")
_ENDS = {
    ("job", "none"): ("employer",),
    ("job", "retired"): ("employer", "occupation"),
    ("car owner", "none"): ("car",),
    ("job", "own"): ("employer", "occupation"),
}
"""What a state puts an end to, and what puts an end to it."""
_POOLED = frozenset({"eat", "do", "like", "any", "have"})
"""Who does something no more doesn't, whatever word was used for it."""
_SOMETHING_ELSE = re.compile(r"[店机馆厅杯豆师厂具器味树园屋粉酱油瓶盒包票证码号单衣鞋山城街路区市县]")
"""Behind a thing it makes another of it: 咖啡店, 咖啡机."""
_GOVERNS = re.compile(
    r"有|养|叫|在|用|开|骑|租|学|练|办|订|打算|计划|准备|要|想|去|喜欢|爱|每|习惯|常|吃|喝|抽|玩|做|参加|报|约"
)
"""What is had, done or planned; what was bought or eaten once is over anyway."""
_ADDS = re.compile(r"也(?!不|没)|还(?!是|没|不)|另外|又(?:有|买|养|学|加)|同时")
"""Beside the first: nothing is changed by it."""
_WITH = re.compile(r"^(?:我)?[跟和与]")
_RENAMED = re.compile(r"^(?:我家的?|我的)?(?P<o>[^,.]{1,4}?)(?:现在|已经)?改(?:名|叫)")
_THINGS = frozenset("鱼肉糖酒茶辣蛋奶烟虾蟹甜猫狗面米饭药车鸟兔龟葱蒜姜醋盐油")
"""Of one character: others stand in too many words."""
_PETS = frozenset("猫狗鱼鸟兔龟")
_PROVEN = re.compile(r"[0-9a-z.*@+_-]+")


def contradicts(new: Reading, old: Reading) -> bool:
    """`old` was said before, by the same person in the same place."""
    return bool(contradicted(new, old))


def contradicted(new: Reading, old: Reading) -> frozenset[int]:
    """The clauses of `old` that hold no longer, by their place."""
    if new.text == old.text:
        return frozenset()
    return frozenset(
        place
        for place, before in enumerate(old.clauses)
        if any(_takes_over(clause, before, new) for clause in new.clauses)
        or _is_plan_off(new, before)
        or _is_stopped(new, before)
    )


def _is_plan_off(new: Reading, before: Clause) -> bool:
    is_of_value = any(not claim.slot.startswith(("date:", "state:")) for claim in before.claims)
    if before.is_past or is_of_value or _ADDS.search(new.text) or not new.clauses:
        return False
    if any(clause.owner != before.owner for clause in new.clauses):
        return False
    return is_off(new.text, before.text)


def _is_stopped(new: Reading, before: Clause) -> bool:
    """「咖啡喝多了心慌，现在不喝了」."""
    if before.is_past or len(new.clauses) < _LEAST_CLAUSES:
        return False
    return all(clause.owner == before.owner for clause in new.clauses) and is_stopped(new.text, before.text)


_LEAST_CLAUSES = 2


def _takes_over(clause: Clause, before: Clause, new: Reading) -> bool:
    if clause.text == before.text:
        return False
    if any(_replaces(mine, theirs, new) for mine in clause.claims for theirs in before.claims):
        return True
    if any(
        _ends(each, before)
        for each in clause.stances
        # 「猫送人了」 speaks of the cat, and ends that the person has it.
        if before.owner == clause.owner
        or (before.owner == SELF and owner_of(each.object) == clause.owner)
        # 「球球没了」: the hamster is called so.
        or (before.owner in ANIMALS and len(each.object) > 1 and f"叫{each.object}" in before.text)
    ):
        return True
    if (named := _RENAMED.match(clause.text)) and f"叫{named['o']}" in before.text:
        return True
    is_of_couple = {clause.owner, before.owner} <= COUPLE
    if clause.is_open and not before.is_past and is_of_couple and ends_couple(clause.text, before.text):
        return True
    # 「跟婆婆和解了」 is of the person and of her.
    is_with = before.owner == SELF and clause.owner in before.text and _WITH.match(clause.text)
    if clause.owner != before.owner and not is_with:
        return False
    if clause.is_open and not before.is_past and takes_topic(clause.text, before.text):
        return True
    if not (clause.is_open or clause.claims) or not new.says_change:
        return False
    if _has_attribute(clause) and _has_attribute(before):
        # Both were read, and of one slot nothing differs.
        return False
    return names_change(clause.text, before.text) or differs_in_value(clause.text, before.text)


def _has_attribute(clause: Clause) -> bool:
    return any(not claim.slot.startswith("state:") for claim in clause.claims)


def _replaces(mine: Claim, theirs: Claim, new: Reading) -> bool:
    if mine.owner != theirs.owner:
        return False
    if mine.slot == theirs.slot or _is_same_set(mine, theirs, new):
        if mine.slot.startswith(_NEEDS_SWITCH):
            return _differ(mine, theirs) and bool(_SWITCHES.search(new.text)) and not _ADDS.search(new.text)
        is_free = not (mine.needs_change or mine.slot.startswith(_NEEDS_CHANGE))
        return _differ(mine, theirs) and (is_free or (new.says_change and not _ADDS.search(new.text)))
    return _is_ended(mine, theirs) or (new.says_change and _is_ended(theirs, mine))


def _is_same_set(mine: Claim, theirs: Claim, new: Reading) -> bool:
    """「半糖」 after 「奶茶要全糖」: of one dish, or of none where a change is said."""
    if not (mine.slot.startswith("state:") and theirs.slot.startswith("state:")):
        return False
    (_, group, dish), (_, other, other_dish) = mine.slot.split(":"), theirs.slot.split(":")
    return group == other and new.says_change and not (dish and other_dish)


def _is_ended(state: Claim, other: Claim) -> bool:
    if not state.slot.startswith("state:"):
        return False
    return other.slot in _ENDS.get((state.slot.split(":")[1], state.value), ())


def _differ(mine: Claim, theirs: Claim) -> bool:
    a, b = mine.value, theirs.value
    if a == b:
        return False
    if mine.slot.startswith("state:") or _PROVEN.fullmatch(a) or _PROVEN.fullmatch(b):
        return True
    return not (a in b or b in a or _squeezed(a) == _squeezed(b))


def _squeezed(value: str) -> str:
    return re.sub(r"[省市区县镇乡村的\s]", "", value)


def _ends(stance: Stance, before: Clause) -> bool:
    if not stance.holds and any(
        _names(stance.object, claim.value) and stance.verb in ("any", "do", "like") for claim in before.claims
    ):
        return True
    if any(_is_opposite(stance, each) for each in before.stances):
        return True
    return not stance.holds and _is_named(stance, before)


def _names(word: str, value: str) -> bool:
    """One character alone stands in too many words."""
    return word == value or (len(word) > 1 and word in value)


def _is_named(stance: Stance, before: Clause) -> bool:
    """What is no more stands in a clause that says it was, or would be."""
    is_word = len(stance.object) > 1 or stance.object in _PETS
    place = before.text.find(stance.object) if is_word else -1
    if place < 0:
        return False
    is_had = before.owner in ANIMALS
    is_event = is_had or bool(event_in(stance.object) and times_in(before.text[:place]))
    if not (is_event or _GOVERNS.search(before.text[:place] or before.text)):
        return False
    if any(not each.holds for each in before.stances) and stance.word != DONE:
        return False
    end = place + len(stance.object)
    return not _SOMETHING_ELSE.match(before.text[end:]) and stance.verb in _POOLED


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
