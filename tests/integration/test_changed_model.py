"""Another embedding model over a folder of memories: served meanwhile, killed and taken up, gone back on, restored."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from bot.container import House
from bot.conversation.errors import VectorsOfAnotherModel
from bot.conversation.scope import Scope
from bot.health import Verdict
from bot.knowledge.passage import NewPassage
from bot.memory.fact import FactKind, NewFact
from bot.settings import Settings
from bot.settings_groups import EmbeddingSettings
from bot.storage.sql.backup import make_backup
from bot.storage.sql.restoring import restore
from simulators.openai import OpenAiServer
from simulators.openai.vectors import vector_of
from tests.integration.living_house import LivingHouse
from tests.memory_stage import traces

OLD, NEW = 64, 48
"""Dimensions of the two models."""
PEOPLE, FACTS, PASSAGES = 12, 10, 20
TEXTS = PEOPLE * FACTS + PASSAGES
LARGEST_BATCH = 64
KILLED_AFTER = 6
PIECE_BYTES = 64
SECRET = "金丝雀七三一九对坚果过敏"

CHILD = """
import asyncio, pathlib, sys
from bot.container import House
from tests.integration.test_changed_model import settings_of

async def main():
    house = House(settings_of(pathlib.Path(sys.argv[1]), sys.argv[2]))
    await house.open()
    await house.models.warm()
    while await house.renewing.step():
        print(house.renewing.facts_done, house.renewing.passages_done, flush=True)
        await asyncio.sleep(0.02)

asyncio.run(main())
"""


def settings_of(folder: Path, base_url: str) -> Settings:
    embedding = EmbeddingSettings(base_url=base_url, model="hashed", deadline_seconds=10)
    return Settings(jide_data_dir=folder, embedding=embedding)


@asynccontextmanager
async def opened(folder: Path, model: OpenAiServer) -> AsyncGenerator[LivingHouse]:
    living = LivingHouse(settings_of(folder, model.base_url), model)
    await living.house.open()
    try:
        await living.house.models.warm()
        yield living
    finally:
        await living.house.close()


@pytest.fixture
async def old() -> AsyncGenerator[OpenAiServer]:
    async with OpenAiServer(dimension=OLD) as server:
        yield server


@pytest.fixture
async def new() -> AsyncGenerator[OpenAiServer]:
    async with OpenAiServer(dimension=NEW) as server:
        yield server


def text_of(person: int, number: int) -> str:
    return (
        SECRET
        if (person, number) == (3, 5)
        else f"第{person}位客人的第{number}件事是喜欢第{person * 31 + number}号茶"
    )


async def furnish(living: LivingHouse) -> None:
    """People with memories, and a document, all with vectors of the house's model."""
    house = living.house
    embedder = house.models.embedder
    assert embedder is not None
    await living.greet(*(f"p{person}" for person in range(PEOPLE)))
    for person in range(PEOPLE):
        texts = [text_of(person, number) for number in range(FACTS)]
        facts = [
            NewFact(kind=FactKind.PREFERENCE, text=text, importance=0.5, said_at=living.clock.now())
            for text in texts
        ]
        await house.stores.facts.keep(
            (await living.account(f"p{person}")).scope(""),
            facts,
            await embedder.embed_passages(texts),
            embedder.model_id,
            source_turn=None,
        )
    passages = [NewPassage(heading="", text=f"第{number}条规定是这样写的") for number in range(PASSAGES)]
    matrix = await embedder.embed_passages([each.text for each in passages])
    await house.stores.passages.replace_document("规定", "1", passages, matrix, embedder.model_id)


async def scopes(living: LivingHouse) -> list[Scope]:
    return [(await living.account(f"p{person}")).scope("") for person in range(PEOPLE)]


