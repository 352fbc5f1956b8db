"""What the words of a message point at, before memory is asked: 「那个单号」「你忘了」, and how much is to be recalled.

Invariant: only what this very scope has named is looked at, so a group's talk never points into a private one; what
the person wrote stays as it is, and only what is searched for is rewritten.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.conversation.scope import Scope
from bot.conversation.turn import Turn
from bot.memory.asked_time import AskedTime, AskedTimes
from bot.memory.complexity import BOUND_K, COMPLEX_K, ORDINARY_K, k_of
from bot.memory.consolidation import ProductNames, no_products
from bot.memory.entities import LIVE_ENTITIES, SeenEntity, live_entities
from bot.memory.naming import seen_lately
from bot.memory.ports import EntityStore
from bot.memory.references import (
    Ambiguous,
    Resolved,
    is_reproach,
    may_point,
    points_at_promise,
    rewrite,
    understand,
)
from bot.memory.said import is_about_something
from bot.memory.sessions import session_began
from bot.memory.sizing import Sizing
from bot.memory.talk import talk_of
from bot.memory.time_zh import Window

LOOKED_AT = 200
"""Entities of a scope: what was named longer ago than these is asked for by name."""
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
    talk: str = ""
    """What the person said in this talk, the message last; "" where it stands for itself."""
    asked: AskedTime | None = None
    """The time whose memories are asked for, with its window; None: all compete."""

    @property
    def window(self) -> Window | None:
        """Of what competes; None: all."""
        return self.asked.window if self.asked is not None else None


class Pointing:
    """Reads messages over what their scopes have named."""

    def __init__(
        self,
        entities: EntityStore,
        k: int,
        products: ProductNames = no_products,
        times: AskedTimes | None = None,
        sizing: Sizing | None = None,
    ) -> None:
        """`k`: memories for an ordinary question. `products`: the names of the house's goods. Without `times` no
        question is bound to one. `sizing`: by rule alone where it is left out."""
        self._entities = entities
        self._times = times
        self._sizing = sizing or Sizing()
        self._k = k
        self._products = products

    async def read(self, text: str, at: datetime, scope: Scope | None, recent: Sequence[Turn]) -> Pointed:
        """`recent`: the last turns of the scope, oldest first. Raises StoreUnavailable."""
        blames = is_reproach(text)
        if scope is None:
            return Pointed(query=text, k=self._k_of(k_of(text), None, blames=blames), is_reproach=blames)
        asked = await self._times.read(text, at, scope, recent) if self._times is not None else None
        points = may_point(text)
        stored = await self._entities.seen(scope, LOOKED_AT if points or asked else LIVE_ENTITIES)
        # A turn's worker may not have come to it yet; of older ones only where somebody points at them.
        seen = seen_lately(stored, recent if points else recent[-1:], await self._products())
        query = asked.rest if asked is not None else text
        query = f"{recent[-1].question} {query}" if blames and recent else query
        found, asked = _found(text, at, recent, seen, asked) if points else (None, asked)
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
            k=self._k_of(await self._sizing.k(text), asked, blames=blames),
            is_reproach=blames,
            words=words,
            meant=meant,
            entities=live_entities(_of_time(seen, asked)),
            talk="" if found or asked or blames else talk_of(text, at, recent),
            asked=asked,
        )

    def _k_of(self, of_text: int, asked: AskedTime | None, *, blames: bool) -> int:
        if asked is not None:
            of_text = max(of_text, BOUND_K if is_about_something(asked.rest) else COMPLEX_K)
        return min(max(1, round(of_text * self._k / ORDINARY_K)) * (WIDER if blames else 1), MOST_K)


def _found(
    text: str, at: datetime, recent: Sequence[Turn], seen: Sequence[SeenEntity], asked: AskedTime | None
) -> tuple[Resolved | Ambiguous | None, AskedTime | None]:
    """What is pointed at, and the time that still binds what is recalled."""
    found = _understood(text, _of_time(seen, asked), recent, at)
    if found is not None or asked is None:
        return found, asked
    if points_at_promise(text):
        # A promise binds whenever it was made: then the time only tells which one is meant.
        found = _understood(text, seen, recent, at)
        return found, None if found is not None else asked
    # 「上周三买的那单」 may have been told later; 「上周三说的那单」 was not.
    return (None if asked.is_said else _understood(text, seen, recent, at)), asked


def _of_time(seen: Sequence[SeenEntity], asked: AskedTime | None) -> tuple[SeenEntity, ...]:
    """What was named in the time that is asked for."""
    window = asked.window if asked is not None else None
    if window is None:
        return tuple(seen)
    return tuple(each for each in seen if window.start <= each.seen_at < window.end)


def _understood(
    text: str, seen: Sequence[SeenEntity], recent: Sequence[Turn], at: datetime
) -> Resolved | Ambiguous | None:
    return understand(
        text, seen, offered=_offered(recent, seen), session_began=session_began(_times(recent), at)
    )


def _offered(recent: Sequence[Turn], seen: Sequence[SeenEntity]) -> tuple[SeenEntity, ...]:
    """What the person was last asked to choose from: 第二个 is one of these."""
    if not recent:
        return ()
    last = recent[-1]
    before = [each for each in seen if each.seen_at < last.at]
    found = understand(last.question, before, session_began=session_began(_times(recent[:-1]), last.at))
    return found.candidates if isinstance(found, Ambiguous) else ()


def _times(turns: Sequence[Turn]) -> Iterator[datetime]:
    """Newest first."""
    return (turn.at for turn in reversed(turns))
