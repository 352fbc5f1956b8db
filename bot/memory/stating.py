"""The facts of a message by rules and, where there are vectors, by the head that learned what is worth keeping.

Invariant: the head only chooses among the statements that rules leave (`statements_of`): what never becomes a fact
isn't shown to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bot.conversation.ports import Vector
from bot.memory.claims import OTHERS, SELF, read_claims
from bot.memory.clauses import is_first_person
from bot.memory.fact import FactKind, NewFact
from bot.memory.heads.keeping import KeepHead, Weighed
from bot.memory.statements import Statement, distinct, new_fact, sort_of, sort_of_claims, statements_of

KEPT_BY_HEAD = 0.5
"""How likely, for a statement that rules don't know."""
UNMEANT = 0.9
"""How likely a statement that rules keep isn't meant, for it to be dropped all the same."""
UNSORTED_IMPORTANCE = 0.4
"""Of what the head alone keeps: below all that rules know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    facts: tuple[NewFact, ...]
    vectors: Mapping[str, Vector] = field(default_factory=dict[str, Vector])
    """By text: of what was weighed, so that nothing is embedded twice."""


async def stated(text: str, said_at: datetime, *, is_group: bool, head: KeepHead | None) -> Stated:
    """What a person says of themselves in a message, without being asked to have it remembered."""
    statements = statements_of(text, is_group=is_group)
    weighed = await head.weigh([each.text for each in statements]) if head is not None else None
    if weighed is None:
        facts = (new_fact(each.text, said_at, *each.sort) for each in statements if each.sort is not None)
        return Stated(facts=distinct(facts))
    results, vectors = weighed
    sorts = [
        _sort(statement, result, is_group=is_group)
        for statement, result in zip(statements, results, strict=True)
    ]
    facts = (
        new_fact(statement.text, said_at, *sort)
        for statement, sort in zip(statements, sorts, strict=True)
        if sort is not None
    )
    return Stated(
        facts=distinct(facts), vectors={each.text: row for each, row in zip(statements, vectors, strict=True)}
    )


def _sort(statement: Statement, weighed: Weighed, *, is_group: bool) -> tuple[FactKind, float] | None:
    """Kind and importance of a statement that is kept. None: it isn't."""
    if statement.sort is not None:
        return statement.sort if weighed.unmeant < UNMEANT else None
    owners = {clause.owner for clause in read_claims(statement.text).clauses}
    is_others = owners != {SELF} if is_group else _is_of_others(owners, statement.text)
    if weighed.keep < KEPT_BY_HEAD or is_others:
        return None
    return sort_of(statement.text) or sort_of_claims(statement.text) or (FactKind.EVENT, UNSORTED_IMPORTANCE)


def _is_of_others(owners: set[str], text: str) -> bool:
    """It speaks of somebody who is called by a name, and not of the person or somebody of theirs."""
    return bool(owners) and all(each.startswith(OTHERS) for each in owners) and not is_first_person(text)
