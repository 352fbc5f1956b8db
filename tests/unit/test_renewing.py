"""Changing the model beside the story: answers first, in small batches, by words meanwhile."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bot import probes
from bot.conversation.errors import StoreUnavailable, VectorsOfAnotherModel
from bot.conversation.ports import Matrix, Vector
from bot.conversation.scope import Scope
from bot.health import Verdict
from bot.memory.fact import Fact
from bot.memory.ports import Nearest
from bot.memory.recall import Recall
from bot.metrics import Metrics
from bot.pacing import Pace
from bot.renewal import Kind, Progress, Renewal
from bot.renewing import FIRST_BATCH, LARGEST_BATCH, Renewing
from tests.memory_fakes import SCOPE, CountingEmbedder, FactsInMemory, FixedClock, make_fact
from tests.story_fakes import HANG_SECONDS, settle

QUERY = np.array([1, 0], np.float32)


@dataclass
class Waiting:
    """The vectors of one person with many facts. `away`: how often the store doesn't answer."""

    left: list[Fact]
    away: int = 0
    asked: list[int] = field(default_factory=list)
    has_changed: bool = False

    async def begin(self, kind: Kind) -> None:
        pass

    async def renewal(self, kind: Kind) -> Renewal | None:
        if self.has_changed:
            return None
        return Renewal(
            old_models=("old",),
            facts_done=0,
            facts_left=len(self.left),
            passages_done=0,
            passages_left=0,
            is_begun=True,
        )

    async def stale_scopes(self, kind: Kind, beyond: int, limit: int) -> tuple[tuple[int, Scope], ...]:
        return () if self.has_changed or beyond else ((1, SCOPE),)

    async def facts_to_renew(
        self, scope: Scope, kind: Kind, limit: int, but_for: Collection[int]
    ) -> tuple[Scope, tuple[Fact, ...]]:
        if self.away:
            self.away -= 1
            raise StoreUnavailable("away")
        self.asked.append(limit)
        return scope, tuple(self.left[:limit])

    async def add_vectors(
        self, scope: Scope, fact_ids: Sequence[int], vectors: Matrix, model_id: str
    ) -> None:
        self.left = [fact for fact in self.left if fact.id not in fact_ids]

    async def change_over(self, scope: Scope, kind: Kind, but_for: Collection[int]) -> bool:
        self.has_changed = not self.left
        return self.has_changed

    async def passages_to_renew(self, kind: Kind, beyond: int, limit: int) -> tuple[()]:
        return ()

    async def add_passage_vectors(self, ids: Sequence[int], vectors: Matrix, kind: Kind) -> None:
        raise AssertionError("there are none")

    async def change_over_passages(self, kind: Kind, but_for: Collection[int]) -> bool:
        return False

    async def finish(self, kind: Kind) -> None:
        pass


class BusyPace(Pace):
    """Somebody is always being answered."""

    async def quiet(self, patience_seconds: float) -> bool:
        return False


def make(waiting: Waiting, pace: Pace | None = None, seconds_each: float = 0.0, **more: Any) -> Renewing:
    times = iter(np.arange(0, 10_000) * seconds_each)
    return Renewing(
        vectors=waiting,
        facts=waiting,
        embedder=more.get("embedder", CountingEmbedder()),
        pace=pace or Pace(),
        metrics=Metrics(),
        monotonic=lambda: float(next(times)),
    )


def many(count: int) -> Waiting:
    return Waiting([make_fact(number, f"第 {number} 件事") for number in range(1, count + 1)])


async def test_batches_grow_with_a_quick_model_and_stay_bounded() -> None:
    waiting = many(500)
    renewing = make(waiting)
    while await renewing.step():
        pass
    assert waiting.asked[0] == FIRST_BATCH and max(waiting.asked) == LARGEST_BATCH
    assert waiting.has_changed


async def test_batches_shrink_with_a_slow_one() -> None:
    waiting = many(40)
    renewing = make(waiting, seconds_each=10.0)
    while await renewing.step():
        pass
    assert waiting.asked[0] == FIRST_BATCH and waiting.asked[-1] == 1


@pytest.mark.parametrize(("seconds_each", "largest"), [(0.16, 1), (0.0, LARGEST_BATCH)])
async def test_while_people_are_answered_batches_of_a_slow_model_are_small(
    seconds_each: float, largest: int
) -> None:
    waiting = many(200)
    renewing = make(waiting, BusyPace(), seconds_each)
    while await renewing.step():
        pass
    assert max(waiting.asked[2:]) == largest and waiting.has_changed


async def test_a_step_waits_for_the_message_in_work() -> None:
    waiting, pace = many(3), Pace()
    place = pace.place()
    await place.take()
    step = asyncio.create_task(make(waiting, pace).step())
    await settle()
    assert waiting.asked == []
    place.leave()
    async with asyncio.timeout(HANG_SECONDS):
        assert await step
    assert waiting.asked == [FIRST_BATCH]


async def test_an_outage_stops_it_until_it_is_woken() -> None:
    waiting = many(3)
    waiting.away = 1
    renewing = make(waiting)
    running = asyncio.create_task(renewing.run())
    await settle()
    assert not waiting.has_changed and waiting.away == 0
    renewing.wake()
    await settle()
    assert waiting.has_changed
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_the_operator_is_told_how_far_it_is() -> None:
    finding = await probes.vectors(make(many(1234)))()
    assert finding.verdict is Verdict.DEGRADED
    assert "剩记忆 1234 条" in finding.detail and "先按关键词回忆" in finding.detail
    done = many(0)
    done.has_changed = True
    assert (await probes.vectors(make(done))()).verdict is Verdict.OK


@pytest.mark.parametrize(
    ("per_second", "said"), [(2.0, "约剩 50 秒"), (0.1, "约剩 17 分钟"), (0.01, "约剩 2.8 小时"), (0.0, "0%")]
)
def test_the_rest_is_told_in_units_of_its_size(per_second: float, said: str) -> None:
    renewal = Renewal(
        old_models=("a",), facts_done=0, facts_left=90, passages_done=0, passages_left=10, is_begun=False
    )
    assert said in Progress(model="b", renewal=renewal, per_second=per_second).text


class OtherModel:
    """A `VectorIndex` over vectors that were made by another model."""

    async def search(
        self, scope: Scope, query: Vector, k: int, among: NDArray[np.int64] | None = None
    ) -> Nearest:
        raise VectorsOfAnotherModel("another")


async def test_memories_of_another_model_are_recalled_by_words_and_it_says_so() -> None:
    told: list[Scope] = []
    facts = FactsInMemory("我穿 M 码", "我对花生过敏")
    recall = Recall(facts=facts, index=OtherModel(), clock=FixedClock(), on_other_model=told.append)
    recalled = await recall.recall(SCOPE, "花生能吃吗", 5, QUERY)
    assert recalled.degraded and recalled.facts[0].fact.text == "我对花生过敏"
    assert recalled.facts[0].dense is None
    assert told == [SCOPE]
