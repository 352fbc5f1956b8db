"""Turn a turn into memory: judge it, keep its facts with their vectors and what it names, and finish the job.

Invariant: facts, vectors, entities and the finished job are one transaction of the store, so a turn is consolidated
once or not at all; without an embedder the facts are kept all the same and embedded later.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from bot.conversation.errors import EmbedderUnavailable, JideError
from bot.conversation.ports import Embedder, Matrix
from bot.conversation.scope import AccountId, Scope
from bot.conversation.turn import Turn
from bot.memory.judge import Judge, Judgement
from bot.memory.naming import named_in
from bot.memory.ports import FactKeeper

BACKLOG_BATCH = 32
"""Facts embedded behind one job: about a second of CPU with the built-in model."""

REMEMBERED_SCOPES = 10_000

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
    ) -> None:
        """`products`: the names of the house's goods, which a message may name."""
        self._judge = judge
        self._products = products
        self._facts = facts
        self._embedder = embedder
        self._whole: dict[tuple[AccountId, str, str], None] = {}
        self._asking = asyncio.Lock()
        """Held while a model works for memory: it is shared with people who wait."""

    async def consolidate(self, scope: Scope, turn: Turn, *, job: int, is_group: bool) -> Judgement:
        """Keep what the person said in a turn that is worth keeping; the job is finished when it returns.

        Only `turn.question`, the person's own words, is looked at. Repeating it is harmless.

        Raises:
            ModelUnavailable: nobody judged; an outage should spend none of the job's tries. Here and below no fact
                was kept, and the job is open.
            JideError: the model answered nonsense, and asking again may help.
            StoreUnavailable: nothing was kept.
        """
        try:
            async with self._asking:
                judgement = await self._judge.judge(turn.question, turn.at, is_group=is_group)
            if not judgement.understood:
                raise JideError("the model's judgement could not be read")
        except JideError:
            await self._keep_named(scope, turn)
            raise
        vectors = await self._embed([fact.text for fact in judgement.facts])
        await self._facts.keep(
            scope,
            judgement.facts,
            vectors,
            self._model_id() if vectors is not None else "",
            source_turn=turn.id,
            job=job,
            entities=named_in(turn.question, turn.at, judgement.entities, await self._products()),
        )
        await self._make_whole(scope, has_vectors=vectors is not None or not judgement.facts)
        return judgement

    async def _keep_named(self, scope: Scope, turn: Turn) -> None:
        """What rules find: it needs no model. The next try finds it there."""
        named = named_in(turn.question, turn.at, products=await self._products())
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

        Covers what was kept without an embedder: 「记住…」, outages, another model. An embedder that is
        away leaves the rest for the next time.
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
        if not self._model_id():
            return 0
        for scope in await self._facts.scopes_without_vector(BACKLOG_BATCH):
            done += await self.embed_backlog(scope)
        return done

    def _model_id(self) -> str:
        """Empty while there is no embedder, or a remote one has not said its dimension yet."""
        try:
            return self._embedder.model_id if self._embedder is not None else ""
        except EmbedderUnavailable:
            return ""

    async def _embed(self, texts: Sequence[str]) -> Matrix | None:
        """Vectors in the order of the texts; None when there are none to be had."""
        if self._embedder is None or not texts:
            return None
        try:
            async with self._asking:
                return await self._embedder.embed_passages(texts)
        except EmbedderUnavailable:
            return None
