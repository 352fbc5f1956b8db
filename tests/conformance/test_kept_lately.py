"""What a store remembers having kept is what another reads from the file."""

import random
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from bot.memory.fact import MemoryVersion
from bot.memory.ports import FactSheet, VectorSheet
from bot.storage.sql.facts import SqlFacts
from bot.storage.sql.lately import EACH
from identity.model import Account
from tests.memory_stage import DIMENSION, MODEL, Stage, open_stage, vectors_of

STEPS = 40


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    async with open_stage(tmp_path) as opened:
        yield opened


class Chance:
    """Whatever may happen to a person's memories."""

    def __init__(self, stage: Stage, account: Account, seed: int) -> None:
        self._stage = stage
        self._account = account
        self._random = random.Random(seed)
        self._told = 0
        self.ids: list[int] = []

    async def happens(self) -> None:
        self._stage.clock.advance(seconds=self._random.choice((0, 0.4, 30)))
        steps = [self._keep] * 6 + [
            self._keep_bare,
            self._embed,
            self._tell_again,
            self._expiring,
            self._forget,
        ]
        await self._random.choice(steps)()

    def _texts(self) -> list[str]:
        self._told += 3
        return [f"第 {number} 件事" for number in range(self._told, self._told + self._random.randint(1, 3))]

    async def _keep(
        self, *, is_bare: bool = False, days: int | None = None, texts: list[str] | None = None
    ) -> None:
        texts = texts or self._texts()
        ends = None if days is None else self._stage.clock.now() + timedelta(days=days)
        facts = [self._stage.fact(text, expires_at=ends) for text in texts]
        vectors = None if is_bare else vectors_of(texts)
        self.ids += await self._stage.facts.keep(
            self._account.scope(""), facts, vectors, MODEL, source_turn=None
        )

    async def _keep_bare(self) -> None:
        await self._keep(is_bare=True)

    async def _expiring(self) -> None:
        await self._keep(days=1)

    async def _tell_again(self) -> None:
        await self._keep(texts=["第 3 件事", *self._texts()])

    async def _embed(self) -> None:
        scope = self._account.scope("")
        if lacking := await self._stage.facts.without_vector(scope, MODEL, 2):
            vectors = vectors_of([fact.text for fact in lacking])
            await self._stage.facts.add_vectors(scope, [fact.id for fact in lacking], vectors, MODEL)

    async def _forget(self) -> None:
        if self.ids and self._random.random() < 0.3:
            gone = self.ids.pop(self._random.randrange(len(self.ids)))
            await self._stage.facts.forget_facts(self._account.scope(""), [gone])


@pytest.mark.parametrize("seed", range(8))
async def test_as_another_store_reads_it(stage: Stage, seed: int) -> None:
    account = await stage.arrive("a")
    other = await stage.arrive("b")
    scope = account.scope("")
    chance, elsewhere = Chance(stage, account, seed), Chance(stage, other, seed + 100)
    reading = SqlFacts(stage.database, stage.clock)
    marks: list[tuple[MemoryVersion, int, VectorSheet]] = []
    remembered = 0
    for _ in range(STEPS):
        vectors = await reading.vector_sheet(scope, MODEL, DIMENSION)
        marks = [*marks, (vectors.version, max(chance.ids, default=0), vectors)][-EACH - 2 :]
        await chance.happens()
        await elsewhere.happens()
        for version, beyond, sheet in marks:
            newer = await stage.facts.newer_facts(scope, version, beyond)
            _assert_same_facts(newer, await reading.newer_facts(scope, version, beyond))
            added = await stage.facts.newer_vectors(scope, MODEL, DIMENSION, version, sheet.slots)
            read = await reading.newer_vectors(scope, MODEL, DIMENSION, version, sheet.slots)
            _assert_same_vectors(added, read)
            remembered += newer is not None and bool(len(newer.facts))
    assert remembered > STEPS


def _assert_same_facts(newer: FactSheet | None, read: FactSheet | None) -> None:
    assert (newer is None) == (read is None)
    if newer is not None and read is not None:
        assert newer.version == read.version
        assert tuple(newer.facts) == tuple(read.facts)


def _assert_same_vectors(added: VectorSheet | None, read: VectorSheet | None) -> None:
    assert (added is None) == (read is None)
    if added is not None and read is not None:
        assert (added.version, added.slots) == (read.version, read.slots)
        assert added.fact_ids.tolist() == read.fact_ids.tolist()
        np.testing.assert_array_equal(added.matrix, read.matrix)


async def test_nothing_is_read_again_for_who_chats(stage: Stage) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    await stage.remember(account, "我对花生过敏")
    held = await stage.facts.vector_sheet(scope, MODEL, DIMENSION)
    await stage.remember(account, "我穿四十码")
    await stage.database.write(
        lambda connection: connection.execute("UPDATE fact SET text = '改过'").rowcount
    )
    newer = await stage.facts.newer_facts(scope, held.version, 1)
    assert newer is not None and [fact.text for fact in newer.facts] == ["我穿四十码"]
