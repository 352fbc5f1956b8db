"""Find what a person means by 「忘记…」, and delete it.

Invariant: only what the words name is deleted: facts that hold them, or most of them, or that belong to
the topic they are the very name of, and what was said in a time they name. Nearness of vectors never deletes anything.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.conversation.scope import Scope
from bot.conversation.simplified import simplified
from bot.conversation.turn import Turn
from bot.memory.broad_topics import is_of_topic
from bot.memory.content_words import codes, content_terms, coverage, indexed_terms
from bot.memory.fact import Fact, ForgetReceipt
from bot.memory.forget_request import ForgetRequest, Means, read_request, strip_around
from bot.memory.normalise import normalise, searchable
from bot.memory.numbering import Shown, numbered
from bot.memory.ports import FactForgetter, TurnLog
from bot.memory.sessions import earlier_session, session_began
from bot.memory.sought import Sought
from bot.memory.time_zh import Window
from bot.memory.topics import topic_named, topics_asked, topics_told

NEEDED_COVERAGE = 0.6
"""The share of the words' terms that a fact must hold: 「北京出差的事」 means the trip, not all of Beijing."""
TOUCHING_COVERAGE = 0.25
"""Enough to ask whether it is meant."""
SHORTEST_NAME = 2
"""Characters: one is part of nearly every turn."""
LOOKED_BACK = 1_000
"""Turns whose times tell one talk from another."""
MOST_TURNS = 100_000
"""Of a time."""
_SIDE = re.compile(r"(?:的?(?:方面|相关|有关|问题|状况|情况|细节|历史)|的|上|呢)+$")
_TICK = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What is meant."""

    request: ForgetRequest
    facts: tuple[Fact, ...] = ()
    """Oldest first, also those out of view."""
    turns: tuple[int, ...] = ()
    """Ids of turns that go whatever they hold."""
    words: tuple[str, ...] = ()
    """Turns that hold one of these go too."""
    gone: tuple[int, ...] = ()
    """Numbers that were named and that nothing is held under."""
    is_sure: bool = True
    """False: the words only touch what was found, so whoever said them is asked first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was meant, and what its deletion removed."""

    facts: tuple[Fact, ...]
    receipt: ForgetReceipt = field(default_factory=ForgetReceipt)

    @property
    def is_nothing(self) -> bool:
        return not (self.facts or self.receipt.turns or self.receipt.summaries or self.receipt.entities)


class Forget:
    """Forgetting by words, within one scope."""

    def __init__(self, facts: FactForgetter, log: TurnLog) -> None:
        self._facts = facts
        self._log = log

    async def find(self, scope: Scope, words: str, at: datetime, shown: Shown | None = None) -> Found:
        """What 「忘记 <words>」 said at `at` means. `shown`: the numbers that were last seen; None: those of all that is
        held. Raises StoreUnavailable."""
        request = read_request(words, at)
        held = sorted(await self._facts.held_facts(scope), key=lambda fact: (fact.said_at, fact.id))
        match request.means:
            case Means.ALL:
                return Found(request=request, facts=tuple(held))
            case Means.NUMBER:
                return _by_number(request, held, shown)
            case Means.LAST:
                return await self._last(scope, request, held, at)
            case Means.TIME:
                return await self._in_window(
                    scope, request, held, await self._window(scope, request, held, at)
                )
            case Means.THING:
                return await self._thing(scope, words, request, held, at)

    async def one(self, scope: Scope, fact: int) -> Found:
        """The memory with this id, if it is of the scope. Raises StoreUnavailable."""
        return await self.those(scope, (fact,))

    async def those(self, scope: Scope, facts: Sequence[int]) -> Found:
        """The memories with these ids, as far as they are of the scope. Raises StoreUnavailable."""
        held = [each for each in await self._facts.held_facts(scope) if each.id in facts]
        return Found(request=ForgetRequest(means=Means.NUMBER), facts=tuple(held))

    async def said_in(self, scope: Scope, window: Window) -> Found:
        """All that was said in a time. Raises StoreUnavailable."""
        held = sorted(await self._facts.held_facts(scope), key=lambda fact: (fact.said_at, fact.id))
        return await self._in_window(scope, ForgetRequest(means=Means.TIME, window=window), held, window)

    async def forget(self, scope: Scope, found: Found, asked_in: str = "") -> Forgotten:
        """Delete what is meant, and the talk that names it. `asked_in`: the key of the message that asks. Raises
        StoreUnavailable: then nothing may be said to be deleted."""
        receipt = await self._facts.forget_facts(
            scope, [fact.id for fact in found.facts], found.words, turns=found.turns, asked_in=asked_in
        )
        return Forgotten(facts=found.facts, receipt=receipt)

    async def _last(self, scope: Scope, request: ForgetRequest, held: Sequence[Fact], at: datetime) -> Found:
        """The last statement: one turn with what was kept of it, or one 「记住」."""
        times = [fact.said_at for fact in held if fact.said_at <= at]
        times += await self._log.times(scope, 1)
        if not times:
            return Found(request=request)
        last = max(times)
        return await self._in_window(scope, request, held, Window(start=last, end=last + _TICK))

    async def _in_window(
        self, scope: Scope, request: ForgetRequest, held: Sequence[Fact], window: Window
    ) -> Found:
        turns = await self._turns(scope, window)
        return Found(request=request, facts=_said_in(window, held), turns=tuple(turn.id for turn in turns))

    async def _thing(
        self, scope: Scope, words: str, request: ForgetRequest, held: Sequence[Fact], at: datetime
    ) -> Found:
        names = named(request.phrase, words)
        if not (request.is_recent or request.window or request.sessions_back):
            return _thing_of(request, held, request.phrase, names)
        window = await self._window(scope, request, held, at)
        sought = Sought.of(names)
        turns = [
            turn
            for turn in await self._turns(scope, window)
            if sought.is_in(f"{turn.question} {turn.answer}")
        ]
        then = _said_in(window, held)
        facts = meant(request.phrase, then)
        near = _near(request.phrase, then, facts)
        if facts or near or turns or request.is_said_then:
            ids = tuple(turn.id for turn in turns)
            return Found(request=request, facts=near or facts, turns=ids, is_sure=not near)
        return _thing_of(request, held, request.whole, named(request.whole, words))

    async def _window(
        self, scope: Scope, request: ForgetRequest, held: Sequence[Fact], at: datetime
    ) -> Window:
        if request.window is not None:
            return request.window
        said = {*(await self._log.times(scope, LOOKED_BACK)), *(fact.said_at for fact in held)}
        times = sorted((time for time in said if time <= at), reverse=True)
        if request.sessions_back:
            return earlier_session(times, at, request.sessions_back)
        return Window(start=session_began(times, at), end=at + _TICK)

    async def _turns(self, scope: Scope, window: Window) -> tuple[Turn, ...]:
        return await self._log.between(scope, window.start, window.end, MOST_TURNS)


def named(phrase: str, words: str) -> tuple[str, ...]:
    """What `phrase`, the normalised core of `words`, is looked for by in turns: its codes, else itself as it was
    written, and normalised. () for what would be found everywhere."""
    if found := codes(phrase):
        return tuple(sorted(found))
    if len(phrase) < SHORTEST_NAME or not content_terms(phrase):
        return ()
    plain = normalise(simplified(words))
    at = plain.find(phrase)
    is_aligned = at >= 0 and len(plain) == len(words)
    written = words[at : at + len(phrase)] if is_aligned else phrase
    return tuple(dict.fromkeys((written, phrase)))


def meant(phrase: str, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Which of the facts, given oldest first, a normalised phrase names; in the same order.

    By its codes where it has some, then by containment, then by topic name (尺码 means 「我穿 M 码」), then by most of
    the words.
    """
    if not content_terms(phrase):
        return ()
    if found := codes(phrase):
        return tuple(fact for fact in facts if found & codes(fact.text))
    holding = tuple(fact for fact in facts if _holds(_plain(fact), phrase))
    if topic := topic_named(phrase):
        return tuple(fact for fact in facts if fact in holding or topic & topics_told(_plain(fact)))
    return holding or tuple(fact for fact in facts if coverage(phrase, _plain(fact)) >= NEEDED_COVERAGE)