async def dense(living: LivingHouse, scope: Scope) -> bool:
    """Whether a question to the scope is compared with its vectors; at the very distances of the house's model."""
    house = living.house
    embedder = house.models.embedder
    assert embedder is not None
    try:
        sheet = await house.stores.facts.vector_sheet(scope, embedder.model_id, embedder.dimension)
    except VectorsOfAnotherModel:
        return False
    by_id = {fact.id: fact.text for fact in await house.stores.facts.held_facts(scope)}
    wanted = [vector_of(by_id[each], embedder.dimension) for each in sheet.fact_ids.tolist()]
    np.testing.assert_allclose(sheet.matrix, np.array(wanted, np.float32), atol=1e-6)
    return True


def embedded(model: OpenAiServer) -> int:
    return sum(len(each.body["input"]) for each in model.requests if each.path == "/v1/embeddings")


async def finish(house: House) -> None:
    while await house.renewing.step():
        pass


async def killed_midway(folder: Path, model: OpenAiServer) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CHILD, str(folder), model.base_url, stdout=asyncio.subprocess.PIPE
    )
    assert child.stdout is not None
    for _ in range(KILLED_AFTER):
        assert await child.stdout.readline()
    os.kill(child.pid, signal.SIGKILL)
    await child.wait()


async def test_a_change_that_is_killed_goes_on_where_it_stopped(
    tmp_path: Path, old: OpenAiServer, new: OpenAiServer
) -> None:
    async with opened(tmp_path, old) as living:
        await furnish(living)
    await killed_midway(tmp_path, new)
    async with opened(tmp_path, new) as living:
        house = living.house
        states = [await dense(living, scope) for scope in await scopes(living)]
        assert any(states) and not all(states), "each scope is wholly of one model"
        progress = await house.renewing.progress()
        assert progress is not None and progress.renewal.is_begun and progress.renewal.left > 0

        report = (await house.watch.memory())["reembedding"]
        assert isinstance(report, dict) and report["facts_left"] == progress.renewal.facts_left
        finding = (await house.watch.readiness()).findings["vectors"]
        assert finding.verdict is Verdict.DEGRADED and "重做向量" in finding.detail
        assert await living.say("你们有第5条规定吗", by="p11"), "answers go on"

        (told,) = await keep_one(living, "p11", "换模型时说的话")
        forgotten = await forget_everywhere(living, [text_of(11, 2), SECRET])
        assert forgotten == 2
        await finish(house)

        assert all([await dense(living, scope) for scope in await scopes(living)])
        sheet = await house.stores.facts.vector_sheet((await scopes(living))[11], "openai:hashed:48", NEW)
        assert told in sheet.fact_ids.tolist() and len(sheet.fact_ids) == FACTS
        assert await house.renewing.progress() is None
        assert (await house.watch.readiness()).findings["vectors"].verdict is Verdict.OK
        passages = await house.stores.passages.passage_sheet("openai:hashed:48", NEW)
        assert len(passages.embedded_ids) == PASSAGES
        assert embedded(new) < TEXTS + LARGEST_BATCH + 10, "what was committed is not made again"
        assert not any(found(living, text_of(person, 1), OLD) for person in range(PEOPLE))
        assert not found(living, SECRET, OLD) and not found(living, SECRET, NEW)
        assert traces(tmp_path, SECRET) == set()
    assert found(living, text_of(0, 0), NEW) != set(), "the scan finds what is there"


def found(living: LivingHouse, text: str, dimension: int) -> set[int]:
    """Where pieces of the text's vector begin that are in some file. Long ones: other texts share a number or two."""
    numbers = np.array(vector_of(text, dimension), "<f4").tobytes()
    files = [path.read_bytes() for path in living.house.settings.data_folder.rglob("*") if path.is_file()]
    starts = range(0, len(numbers) - PIECE_BYTES + 1, PIECE_BYTES)
    return {at for at in starts if any(numbers[at : at + PIECE_BYTES] in each for each in files)}


