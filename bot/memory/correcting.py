"""Put one memory right: another text takes its place.

Invariant: the old one is closed and kept as what was said, and only what its person may have remembered at all takes
its place; where that isn't so, nothing changes.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from bot.conversation.scope import Scope
from bot.memory.explicit import facts_of_explicit
from bot.memory.fact import Fact
from bot.memory.ports import FactStore


class Correction(StrEnum):
    """What came of it."""

    DONE = "done"
    NO_FACT = "no_fact"
    """The new text says nothing that may be remembered."""
    SAME = "same"
    GONE = "gone"
    """The memory was cleared meanwhile, so that nothing new could be kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    outcome: Correction
    texts: tuple[str, ...] = ()
    """What took the old one's place."""


async def put_right(facts: FactStore, scope: Scope, fact: Fact, text: str, at: datetime) -> Corrected:
    """`fact`: of the scope, in view. `text`: the person's words, said at `at`. Raises StoreUnavailable."""
    told = facts_of_explicit(text, at)
    if not told:
        return Corrected(outcome=Correction.NO_FACT)
    new = tuple(
        replace(each, kind=fact.kind, importance=max(each.importance, fact.importance)) for each in told
    )
    if all(each.text == fact.text for each in new):
        return Corrected(outcome=Correction.SAME)
    await facts.keep(scope, new, None, "", source_turn=None)
    held = (await facts.fact_sheet(scope)).facts
    by = next((each.id for each in held if each.text == new[0].text), None)
    if by is None:
        return Corrected(outcome=Correction.GONE)
    await facts.supersede(scope, [fact.id], by)
    return Corrected(outcome=Correction.DONE, texts=tuple(each.text for each in new))