def _thing_of(request: ForgetRequest, held: Sequence[Fact], phrase: str, names: tuple[str, ...]) -> Found:
    facts = meant(phrase, held)
    near = _near(phrase, held, facts)
    return Found(request=request, facts=near or facts, words=names, is_sure=not near)


def _near(phrase: str, held: Sequence[Fact], meant_surely: Sequence[Fact]) -> tuple[Fact, ...]:
    """With what is meant surely, what belongs to a topic as people name them; () where that adds nothing."""
    bare = _SIDE.sub("", phrase)
    touched = frozenset[int]() if meant_surely else topics_asked(phrase)
    near = tuple(
        fact
        for fact in held
        if fact in meant_surely or is_of_topic(bare, _plain(fact)) or touched & topics_told(_plain(fact))
    )
    if len(near) > len(meant_surely):
        return near
    if meant_surely:
        return ()
    return tuple(fact for fact in held if coverage(bare, _plain(fact)) >= TOUCHING_COVERAGE)


def _by_number(request: ForgetRequest, held: Sequence[Fact], shown: Shown | None) -> Found:
    """The memories of the numbers; with one number alone also what holds it as a word, and then whoever said it is asked,
    as who never saw it is."""
    numbers = numbered(held, shown)
    texts = {numbers[number].text for number in request.numbers if number in numbers}
    gone = tuple(number for number in request.numbers if number not in numbers)
    was_seen = shown is None or shown.seen.issuperset({*request.numbers} - {*gone})
    is_word = request.is_only_number and not (shown and shown.seen.issuperset(request.numbers) and gone)
    holding = meant(request.phrase, held) if is_word else ()
    if not texts:
        words = named(request.phrase, request.phrase) if is_word else ()
        return Found(request=request, facts=holding, words=words, gone=() if holding else gone)
    both = tuple(fact for fact in held if fact in holding or fact.text in texts)
    is_one = all(fact.text in texts for fact in both)
    return Found(request=request, facts=both, gone=gone, is_sure=was_seen and is_one)


def _said_in(window: Window, facts: Iterable[Fact]) -> tuple[Fact, ...]:
    return tuple(fact for fact in facts if window.start <= fact.said_at < window.end)


def _holds(text: str, phrase: str) -> bool:
    """The phrase as it is, spaces aside. Letters and digits count as whole words: 12 isn't in 2012."""
    if phrase.isascii():
        return bool(re.search(rf"(?<![a-z0-9]){re.escape(phrase)}(?![a-z0-9])", searchable(text)))
    return phrase.replace(" ", "") in searchable(text).replace(" ", "") and bool(
        content_terms(phrase).keys() & indexed_terms(text)
    )


def thing_named(words: str) -> str:
    """The core of words, for what is no order to forget: 「我的鞋码」 → 鞋码."""
    return strip_around(normalise(simplified(words)))


def _plain(fact: Fact) -> str:
    return simplified(fact.text)
