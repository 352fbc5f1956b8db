"""Facts, stores and models that fit in a test's head, for the tests of recall, judgement and answering."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import ChatLine, Matrix, Vector
from bot.conversation.scope import AccountId, PersonId, Scope
from bot.memory.entities import SeenEntity
from bot.memory.fact import Fact, FactKind, ForgetReceipt, MemoryVersion, NewFact
from bot.memory.ports import FactSheet, Nearest
from bot.memory.statements import sort_of
from bot.memory.summary import NewSummary

NOW = datetime(2026, 11, 29, 4, 0, tzinfo=UTC)
SCOPE = Scope(person=PersonId(1), account=AccountId(1), epoch=0)


def make_fact(
    fact_id: int, text: str, *, kind: FactKind | None = None, importance: float = 0.5, days_ago: float = 0
) -> Fact:
    """A stored fact; its kind by its words where none is given."""
    sort = sort_of(text)
    return Fact(
        id=fact_id,
        kind=kind or (sort[0] if sort else FactKind.EVENT),
        text=text,
        importance=importance,
        said_at=NOW - timedelta(days=days_ago),
        channel="wechat",
    )


class FixedClock:
    def __init__(self) -> None:
        self.time = NOW

    def now(self) -> datetime:
        return self.time


class FactsInMemory:
    """A `FactStore` over lists, one for each (person, place)."""

    def __init__(self, *texts: str) -> None:
        self.held: dict[tuple[PersonId, str], list[Fact]] = {}
        self.versions: dict[tuple[PersonId, str], int] = {}
        self.vectors: dict[int, str] = {}
        self.finished: list[int] = []
        self.kept_with: list[tuple[bool, str]] = []
        self.kept: list[NewFact] = []
        self.named: list[SeenEntity] = []
        self.summaries: list[NewSummary] = []
        self.sheets = 0
        self.versions_read = 0
        self.refuses_vectors = False
        if texts:
            self.hold(SCOPE, *texts)

    def hold(self, scope: Scope, *facts: str | Fact) -> None:
        known = self.held.setdefault((scope.person, scope.place), [])
        count = sum(map(len, self.held.values()))
        for number, fact in enumerate(facts, count + 1):
            known.append(make_fact(number, fact) if isinstance(fact, str) else fact)
        self.touch(scope)

    def touch(self, scope: Scope) -> None:
        key = (scope.person, scope.place)
        self.versions[key] = self.versions.get(key, 0) + 1

    def texts(self, scope: Scope = SCOPE) -> list[str]:
        return [fact.text for fact in self.held.get((scope.person, scope.place), [])]

    def _version(self, scope: Scope) -> MemoryVersion:
        return MemoryVersion(epoch=0, shelves=((1, self.versions.get((scope.person, scope.place), 0)),))

    async def version(self, scope: Scope) -> MemoryVersion:
        self.versions_read += 1
        return self._version(scope)

    async def newer_facts(self, scope: Scope, version: MemoryVersion, beyond: int) -> FactSheet | None:
        """Its versions don't tell adding from other changes."""
        self.versions_read += 1
        return FactSheet(version=version, facts=()) if self._version(scope) == version else None

    async def fact_sheet(self, scope: Scope) -> FactSheet:
        self.sheets += 1
        return FactSheet(
            version=self._version(scope), facts=tuple(self.held.get((scope.person, scope.place), ()))
        )

    async def keep(
        self,
        scope: Scope,
        facts: Sequence[NewFact],
        vectors: Matrix | None,
        model_id: str,
        *,
        source_turn: int | None,
        job: int | None = None,
        entities: Sequence[SeenEntity] = (),
        summary: NewSummary | None = None,
    ) -> tuple[int, ...]:
        self.named += entities
        self.summaries += [summary] if summary else []
        self.kept_with.append((vectors is not None, model_id))
        self.kept += facts
        known = self.held.setdefault((scope.person, scope.place), [])
        ids: list[int] = []
        for new in facts:
            ids.append(len(known) + 1)
            known.append(
                Fact(
                    id=ids[-1],
                    kind=new.kind,
                    text=new.text,
                    importance=new.importance,
                    said_at=new.said_at,
                    channel="wechat",
                )
            )
            if vectors is not None:
                self.vectors[ids[-1]] = model_id
        if job is not None:
            self.finished.append(job)
        self.touch(scope)
        return tuple(ids)

    async def withdraw(self, scope: Scope, fact_ids: Sequence[int], at: datetime) -> int:
        return (await self.forget_facts(scope, fact_ids)).facts

    async def without_vector(self, scope: Scope, model_id: str, limit: int) -> tuple[Fact, ...]:
        known = self.held.get((scope.person, scope.place), [])
        return tuple(fact for fact in known if self.vectors.get(fact.id) != model_id)[:limit]

    async def scopes_without_vector(self, limit: int, model_id: str) -> tuple[Scope, ...]:
        lacking = [
            place for place, facts in self.held.items() if any(fact.id not in self.vectors for fact in facts)
        ]
        return tuple(replace(SCOPE, person=person, place=place) for person, place in lacking)[:limit]

    async def add_vectors(
        self, scope: Scope, fact_ids: Sequence[int], vectors: Matrix, model_id: str
    ) -> None:
        assert len(vectors) == len(fact_ids)
        if not self.refuses_vectors:
            self.vectors.update(dict.fromkeys(fact_ids, model_id))

    async def held_facts(self, scope: Scope) -> tuple[Fact, ...]:
        return tuple(self.held.get((scope.person, scope.place), ()))

    async def forget_facts(
        self,
        scope: Scope,
        fact_ids: Sequence[int],
        words: Sequence[str] = (),
        *,
        turns: Sequence[int] = (),
        asked_in: str = "",
    ) -> ForgetReceipt:
        known = self.held.get((scope.person, scope.place), [])
        left = [fact for fact in known if fact.id not in fact_ids]
        self.held[scope.person, scope.place] = left
        return ForgetReceipt(facts=len(known) - len(left))


class NearnessByHand:
    """A `VectorIndex` whose inner products a test writes down by fact id; the query doesn't matter."""

    def __init__(self, nearness: dict[int, float]) -> None:
        self.nearness = nearness

    async def search(
        self, scope: Scope, query: Vector, k: int, among: NDArray[np.int64] | None = None
    ) -> Nearest:
        competing = self.nearness if among is None else self.nearness.keys() & set(among.tolist())
        best = sorted(competing, key=lambda each: -self.nearness[each])[:k]
        return Nearest(np.array(best, np.int64), np.array([self.nearness[each] for each in best], np.float32))


class CountingEmbedder:
    """An `Embedder` of unit vectors; away when told so."""

    model_id = "count-1"
    dimension = 4

    def __init__(self) -> None:
        self.is_away = False
        self.batches: list[list[str]] = []

    async def embed_query(self, text: str) -> Vector:
        return (await self.embed_passages([text]))[0]

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if self.is_away:
            raise EmbedderUnavailable("away")
        self.batches.append(list(texts))
        rows = np.array([[len(text), 1, 0, 0] for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class ScriptedModel:
    """A `ChatModel` that says what it is given, or raises it, and notes what it was asked."""

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[ChatLine, ...]] = []

    async def complete(
        self,
        lines: Sequence[ChatLine],
        on_text: Callable[[str], None] | None = None,
        schema: Mapping[str, object] | None = None,
    ) -> str:
        self.asked.append(tuple(lines))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if on_text is not None:
            on_text(answer)
        return answer

    @property
    def prompt(self) -> str:
        return "\n".join(line.text for line in self.asked[-1])