async def keep_one(living: LivingHouse, name: str, text: str) -> tuple[int, ...]:
    embedder = living.house.models.embedder
    assert embedder is not None
    fact = NewFact(kind=FactKind.PREFERENCE, text=text, importance=0.5, said_at=living.clock.now())
    return await living.house.stores.facts.keep(
        (await living.account(name)).scope(""),
        [fact],
        await embedder.embed_passages([text]),
        embedder.model_id,
        source_turn=None,
    )


async def forget_everywhere(living: LivingHouse, texts: Sequence[str]) -> int:
    facts, done = living.house.stores.facts, 0
    for scope in await scopes(living):
        ids = [fact.id for fact in await facts.held_facts(scope) if fact.text in texts]
        if ids:
            done += (await facts.forget_facts(scope, ids)).facts
    return done


async def test_who_writes_comes_first(tmp_path: Path, old: OpenAiServer, new: OpenAiServer) -> None:
    async with opened(tmp_path, old) as living:
        await furnish(living)
    async with opened(tmp_path, new) as living:
        while (await living.house.stores.passages.passage_sheet("openai:hashed:48", NEW)).matrix.size == 0:
            await living.house.renewing.step()
        before = living.house.metrics.registry.get_sample_value("jide_degraded_recalls_total")
        assert await living.say("我喜欢几号茶？", by="p9")
        after = living.house.metrics.registry.get_sample_value("jide_degraded_recalls_total")
        assert before is not None and after is not None and after > before, "said to be by words alone"
        for _ in range(4):
            if not await dense(living, (await scopes(living))[9]):
                await living.house.renewing.step()
        states = [await dense(living, scope) for scope in await scopes(living)]
        assert states[9] and sum(states) <= 2


async def test_going_back_costs_nothing_and_leaves_nothing(
    tmp_path: Path, old: OpenAiServer, new: OpenAiServer
) -> None:
    async with opened(tmp_path, old) as living:
        await furnish(living)
    async with opened(tmp_path, new) as living:
        for _ in range(2):
            await living.house.renewing.step()
        (told,) = await keep_one(living, "p1", "换模型时说的话")
    old.requests.clear()
    async with opened(tmp_path, old) as living:
        assert all([await dense(living, scope) for scope in await scopes(living)])
        warmed = embedded(old)
        await finish(living.house)
        await living.house.worker.work_off()
        assert embedded(old) - warmed == 1, "of what was told meanwhile alone"
        sheet = await living.house.stores.facts.vector_sheet(
            (await scopes(living))[1], "openai:hashed:64", OLD
        )
        assert told in sheet.fact_ids.tolist()
        assert await living.house.renewing.progress() is None
        assert found(living, "换模型时说的话", NEW) == set()
        passages = await living.house.stores.passages.passage_sheet("openai:hashed:64", OLD)
        assert len(passages.embedded_ids) == PASSAGES


async def test_a_backup_of_the_old_model_is_restored(
    tmp_path: Path, old: OpenAiServer, new: OpenAiServer
) -> None:
    folder, archive = tmp_path / "数据", tmp_path / "旧的备份"
    async with opened(folder, old) as living:
        await furnish(living)
        await asyncio.to_thread(make_backup, folder, archive, living.clock.now())
    async with opened(folder, new) as living:
        await finish(living.house)
        assert await forget_everywhere(living, [SECRET]) == 1
        ledger, now = living.house.stores.forgotten, living.clock.now()
    await asyncio.to_thread(restore, archive, folder, ledger, now)
    async with opened(folder, new) as living:
        assert not any([await dense(living, scope) for scope in await scopes(living)])
        await finish(living.house)
        assert all([await dense(living, scope) for scope in await scopes(living)])
        texts = [
            fact.text
            for scope in await scopes(living)
            for fact in await living.house.stores.facts.held_facts(scope)
        ]
        assert len(texts) == PEOPLE * FACTS - 1 and SECRET not in texts
