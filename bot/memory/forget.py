"""Find what a person means by 「忘记…」, and delete it.

Invariant: only what the words name is deleted: facts that hold them, or most of them, or that belong to
the topic they are the very name of. Nearness of vectors never deletes anything.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot.conversation.scope import Scope
from bot.memory.content_words import content_terms, coverage, indexed_terms
from bot.memory.fact import Fact, ForgetReceipt
from bot.memory.normalise import normalise, searchable
from bot.memory.ports import FactForgetter
from bot.memory.topics import topic_named, topics_told

NEEDED_COVERAGE = 0.6
"""The share of the words' terms that a fact must hold: 「北京出差的事」 means the trip, not all of Beijing."""
SHORTEST_NAME = 2
"""Characters: one is part of nearly every turn."""
JUST_NOW = timedelta(minutes=5)
"""Facts this close to the newest one belong to 「刚才说的」."""

_JUST_NOW = re.compile(r"刚才|刚刚|方才|just now|just said")
_AROUND = re.compile(
    r"^(?:请|把|掉|关于|有关|我|你|咱们?|刚才|刚刚|方才|之前|上次|以前|前面|和你|跟你|对你|说过?的?|讲过?的?|提过?的?|告诉你的?|记住的?|记得的?"
    r"|那个|那件|这个|这件|的|about|that|my|the|what i (?:just )?(?:said|told you)|just now|\s|[:,\"'])+"
    r"|(?:的?(?:那件事|这件事|事情|这事|那事|事|话|内容|东西|记忆|信息)|吧|了|啊|哦|[\s.!~,\"'])+$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was meant, and what its deletion removed."""

    facts: tuple[Fact, ...]
    receipt: ForgetReceipt


class Forget:
    """Forgetting by words, within one scope."""

    def __init__(self, facts: FactForgetter) -> None:
        self._facts = facts

    async def find(self, scope: Scope, words: str) -> tuple[Fact, ...]:
        """The facts a person means. Raises StoreUnavailable."""
        return meant(words, (await self._facts.fact_sheet(scope)).facts)

    async def forget(self, scope: Scope, words: str) -> Forgotten:
        """Delete what is meant, and the talk that names it. Raises StoreUnavailable: then nothing may be said to be
        deleted."""
        found = await self.find(scope, words)
        receipt = await self._facts.forget_facts(scope, [fact.id for fact in found], named(words))
        return Forgotten(facts=found, receipt=receipt)


def named(words: str) -> tuple[str, ...]:
    """The thing that 「忘记 <words>」 names, as it may stand in a turn: as it was written, and normalised. () for
    「刚才说的」 and for what would be found everywhere."""
    normal = normalise(words)
    phrase = _AROUND.sub("", normal)
    if len(phrase) < SHORTEST_NAME or not content_terms(phrase):
        return ()
    at = normal.find(phrase)
    is_aligned = len(normal) == len(words)
    written = words[at : at + len(phrase)] if is_aligned else phrase
    return tuple(dict.fromkeys((written, phrase)))


def meant(words: str, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Which of the facts, given oldest first, 「忘记 <words>」 means; in the same order.

    By containment first, then by topic name (尺码 means 「我穿 M 码」), then by most of the words.
    「刚才说的」 alone means what was said last.
    """
    phrase = _AROUND.sub("", normalise(words))
    if not phrase:
        return _last_said(facts) if _JUST_NOW.search(normalise(words)) else ()
    if not content_terms(phrase):
        return ()
    holding = tuple(fact for fact in facts if _holds(fact.text, phrase))
    if holding:
        return holding
    if named := topic_named(phrase):
        return tuple(fact for fact in facts if named & topics_told(fact.text))
    return tuple(fact for fact in facts if coverage(phrase, fact.text) >= NEEDED_COVERAGE)


def _holds(text: str, phrase: str) -> bool:
    """The phrase as it is, spaces aside. Letters and digits count as whole words: 12 isn't in 2012."""
    if phrase.isascii():
        return bool(re.search(rf"(?<![a-z0-9]){re.escape(phrase)}(?![a-z0-9])", searchable(text)))
    return phrase.replace(" ", "") in searchable(text).replace(" ", "") and bool(
        content_terms(phrase).keys() & indexed_terms(text)
    )


def _last_said(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    if not facts:
        return ()
    newest = max(fact.said_at for fact in facts)
    return tuple(fact for fact in facts if newest - fact.said_at <= JUST_NOW)
