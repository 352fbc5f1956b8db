"""Does what a model says of a person hold against the person's own words?

Invariant: pure. A number, a name, a place, what is liked, and whether it is denied are as the person said them, or there is
no fact: a memory that is missing is told again, one that is wrong is believed.
"""

import re

from bot.conversation.lexical import bigram_terms
from bot.memory.claims import read_claims
from bot.memory.claims.wording import denials
from bot.memory.clauses import clauses_of, is_order
from bot.memory.content_words import codes
from bot.memory.never.links import has_link
from bot.memory.normalise import normalise, searchable, with_digits

GROUNDED_SHARE = 0.35
"""Of a fact's character pairs, how many the person must have written. 「我叫李四」 for 「我叫张三」 has a third;
a true fact put into the third person (「用户住在杭州」) has two fifths."""
TURNED_SHARE = 0.8
"""So much of a clause said again without its denial, or with one more, is that clause turned round."""

_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_DAY = re.compile(
    r"(?:(?:19|20)?[0-9]{2}\s?[年\-/.]\s?)?[0-9]{1,2}\s?[月\-/]\s?[0-9]{1,2}\s?[日号]?|[0-9]{1,2}\s?[日号](?!码|楼|线)"
)
_COUNTED = re.compile(r"[二两三四五六七八九十百千]+(?=[口家孩套间辆门种盒瓶杯袋箱包盘碗把支根场届期级班胎])")
"""Numerals that stand before no unit which `with_digits` reads. 「一」 says no number half of the time."""
_ADDED = re.compile(
    r"[省市区县的\s]|^(?:在|住|做|是)|工程师$|人员$|(?:的)?(?:食物|食品|东西|口味|菜品?|产品|商品|颜色|类型|款式?|衣服|人)$"
)
"""What a model adds to a value and takes from it without changing it."""
_DENIED = re.compile(r"不|没有?|别|无|非|未|并|从来?|再")
_APART = ("state:", "date:")
"""Slots whose values aren't said in so many words, or whose numbers are looked at."""
_USER = re.compile(r"(?:该|这位|此)?(?:用户|客户|顾客)|说话人")
"""As whom a model speaks of the person."""
_WHO = re.compile(r"^(?:本人|我)的?")


def is_grounded(fact: str, said: str) -> bool:
    """`said`: the clauses that are the person's own. False where the fact adds, changes or turns round what they say."""
    fact = in_first_person(fact)
    if has_link(fact) or any(is_order(clause.text) for clause in clauses_of(fact)):
        return False
    if said_share(fact, said) < GROUNDED_SHARE:
        return False
    return _has_its_numbers(fact, said) and _has_its_values(fact, said) and not _is_turned(fact, said)


def in_first_person(text: str) -> str:
    """What a model writes of 「用户」, as the person would say it."""
    return _USER.sub("我", text)


def said_share(text: str, said: str) -> float:
    """Of a text's character pairs, how many were said, 0 to 1; 0 for a text without any."""
    terms = set(bigram_terms(searchable(text)))
    return len(terms & set(bigram_terms(searchable(said)))) / len(terms) if terms else 0.0


def new_codes(text: str, said: str) -> frozenset[str]:
    """Its numbers and ids that nobody wrote, but for years, which a model writes out."""
    return frozenset(code for code in codes(text) - codes(said) if not _YEAR.fullmatch(code))


def _has_its_numbers(fact: str, said: str) -> bool:
    """A day may be one that the model wrote out: 「下周三」."""
    if not all(map(_DAY.search, new_codes(fact, said))):
        return False
    told, known = with_digits(normalise(fact)), with_digits(normalise(said))
    if not _DAY.search(known):
        told = _DAY.sub("", told)
    invented = set(_NUMBER.findall(told)) - set(_NUMBER.findall(known))
    return all(map(_YEAR.fullmatch, invented)) and set(_COUNTED.findall(told)) <= set(_COUNTED.findall(known))


def _has_its_values(fact: str, said: str) -> bool:
    known = with_digits(normalise(said))
    reading = read_claims(fact)
    values = [
        (each.slot == "name", each.value) for each in reading.claims if not each.slot.startswith(_APART)
    ]
    values += [(False, each.object) for clause in reading.clauses for each in clause.stances]
    for is_name, value in values:
        bare = _ADDED.sub("", normalise(value))
        if is_name and bare not in known:
            return False
        if not set(_NUMBER.sub("", bare)) <= set(known):
            return False
    return True


def _is_turned(fact: str, said: str) -> bool:
    """It says what a clause says, but for the denial."""
    theirs = [_bare(clause.text) for clause in clauses_of(said)]
    for clause in clauses_of(fact):
        terms, odd = _bare(clause.text)
        best = max(theirs, key=lambda each: len(terms & each[0]), default=None)
        if terms and best and len(terms & best[0]) >= TURNED_SHARE * len(terms) and odd != best[1]:
            return True
    return False


def _bare(clause: str) -> tuple[set[str], int]:
    """Its words without who and denial, and whether it is denied."""
    text = normalise(clause)
    return set(bigram_terms(_DENIED.sub("", _WHO.sub("", text)))), denials(text) % 2
