"""Why a question brings the memories it brings: the way of a private message up to its prompt, with all that is weighed.

Invariant: asks the same parts as an answer does and stores nothing; no message is answered by way of it.
"""

import contextlib
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Embedder
from bot.conversation.scope import Scope
from bot.memory.fact import Fact
from bot.memory.ports import TurnWindow
from bot.memory.query import Queries
from bot.memory.recall import Recall
from bot.memory.trace import Trace, Traced
from bot.noting import Looked
from bot.pointing import Pointed, Pointing

MOST_CLOSED = 100
"""Of the newest: what was contradicted years ago explains no answer of today."""


class ClosedFacts(Protocol):
    """What is kept of a scope and competes no more."""

    async def closed_facts(self, scope: Scope, limit: int) -> tuple[Fact, ...]:
        """The newest `limit`, newest first. Raises StoreUnavailable."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """How a question was understood, and what became of every memory."""

    text: str
    pointed: Pointed
    budget_tokens: int
    trace: Trace


class Explaining:
    def __init__(
        self,
        *,
        pointing: Pointing,
        recall: Recall,
        embedder: Embedder | None,
        closed: ClosedFacts,
        window: TurnWindow,
        budget_tokens: int,
    ) -> None:
        self._pointing = pointing
        self._recall = recall
        self._embedder = embedder
        self._queries = Queries(embedder)
        self._closed = closed
        self._window = window
        self._budget_tokens = budget_tokens

    async def warm(self) -> None:
        """Before a question whose vector has a deadline: the first one would miss it."""
        if self._embedder is not None:
            with contextlib.suppress(EmbedderUnavailable):
                await self._embedder.embed_passages(["。"])

    async def explain(self, scope: Scope, text: str, at: datetime) -> Explained:
        """As if the text were said now, at `at`. Raises StoreUnavailable."""
        recent = (await self._window.recent(scope)).turns
        pointed = await self._pointing.read(text, at, scope, recent)
        query = await self._queries.of(pointed.query, pointed.talk)
        looked = Looked(
            scope=scope, query=query, k=pointed.k, window=pointed.window, also_told=pointed.is_of_deeds
        )
        trace = await self.trace(looked)
        return Explained(text=text, pointed=pointed, budget_tokens=self._budget_tokens, trace=trace)

    async def trace(self, looked: Looked) -> Trace:
        """A search that was made, once more with all that is weighed. Raises StoreUnavailable."""
        query = looked.query
        return await self._recall.trace(
            looked.scope,
            query.text,
            looked.k,
            query.vector,
            looked.window,
            query.talk,
            also_told=looked.also_told,
            budget_tokens=self._budget_tokens,
            closed=await self._closed.closed_facts(looked.scope, MOST_CLOSED),
        )


def as_document(explained: Explained) -> dict[str, object]:
    """In JSON's types; times in UTC."""
    pointed, trace = explained.pointed, explained.trace
    window = pointed.window
    return {
        "question": explained.text,
        "query": pointed.query,
        "talk": pointed.talk,
        "k": pointed.k,
        "budget_tokens": explained.budget_tokens,
        "window": [window.start.isoformat(), window.end.isoformat()] if window is not None else None,
        "degraded": trace.degraded,
        "candidates": [_as_json(each) for each in trace.candidates],
    }


def _as_json(traced: Traced) -> dict[str, object]:
    fact = traced.fact
    return {
        "id": fact.id,
        "text": fact.text,
        "kind": fact.kind.value,
        "said_at": fact.said_at.isoformat(timespec="seconds"),
        "rank": traced.rank,
        "score": traced.score,
        "dense": traced.dense,
        "lexical": traced.lexical,
        "exact": traced.exact,
        "form": traced.form,
        "topic": traced.topic,
        "oneself": traced.oneself,
        "importance": fact.importance,
        "age_days": traced.age_days,
        "excluded": traced.excluded.value if traced.excluded is not None else None,
    }
