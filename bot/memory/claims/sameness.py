"""Do two memories say the same? By all that they name, and by every word that is left.

Invariant: pure. What differs in an id, a date, an amount, any number, a person, a denial, or a word that isn't known
to say nothing, is not the same, however close the vectors are: an error here loses a memory.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from bot.memory.claims.claim import SELF, form
from bot.memory.claims.owners import with_owners
from bot.memory.claims.reading import read_claims
from bot.memory.claims.stances import DONE
from bot.memory.claims.wording import MUST_AGREE, denials, rest_of, same_words
from bot.memory.entities import EntityType, extract

COMPARED_LATELY = 4_096
_EXACT = frozenset({EntityType.ORDER_ID, EntityType.DATE, EntityType.AMOUNT, EntityType.CONTACT_INFO})
_PUNCTUATION = re.compile(r"[^\w.*@+]|(?<![0-9])\.|\.(?![0-9])")
_TIME = re.compile(r"(?:每|[上下]|周|星期|早上|上午|中午|下午|晚上|[0-9一二三四五六日天月号点半年末个]|#)+")
_ROLES = re.compile(r"给|把|被|比|借|欠|送|跟|和|让|替|帮|向")
"""Who does it and to whom hangs on the order of the words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """A memory as it is compared."""

    named: tuple[str, ...]
    """Ids, times, amounts, contacts, normalised; sorted."""
    rest: str
    """Its other words, those of one sense put as one."""
    owners: tuple[str, ...]
    claims: frozenset[tuple[str, str, str]]
    stances: frozenset[tuple[str, str, str, bool]]
    is_past_or_planned: bool


def says_the_same(one: str, one_at: datetime, other: str, other_at: datetime) -> bool:
    """Two memories of one person, and when each was said (aware): 「明天」 is another day each time."""
    a, b = _said(one, one_at), _said(other, other_at)
    if a.named != b.named or a.owners != b.owners or a.is_past_or_planned != b.is_past_or_planned:
        return False
    if sorted(MUST_AGREE.findall(a.rest)) != sorted(MUST_AGREE.findall(b.rest)):
        return False
    is_read = bool(a.claims or a.stances) and (a.claims, a.stances) == (b.claims, b.stances)
    if denials(a.rest) % 2 != denials(b.rest) % 2:
        return False
    rests = (rest_of(each.rest, is_read=is_read) for each in (a, b))
    return _is_equal(*rests, may_move=is_read and not _ROLES.search(a.rest))


def _is_equal(a: str, b: str, *, may_move: bool) -> bool:
    """Word for word, or with one piece moved: 「每周二我都…」, and 「香菜我不吃」 where that tells no roles."""
    if a == b:
        return True
    if sorted(a) != sorted(b):
        return False
    cuts = (cut for cut in range(1, len(a)) if a[cut:] + a[:cut] == b)
    return any(may_move or _is_time(a[:cut]) or _is_time(a[cut:]) for cut in cuts)


def _is_time(piece: str) -> bool:
    return _TIME.fullmatch(piece) is not None


@lru_cache(COMPARED_LATELY)
def _said(text: str, at: datetime) -> _Said:
    found = [each for each in extract(text, at) if each.type in _EXACT and each.value != "今年"]
    rest = text
    for each in reversed(found):
        rest = f"{rest[: each.start]}#{rest[each.end :]}"
    reading = read_claims(text)
    claims = {(each.owner, each.slot, _value(each.value)) for each in reading.claims}
    stances = {
        (clause.owner, each.object, "eat" if each.verb == "any" and not each.holds else each.verb, each.holds)
        for clause in reading.clauses
        for each in clause.stances
        if each.word != DONE
    }
    return _Said(
        named=tuple(sorted(f"{each.type}:{each.normalised}" for each in found)),
        rest=_PUNCTUATION.sub("", same_words(with_owners(form(rest)))),
        owners=tuple(sorted({clause.owner for clause in reading.clauses} or {SELF})),
        claims=frozenset(claims),
        stances=frozenset(stances),
        is_past_or_planned=any(not clause.is_open for clause in reading.clauses),
    )


def _value(value: str) -> str:
    return re.sub(r"[省市区县号日码的\s]", "", same_words(value))
