"""Statements that nobody would keep for themselves, but which put an end to what is held: 「药停了」 beside 「我在吃降压药」.

Invariant: pure; only what may become a fact at all is looked at, and nothing is added for what a new fact closes already.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from bot.memory.claims import contradicts, read_claims
from bot.memory.clauses import is_request, without_lead
from bot.memory.fact import Fact, FactKind, NewFact
from bot.memory.never import own_clauses
from bot.memory.statements import new_fact, statements_of, without_goods_of_others

LONGEST_SAID = 80
"""Characters: an end is told shortly; what is longer speaks of more than one thing."""


def with_ends(
    said: str, at: datetime, new: Sequence[NewFact], held: Sequence[Fact], *, is_group: bool
) -> tuple[NewFact, ...]:
    """The new facts of a message said at `at`, and what else of it ends one that is held: as the kind of what it ends."""
    facts = list(new)
    before = [each for each in held if each.kind is not FactKind.PROMISE and each.said_at <= at]
    for text in endings(said, is_group=is_group):
        ended = _ended(text, facts, before)
        if ended is None:
            continue
        place = next((at for at, fact in enumerate(facts) if fact.text in text), None)
        if place is None:
            facts.append(new_fact(text, at, ended.kind, ended.importance))
        else:
            facts[place] = replace(facts[place], text=text)
    return tuple(facts)


def endings(said: str, *, is_group: bool) -> tuple[str, ...]:
    """What of a message may put an end to something: its statements, and in private its sentences."""
    if len(said) > LONGEST_SAID:
        return ()
    found = [each.text for each in statements_of(said, is_group=is_group)]
    told = dict.fromkeys((*found, *(() if is_group else _sentences(said))))
    return tuple(text for text in told if _OTHERWISE.search(text) and not _WISH.search(text))


_OTHERWISE = re.compile(
    r"了|改|换|不|没|别|现在|已经|以后|只|其实|还是|又|也|戒|停|新|加|涨|升|降|减|推|提前|延|取消|搬|回|转|调|好|完|记成|登记成|备注成|提|开始|学会|终于|能|敢|可以|注销|停用|作废|到期|拆|丢|关|卖|送|死|走|散|离|旧|老|如今|天天|每天|爱上|迷上"
)
"""Something isn't as it was: a bare claim ends nothing that nobody would keep it for."""


_WISH = re.compile(r"[吧吗么呢?？]$|^(?:请|帮|给我|麻烦|能不能|可不可以|我?想?要?取消|我要退)")
"""It asks for something to be done: nothing has changed yet."""


_NUMBER = re.compile(r"[0-9]{7,}")
"""「请打139…」 says where they are reached."""


def _sentences(said: str) -> Iterator[str]:
    pieces: list[str] = []
    for clause in without_goods_of_others(own_clauses(said)):
        if clause.begins_sentence and pieces:
            yield "，".join(pieces)
            pieces = []
        text = without_lead(clause.text)
        if text and (_NUMBER.search(text) or not is_request(text)):
            pieces.append(text)
    if pieces:
        yield "，".join(pieces)


def _ended(text: str, facts: Sequence[NewFact], held: Sequence[Fact]) -> Fact | None:
    reading = read_claims(text)
    for each in held:
        other = read_claims(each.text)
        if contradicts(reading, other) and not any(
            fact.text == each.text or contradicts(read_claims(fact.text), other) for fact in facts
        ):
            return each
    return None
