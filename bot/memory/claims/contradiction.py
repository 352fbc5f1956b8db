"""Does a later memory take an earlier one's place? By claims of one slot, by stances to one thing, by named changes.

Invariant: pure. Only within one owner and one slot; a value that is only said more exactly, or another slot that is
more particular (the address at work beside the one at home), contradicts nothing.
"""

import re

from bot.memory.claims.asserting import is_told_beside, still_holds
from bot.memory.claims.claim import SELF, Claim
from bot.memory.claims.exceptions import is_for_once
from bot.memory.claims.frames import differs_in_value, names_change
from bot.memory.claims.owners import as_oneself, owner_of, with_owners
from bot.memory.claims.plans import is_off, is_stopped
from bot.memory.claims.reading import ANIMALS, COUPLE, Clause, Reading
from bot.memory.claims.roles import ROLES
from bot.memory.claims.stopping import ends
from bot.memory.claims.takeovers import ends_couple, takes_topic
from bot.memory.claims.undoing import ends_slot_of_number, loses_animal, undoes

_NEEDS_CHANGE = (
    *("state:coffee", "state:tea", "state:payment", "state:courier", "state:contact by", "count:"),
    *("occupation", "petname", "car", "thing:", "nick:", "number:", "favourite:", "school"),
)
"""Slots in which a second value may stand beside the first."""
_NEEDS_SWITCH = (
    *(f"state:{group}:" for group in ("exercise", "commute", "beverage", "shop", "breakfast", "learns")),
    "role:",
)
"""Kinds of things of which people do several: only 「改」, 「换」 or 「不再」 puts one in another's place."""
_SWITCHES = re.compile(rf"改|换|不再|不.{{1,6}}了[,，]|新来?的?(?:{ROLES})")
_ENDS = {
    ("job", "none"): ("employer",),
    ("job", "retired"): ("employer", "occupation"),
    ("car owner", "none"): ("car",),
    ("job", "own"): ("employer", "occupation"),
}
"""What a state puts an end to, and what puts an end to it."""
_ADDS = re.compile(r"也(?!不|没)|还(?!是|没|不)|另外|又(?:有|买|养|学|加)|同时")
"""Beside the first: nothing is changed by it."""
_WITH = re.compile(r"^(?:我)?[跟和与]")
_RENAMED = re.compile(
    r"^(?:我家的?|我的)?(?P<o>[^,.]{1,4}?)(?:(?:现在|已经)?改(?:名|叫)|(?:现在|以后)叫(?!我|你|他|她)[^,.]{1,5}了$)"
)
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
        if not still_holds(new.text, before.text)
        and (any(_takes_over(clause, before, new) for clause in new.clauses) or _is_over(new, before))
    )


def _is_over(new: Reading, before: Clause) -> bool:
    """As the whole message says."""
    if not all(clause.is_asserted for clause in new.clauses):
        return False
    is_lost = not before.is_past and _is_animal(before) and loses_animal(new.text, before.text)
    return is_lost or _is_plan_off(new, before) or _is_stopped(new, before)


def _is_plan_off(new: Reading, before: Clause) -> bool:
    is_of_value = any(not claim.slot.startswith(("date:", "state:")) for claim in before.claims)
    if before.is_past or is_of_value or _ADDS.search(new.text) or not new.clauses:
        return False
    if "每" in before.text and is_for_once(new.text):
        return False
    if any(clause.owner != before.owner for clause in new.clauses):
        return False
    return is_off(new.text, before.text)


def _is_stopped(new: Reading, before: Clause) -> bool:
    """「咖啡喝多了心慌，现在不喝了」."""
    if before.is_past or len(new.clauses) < _LEAST_CLAUSES:
        return False
    return all(clause.owner == before.owner for clause in new.clauses) and is_stopped(new.text, before.text)


def _is_animal(before: Clause) -> bool:
    return before.owner in ANIMALS or any(each in with_owners(before.text) for each in ANIMALS)


_LEAST_CLAUSES = 2


def _takes_over(clause: Clause, before: Clause, new: Reading) -> bool:
    if clause.text == before.text or not clause.is_asserted:
        return False
    if any(
        _replaces(mine, theirs, new)
        for mine in clause.claims
        for theirs in before.claims
        if not (clause.is_for_once and mine.slot.startswith("state:"))
    ):
        return True
    if not clause.is_for_once and any(
        ends(each, before, clause.text)
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
    if _is_of_pet(clause, before) and names_change(clause.text, before.text):
        return True
    if clause.owner != before.owner and not _is_with(clause, before):
        return False
    if clause.is_open and not before.is_past and _takes_back(clause, before):
        return True
    if not (clause.is_open or clause.claims) or not new.says_change:
        return False
    if _has_attribute(clause) and _has_attribute(before):
        # Both were read, and of one slot nothing differs.
        return False
    return names_change(clause.text, before.text) or differs_in_value(clause.text, before.text)


def _is_with(clause: Clause, before: Clause) -> bool:
    """「跟婆婆和解了」 is of the person and of her; 「仓鼠只剩一只了」 of 「我养了两只仓鼠」; the child of a pregnancy."""
    if before.owner != SELF:
        return False
    is_together = clause.owner in before.text and _WITH.match(clause.text) is not None
    is_animal = clause.owner in ANIMALS and clause.owner in with_owners(before.text)
    return is_together or is_animal or (clause.owner == "孩子" and "孕" in before.text)


def _is_of_pet(clause: Clause, before: Clause) -> bool:
    """「洗澡换到城南那家了」: what was told of an animal, of which nobody is named."""
    return before.owner in ANIMALS and clause.owner == SELF and "我" not in clause.text


def _takes_back(clause: Clause, before: Clause) -> bool:
    if clause.is_for_once:
        return False
    if takes_topic(clause.text, before.text) or undoes(clause.text, before.text):
        return True
    if clause.owner != SELF and takes_topic(as_oneself(clause.text), as_oneself(before.text)):
        return True
    slot = ends_slot_of_number(clause.text)
    return bool(slot) and any(claim.slot == slot for claim in before.claims)


def _has_attribute(clause: Clause) -> bool:
    return any(not claim.slot.startswith("state:") for claim in clause.claims)


def _replaces(mine: Claim, theirs: Claim, new: Reading) -> bool:
    if mine.owner != theirs.owner:
        return False
    if mine.slot == theirs.slot or _is_same_set(mine, theirs, new):
        if mine.slot.startswith(_NEEDS_SWITCH):
            return _differ(mine, theirs) and bool(_SWITCHES.search(new.text)) and not _ADDS.search(new.text)
        if is_told_beside(new.text):
            return False
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
    if (
        min(len(a), len(b)) >= _LAST_DIGITS
        and a.isdigit()
        and b.isdigit()
        and (a.endswith(b) or b.endswith(a))
    ):
        return False
    if mine.slot.startswith("state:") or _PROVEN.fullmatch(a) or _PROVEN.fullmatch(b):
        return True
    return not (a in b or b in a or _squeezed(a) == _squeezed(b))


_LAST_DIGITS = 4
"""「尾号5678」 tells the same number."""


def _squeezed(value: str) -> str:
    return re.sub(r"[省市区县镇乡村的\s]", "", value)
