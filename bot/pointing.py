"""What the words of a message point at, before memory is asked: 「那个单号」「你忘了」, and how much is to be recalled.

Invariant: only what this very scope has named is looked at, so a group's talk never points into a private one; what
the person wrote stays as it is, and only what is searched for is rewritten.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.conversation.scope import Scope
from bot.conversation.turn import Turn
from bot.memory.complexity import ORDINARY_K, k_of
from bot.memory.consolidation import ProductNames, no_products
from bot.memory.entities import LIVE_ENTITIES, SeenEntity, live_entities
from bot.memory.naming import seen_lately
from bot.memory.ports import EntityStore
from bot.memory.references import Ambiguous, Resolved, is_reproach, may_point, rewrite, understand

LOOKED_AT = 200
"""Entities of a scope: what was named longer ago than these is asked for by name."""
SESSION_GAP = timedelta(minutes=30)
"""Without a word: what follows is another talk."""
WIDER = 3
"""Times as many memories when the person says that the bot forgot."""
MOST_K = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointed:
    """How a message is to be understood."""

    query: str
    """What is embedded and searched: the message's text with what it points at put in."""
    k: int
    """Memories to recall."""
    is_reproach: bool = False
    words: str = ""
    """The words that point at something; "" where none do, or at nothing known."""
    meant: tuple[SeenEntity, ...] = ()
    """What they mean: one, or several that fit equally well, of which the person is to choose."""
    entities: tuple[SeenEntity, ...] = ()
    """The latest that the conversation named, newest first."""


class Pointing:
    """Reads messages over what their scopes have named."""

    def __init__(self, entities: EntityStore, k: int, products: ProductNames = no_products) -> None:
        """`k`: memories for an ordinary question. `products`: the names of the house's goods."""
        self._entities = entities
        self._k = k
        self._products = products

    async def read(self, text: str, at: datetime, scope: Scope | None, recent: Sequence[Turn]) -> Pointed:
        """`recent`: the last turns of the scope, oldest first. Raises StoreUnavailable."""
        blames = is_reproach(text)
        k = min(max(1, round(k_of(text) * self._k / ORDINARY_K)) * (WIDER if blames else 1), MOST_K)
        if scope is None:
            return Pointed(query=text, k=k, is_reproach=blames)
        points = may_point(text)
        stored = await self._entities.seen(scope, LOOKED_AT if points else LIVE_ENTITIES)
        # A turn's worker may not have come to it yet; of older ones only where somebody points at them.
        seen = seen_lately(stored, recent if points else recent[-1:], await self._products())
        live = live_entities(seen)
        query = f"{recent[-1].question} {text}" if blames and recent else text
        found = None
        if points:
            found = understand(
                text, seen, offered=_offered(recent, seen), session_began=_session_began(recent, at)
            )
        words, meant = "", ()
        match found:
            case Resolved():
                words, meant = found.reference.words or text, (found.entity,)
                query = rewrite(text, found)
            case Ambiguous():
                words, meant = found.reference.words or text, found.candidates
            case None:
                pass
        return Pointed(
            query=query,
            k=k,
            is_reproach=blames,
            words=words,
            meant=meant,
            entities=live,
        )


def _offered(recent: Sequence[Turn], seen: Sequence[SeenEntity]) -> tuple[SeenEntity, ...]:
    """What the person was last asked to choose from: 第二个 is one of these."""
    if not recent:
        return ()
    last = recent[-1]
    before = [each for each in seen if each.seen_at < last.at]
    found = understand(last.question, before, session_began=_session_began(recent[:-1], last.at))
    return found.candidates if isinstance(found, Ambiguous) else ()


def _session_began(recent: Sequence[Turn], at: datetime) -> datetime:
    """When this talk began, as far as the last turns tell: 上次 is before it."""
    began = at
    for turn in reversed(recent):
        if began - turn.at > SESSION_GAP:
            break
        began = turn.at
    return began
