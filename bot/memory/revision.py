"""What new facts do to the ones that are held: which they close, and which they only say again.

Invariant: pure. What was said later than a new fact is neither closed nor raised by it; what the bot promised is the
bot's, and no word of the person's changes it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.conversation.lexical import bigram_terms
from bot.memory.claims import (
    Reading,
    contradicts,
    form,
    other_amount,
    read_claims,
    says_the_same,
    still_holds,
)
from bot.memory.fact import Fact, FactKind, NewFact
from bot.memory.normalise import searchable

MOST_KNOWN = 8
"""Memories a model is shown beside a message: those it may contradict are among the nearest in words."""


def settled(new: Sequence[NewFact], held: Iterable[Fact], said: str = "") -> tuple[NewFact, ...]:
    """The new facts without those that another of them says, and with what they close and repeat. `said`: the message
    they are of; what it says is as before is closed by none of its statements."""
    told = [fact for fact in held if fact.kind is not FactKind.PROMISE]
    kept: list[NewFact] = []
    for fact in new:
        if fact.kind is FactKind.PROMISE:
            kept.append(fact)
        elif not any(_is_same(fact, other.text, other.said_at) for other in kept):
            kept.append(_settled(fact, told, form(said)))
    return tuple(kept)


def equal_to(text: str, at: datetime, held: Iterable[Fact]) -> tuple[int, ...]:
    """Ids of the facts that say what `text` says."""
    return tuple(
        fact.id
        for fact in held
        if fact.kind is not FactKind.PROMISE
        and (fact.text == text or says_the_same(text, at, fact.text, fact.said_at))
    )


def nearest_to(said: str, held: Sequence[Fact]) -> tuple[str, ...]:
    """The texts of the facts that share most words with what was said, best first; those that share none are left
    out."""
    asked = set(bigram_terms(searchable(said)))
    shared = [
        (len(asked & set(bigram_terms(searchable(fact.text)))), fact.id, fact.text)
        for fact in held
        if fact.kind is not FactKind.PROMISE
    ]
    best = sorted((each for each in shared if each[0]), reverse=True)
    return tuple(text for _, _, text in best[:MOST_KNOWN])


def _settled(fact: NewFact, held: Sequence[Fact], said: str) -> NewFact:
    reading = read_claims(fact.text)
    before = [each for each in held if each.said_at <= fact.said_at and each.text != fact.text]
    same = {each.id for each in before if _is_same(fact, each.text, each.said_at)}
    closed = [
        each
        for each in before
        if each.id not in same
        and not still_holds(said, form(each.text))
        and (contradicts(reading, read_claims(each.text)) or _is_named(fact, reading, each))
    ]
    if any(other_amount(clause.text) for clause in reading.clauses):
        closed = _last_ordered(closed, fact.said_at)
    closes = tuple(each.id for each in closed)
    return replace(fact, closes=closes, repeats=min(same, default=None))


SOON = timedelta(days=1)
"""「改成四份」 says of nothing older what it is of."""


def _last_ordered(found: Sequence[Fact], at: datetime) -> list[Fact]:
    recent = [each for each in found if at - each.said_at <= SOON]
    return sorted(recent, key=lambda each: (each.said_at, each.id))[-1:]


def _is_same(fact: NewFact, text: str, said_at: datetime) -> bool:
    return says_the_same(fact.text, fact.said_at, text, said_at)


def _is_named(fact: NewFact, reading: Reading, held: Fact) -> bool:
    """A model says that the fact takes this one's place, in the very words it was shown; and nothing that rules read
    speaks against it: the same people, and no two slots that differ."""
    if not fact.instead_of or searchable(fact.instead_of) != searchable(held.text):
        return False
    other = read_claims(held.text)
    if {each.owner for each in reading.clauses} != {each.owner for each in other.clauses}:
        return False
    mine, theirs = (
        {claim.slot for claim in each.claims if not claim.slot.startswith("state:")}
        for each in (reading, other)
    )
    return not (mine and theirs) or bool(mine & theirs)
