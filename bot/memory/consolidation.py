"""Turn a turn into memory: judge it, keep its facts with their vectors and what it names, condense the turns before it
when they are due, and finish the job.

Invariant: facts, vectors, entities, summary and the finished job are one transaction of the store, so a turn is
consolidated once or not at all; without an embedder the facts are kept all the same and embedded later. One model call
serves all of it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bot.conversation.errors import EmbedderUnavailable, JideError
from bot.conversation.ports import Embedder, Matrix, Vector
from bot.conversation.scope import AccountId, Scope
from bot.conversation.turn import Turn
from bot.memory.fact import NewFact
from bot.memory.judge import Judge, Judgement
from bot.memory.naming import named_in, promise_facts, promised_in
from bot.memory.ports import FactKeeper, SummaryReader, TurnWindow
from bot.memory.revising import Revising
from bot.memory.summarising import by_rules
from bot.memory.summary import DueSummary, SummaryRule

BACKLOG_BATCH = 32
"""Facts embedded behind one job: about a second of CPU with the built-in model."""

REMEMBERED_SCOPES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Summaries:
    """What keeps the rolling summaries."""

    reader: SummaryReader
    rule: SummaryRule
    window: TurnWindow
    """Dropped when a summary was kept: a cached copy has not got it."""


ProductNames: TypeAlias = Callable[[], Awaitable[Sequence[str]]]


async def no_products() -> Sequence[str]:
    """Of a house without a catalogue."""
    return ()


class Consolidation:
    """Memory's part of the work after a reply."""

    def __init__(
        self,
        *,
        judge: Judge,
        facts: FactKeeper,
        embedder: Embedder | None,
        products: ProductNames = no_products,
        summaries: Summaries | None = None,
        revising: Revising | None = None,
    ) -> None:
        """`products`: the names of the house's goods, which a message may name. `summaries`: None makes none.
        `revising`: None closes and merges nothing."""
        self._revising = revising
        self._judge = judge
        self._products = products
        self._summaries = summaries
        self._facts = facts
        self._embedder = embedder
        self._whole: dict[tuple[AccountId, str, str], None] = {}
        self._asking = asyncio.Lock()
        """Held while a model works for memory: it is shared with people who wait."""

    async def consolidate(
        self, scope: Scope, turn: Turn, *, job: int, is_group: bool, tries: int = 0
    ) -> Judgement:
        """Keep what the person said in a turn that is worth keeping; the job is finished when it returns.

        Only `turn.question`, the person's own words, makes facts about them; of `turn.answer` what the bot promised is
        kept, as that. Repeating it is harmless. `tries`: how often the
        model's answer could not be read; turns that are due are then condensed by rules, as they may be why.

        Raises:
            ModelUnavailable: nobody judged; an outage should spend none of the job's tries. Here and below no fact
                was kept, and the job is open.
            JideError: the model answered nonsense, and asking again may help.
            StoreUnavailable: nothing was kept.
        """
        due = await self._due(scope)
        known = await self._revising.known(scope, turn.question) if self._revising else ()
        try:
            async with self._asking:
                judgement = await self._judge.judge(
                    turn.question, turn.at, is_group=is_group, due=None if tries else due, known=known
                )
            if not judgement.understood:
                raise JideError("模型的判断读不懂，不是约定的格式")
        except JideError:
            await self._keep_named(scope, turn)
            raise
        summary = by_rules(due, is_group=is_group) if due and tries else judgement.summary
        promised = promised_in(turn.answer, turn.at)
        facts = (*await self._revised(scope, turn, judgement, is_group=is_group), *promise_facts(promised))
        vectors = await self._embed([fact.text for fact in facts], judgement.vectors)
        await self._facts.keep(
            scope,
            facts,
            vectors,
            self._model_id() if vectors is not None else "",
            source_turn=turn.id,
            job=job,
            entities=(
                *named_in(turn.question, turn.at, judgement.entities, await self._products()),
                *promised,
            ),
            summary=due.made(summary) if due and summary else None,
        )
        if self._summaries and due and summary:
            await self._summaries.window.drop(scope)
        await self._make_whole(scope, has_vectors=vectors is not None or not facts)
        return judgement

    async def _revised(
        self, scope: Scope, turn: Turn, judgement: Judgement, *, is_group: bool
    ) -> tuple[NewFact, ...]:
        """The facts of the turn beside those held. What the person denied is closed at once: it stays so."""
        if self._revising is None:
            return judgement.facts
        confirmed = await self._revising.confirmed(scope, turn, is_group=is_group)
        revised = await self._revising.revised(scope, turn, judgement.facts, confirmed, is_group=is_group)
        if revised.denied:
            await self._facts.withdraw(scope, revised.denied, turn.at)
        return revised.facts

    async def _due(self, scope: Scope) -> DueSummary | None:
        if self._summaries is None:
            return None
        talk = await self._summaries.reader.open_talk(scope)
        return self._summaries.rule.due(talk) if talk is not None else None

    async def _keep_named(self, scope: Scope, turn: Turn) -> None:
        """What rules find: it needs no model. The next try finds it there."""
        named = (
            *named_in(turn.question, turn.at, products=await self._products()),
            *promised_in(turn.answer, turn.at),
        )
        if named:
            await self._facts.keep(scope, (), None, "", source_turn=turn.id, entities=named)

    async def _make_whole(self, scope: Scope, *, has_vectors: bool) -> None:
        """Embed the backlog of a scope, where it may have one: `has_vectors` False puts something there, and at first
        an earlier process may have left some. What 「记住」 keeps waits for `embed_waiting`."""
        model_id = self._model_id()
        seen = (scope.account, scope.place, model_id)
        if not has_vectors:
            self._whole.pop(seen, None)
        elif model_id and seen not in self._whole:
            await self.embed_backlog(scope)
            self._whole[seen] = None
            if len(self._whole) > REMEMBERED_SCOPES:
                del self._whole[next(iter(self._whole))]

    async def embed_backlog(self, scope: Scope) -> int:
        """Give facts of the scope that have no vector theirs, `BACKLOG_BATCH` at a time; how many got one.

        Covers what was kept without an embedder: 「记住…」, outages. An embedder that is away leaves the rest for the
        next time.
        """
        model_id, done = self._model_id(), set[int]()
        if not model_id:
            return 0
        while waiting := await self._facts.without_vector(scope, model_id, BACKLOG_BATCH):
            ids = [fact.id for fact in waiting]
            vectors = await self._embed([fact.text for fact in waiting])
            # The same ids again: the store took no vector of theirs, nor will it the next time.
            if vectors is None or done.issuperset(ids):
                break
            await self._facts.add_vectors(scope, ids, vectors, model_id)
            done.update(ids)
        return len(done)

    async def embed_waiting(self) -> int:
        """The vector backlog of everybody; how many facts got one."""
        done = 0
        model_id = self._model_id()
        if not model_id:
            return 0
        for scope in await self._facts.scopes_without_vector(BACKLOG_BATCH, model_id):
            done += await self.embed_backlog(scope)
        return done

    def _model_id(self) -> str:
        """Empty while there is no embedder, or a remote one has not said its dimension yet."""
        try:
            return self._embedder.model_id if self._embedder is not None else ""
        except EmbedderUnavailable:
            return ""

    async def _embed(self, texts: Sequence[str], known: Mapping[str, Vector] | None = None) -> Matrix | None:
        """Vectors in the order of the texts; None when there are none to be had. `known`: those that were embedded
        already."""
        if self._embedder is None or not texts:
            return None
        vectors = dict(known or {})
        missing = [text for text in texts if text not in vectors]
        try:
            if missing:
                async with self._asking:
                    vectors.update(zip(missing, await self._embedder.embed_passages(missing), strict=True))
        except EmbedderUnavailable:
            return None
        return np.stack([vectors[text] for text in texts])
