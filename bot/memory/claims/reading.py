"""All that a memory claims, clause by clause.

Invariant: pure; equal texts are read once. What was only so in the past, or is only planned, is no claim of how it is.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from bot.memory.claims.asserting import is_asserted, is_of_next
from bot.memory.claims.attributes import find_attributes
from bot.memory.claims.carrying import carried
from bot.memory.claims.claim import SELF, Claim, form
from bot.memory.claims.dates import event_in, find_dates, times_in
from bot.memory.claims.exceptions import is_for_once
from bot.memory.claims.owners import owner_of, who_is_named
from bot.memory.claims.roles import OF_ROLES, find_roles
from bot.memory.claims.stances import Stance, find_stances
from bot.memory.claims.states import find_states
from bot.memory.clauses import clauses_of, without_lead

READ_LATELY = 20_000
"""Memories whose claims are kept, about 30 MB: each is compared with every new one of its person."""
ANIMALS = frozenset({"猫", "狗", "宠物"})
COUPLE = frozenset({SELF, "妻子", "丈夫", "女友", "男友", "对象"})
_OF_BOTH = {
    "state:marital:": COUPLE,
    "state:child:": COUPLE | {"孩子", "女儿", "儿子", "大女儿", "小女儿", "大儿子", "小儿子"},
}
"""Told of one of these or of another, it is of the person: the child's birth ends a pregnancy. 「我哥结婚了」 is not."""
LONGEST_CLAUSE = 120
"""Characters looked at: one claim is said in fewer."""

_CORRECTION = re.compile(r"(不是[^，,。！!？?]{1,16})[，,]\s*(?:而|应该|其实)?是")
"""「不是12号，是21号」 is one claim."""
_PAST = re.compile(
    r"以前|曾经?|(?<![挺熬撑扛])过去|原来|原先|从前|小时候|当年|当时|那时|年轻时|之前(?!的|那)|[0-9]年前|去年(?!.*(?:起|开始))"
    r"|大学时|读书时|上学时"
)
_STILL = re.compile(r"现在|改|换|不再|已经|如今|目前|了$|开始|[离结]的婚")
_PLANNED = re.compile(
    r"打算|计划|准备(?!好)|想(?!要|到|吃|喝)|可能|也许|或许|考虑|希望|梦想|以后想|将来|下个?月|下周|明年|后年|快要"
    r"|马上|即将|(?<!现在)要(?:被|搬|换|去|跳|转|升|结婚|退休|生)|会不会|如果|要是"
)
_SUPPOSED = re.compile(
    r"(?<![不没别])(?:打算|准备(?!好)|考虑|可能|也许|或许|说不定|希望|如果|要是|迟早|恨不得|会不会)|(?<![不没别])想(?!要|到|吃|喝|起|来|去|学|看|玩)"
)
"""Whoever may yet do it hasn't ended anything."""
CHANGE = re.compile(
    r"改[成到为用喝吃在了]?|换[成到了个]?|变[成为了]|迁|不再|现在|如今|目前|搬|更新|更改|更正|调整|推迟|提前|延[后期到]|调[到成]"
    r"|挪|以后|今后|从今|最新|已经|不是.{1,10}(?:是|了)|记错|说错|写错|打错|纠正|其实是|应该是|涨|升|降|转|跳槽"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One clause of a memory, read."""

    text: str
    """In its form."""
    owner: str
    claims: tuple[Claim, ...]
    stances: tuple[Stance, ...]
    is_open: bool
    """It says how things are: neither only past nor only planned."""
    is_past: bool = False
    """It says how things were."""
    is_asserted: bool = True
    """It says so itself: no change is denied, advised or thought of idly in it."""
    is_for_once: bool = False
    """Only so today, or this time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A memory, read."""

    text: str
    clauses: tuple[Clause, ...]
    says_change: bool
    """That something is otherwise than it was."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        return tuple(claim for clause in self.clauses for claim in clause.claims)


@lru_cache(READ_LATELY)
def read_claims(text: str) -> Reading:
    """Of a memory's text, as it is stored."""
    clauses: list[Clause] = []
    owner, event, before, so_far = SELF, "", "", ""
    pieces = [
        (said, each.begins_sentence)
        for each in clauses_of(_CORRECTION.sub(r"\1是", text))
        if (said := form(without_lead(each.text))[:LONGEST_CLAUSE])
    ]
    for (said, begins), (following, _) in zip(pieces, (*pieces, ("", True))[1:], strict=True):
        so_far = "" if begins else f"{so_far},{before}"
        owner = who_is_named(before, said) or owner_of(said, owner)
        whose = owner_of(following, owner) if is_of_next(said, following) else owner
        named = event_in(said)
        clauses.append(_clause(said, whose, "" if named else event, carried(before, said), so_far))
        before = said
        # 「面试改时间了，周五上午」: the time of what was named before it.
        event = named if named and not times_in(said) else ""
    whole = form(text)
    return Reading(text=whole, clauses=tuple(clauses), says_change=bool(CHANGE.search(whole)))


def _of_owner(slot: str, owner: str) -> str:
    """Several animals have a name each."""
    return "petname" if owner in ANIMALS and slot in ("name", "call") else slot


def _clause(said: str, owner: str, event: str, whole: str, so_far: str) -> Clause:
    """`whole`: the same with what it leaves out; "" where it leaves out nothing. `so_far`: what its sentence
    said before it."""
    if not is_asserted(said):
        return Clause(text=said, owner=owner, claims=(), stances=(), is_open=False, is_asserted=False)
    is_past = bool(_PAST.search(said)) and not _STILL.search(said)
    is_open = not is_past and not _PLANNED.search(said)
    found = (*find_attributes(whole or said), *find_states(said)) if is_open else ()
    claims = [
        Claim(
            owner=SELF if owner in _OF_BOTH.get(slot, ()) else owner, slot=_of_owner(slot, owner), value=value
        )
        for slot, value in found
    ]
    if is_open:
        whose = SELF if owner in OF_ROLES else owner
        claims += [Claim(owner=whose, slot=slot, value=value) for slot, value in find_roles(said)]
    if not is_past:
        claims += [
            Claim(owner=owner, slot=slot, value=value, needs_change=several)
            for slot, value, several in find_dates(event + said)
        ]
    return Clause(
        text=said,
        owner=owner,
        claims=tuple(claims),
        # What was planned is taken back by the way; what is only planned is no stance.
        stances=tuple(
            each
            for each in find_stances(said)
            if is_open or not (is_past or each.holds or _SUPPOSED.search(said))
        ),
        is_open=is_open,
        is_past=is_past,
        is_for_once=is_for_once(said, so_far),
    )
