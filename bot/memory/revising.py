"""The new facts of a turn beside what is held already: read from the stores, and settled in a thread where it is much.

Invariant: nothing is written here; what is read is the scope's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import anyio.to_thread

from bot.conversation.scope import Scope
from bot.conversation.turn import Turn
from bot.memory.confirming import ANSWERED_WITHIN, LONGEST_REPLY, Confirmed, confirmed_by
from bot.memory.fact import Fact, NewFact
from bot.memory.judge import is_worth_judging
from bot.memory.overtaking import endings, with_ends
from bot.memory.ports import FactReader, TurnBefore
from bot.memory.revision import equal_to, nearest_to, settled

INLINE_FACTS = 20
"""Up to here settling takes less than 5 ms, the first time too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revised:
    """What a turn does to the facts."""

    facts: tuple[NewFact, ...]
    """The new ones, with what they close and repeat."""
    denied: tuple[int, ...] = ()
    """Ids of those that the person said are not so."""


class Revising:
    def __init__(self, facts: FactReader, turns: TurnBefore, *, shows_known: bool = False) -> None:
        """`shows_known`: to a judge that can say which of them a message contradicts."""
        self._shows_known = shows_known
        self._facts = facts
        self._turns = turns

    async def known(self, scope: Scope, said: str) -> tuple[str, ...]:
        """The memories that are nearest in words; () where nobody is to see them. Raises StoreUnavailable."""
        if not self._shows_known or not is_worth_judging(said):
            return ()
        held = await self._held(scope)
        if len(held) <= INLINE_FACTS:
            return nearest_to(said, held)
        return await anyio.to_thread.run_sync(nearest_to, said, held)

    async def confirmed(self, scope: Scope, turn: Turn, *, is_group: bool) -> Confirmed:
        """What the turn says as an answer to what the bot asked just before. Raises StoreUnavailable."""
        if not turn.question.strip() or len(turn.question) > LONGEST_REPLY:
            return Confirmed()
        before = await self._turns.before(scope, turn.id)
        if before is None or turn.at - before.at > ANSWERED_WITHIN:
            return Confirmed()
        return confirmed_by(before.answer, turn.question, turn.at, is_group=is_group)

    async def revised(
        self, scope: Scope, turn: Turn, new: Sequence[NewFact], confirmed: Confirmed, *, is_group: bool
    ) -> Revised:
        """`new`: the facts judged from the turn, in order. Raises StoreUnavailable."""
        facts = (*new, *confirmed.facts)
        if not (facts or confirmed.denied or endings(turn.question, is_group=is_group)):
            return Revised(facts=())
        held = await self._held(scope)
        settle = partial(_revised, turn, facts, held, confirmed.denied, is_group=is_group)
        return settle() if len(held) <= INLINE_FACTS else await anyio.to_thread.run_sync(settle)

    async def _held(self, scope: Scope) -> tuple[Fact, ...]:
        return tuple((await self._facts.fact_sheet(scope)).facts)


async def settled_beside(new: Sequence[NewFact], held: Sequence[Fact]) -> tuple[NewFact, ...]:
    """See `settled`."""
    if len(held) <= INLINE_FACTS:
        return settled(new, held)
    return await anyio.to_thread.run_sync(settled, new, held)


def _revised(
    turn: Turn, facts: Sequence[NewFact], held: Sequence[Fact], denied: str, *, is_group: bool
) -> Revised:
    ids = equal_to(denied, turn.at, held) if denied else ()
    told = with_ends(turn.question, turn.at, facts, held, is_group=is_group)
    return Revised(facts=settled(told, held, turn.question), denied=ids)
