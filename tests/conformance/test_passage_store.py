"""What every PassageStore keeps to."""

from collections.abc import AsyncGenerator
from pathlib import Path

import numpy as np
import pytest

from bot.conversation.errors import EmbedderUnavailable
from bot.knowledge.passage import NewPassage
from bot.knowledge.ports import PassageTokens, StoredDocument
from bot.storage.sql.database import Database
from bot.storage.sql.passages import SqlPassages
from tests.memory_stage import DIMENSION, MODEL, HandClock, vectors_of


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqlPassages]:
    database = Database(tmp_path / "jide.db")
    await database.open()
    try:
        yield SqlPassages(database, HandClock())
    finally:
        await database.close()


def passages(*texts: str) -> list[NewPassage]:
    return [NewPassage(heading="手册 › 退货", text=text) for text in texts]


async def test_nothing_is_stored_at_first(store: SqlPassages) -> None:
    assert await store.knowledge_version() == 0
    assert await store.find_document("手册.md") is None
    sheet = await store.passage_sheet(MODEL, DIMENSION)
    assert (sheet.passages, sheet.matrix.shape) == ((), (0, DIMENSION))


async def test_a_document_comes_back_whole(store: SqlPassages) -> None:
    texts = ["七天内可退", "运费自理"]
    await store.replace_document("手册.md", "d1", passages(*texts), vectors_of(texts), MODEL)
    sheet = await store.passage_sheet(MODEL, DIMENSION)
    assert [(each.document, each.heading, each.text) for each in sheet.passages] == [
        ("手册.md", "手册 › 退货", text) for text in texts
    ]
    assert sheet.embedded_ids.tolist() == [each.id for each in sheet.passages]
    np.testing.assert_array_equal(sheet.matrix, vectors_of(texts))
    assert sheet.version == await store.knowledge_version() == 1
    assert await store.find_document("手册.md") == StoredDocument(digest="d1", app_id="")


async def test_a_document_replaces_the_one_of_its_name_alone(store: SqlPassages) -> None:
    await store.replace_document("a", "d1", passages("旧一", "旧二"), vectors_of(["旧一", "旧二"]), MODEL)
    await store.replace_document("b", "d2", passages("另一份"), vectors_of(["另一份"]), MODEL)
    await store.replace_document("a", "d3", passages("新"), vectors_of(["新"]), MODEL)
    sheet = await store.passage_sheet(MODEL, DIMENSION)
    assert [(each.document, each.text) for each in sheet.passages] == [("b", "另一份"), ("a", "新")]
    assert await store.find_document("a") == StoredDocument(digest="d3", app_id="")
    assert await store.knowledge_version() == 3


async def test_without_vectors_words_alone_find(store: SqlPassages) -> None:
    await store.replace_document("a", "d1", passages("一"), vectors_of(["一"]), MODEL)
    await store.replace_document("b", "d2", passages("二"), None, MODEL)
    sheet = await store.passage_sheet(MODEL, DIMENSION)
    assert len(sheet.passages) == 2
    assert sheet.embedded_ids.tolist() == [sheet.passages[0].id]


@pytest.mark.parametrize(("model", "dimension"), [("model-b", DIMENSION), (MODEL, 4), ("", 0), (MODEL, 0)])
async def test_vectors_of_another_model_are_left_out(store: SqlPassages, model: str, dimension: int) -> None:
    await store.replace_document("a", "d1", passages("一"), vectors_of(["一"]), MODEL)
    sheet = await store.passage_sheet(model, dimension)
    assert len(sheet.passages) == 1
    assert sheet.matrix.shape == (0, dimension)


@pytest.mark.parametrize(
    "vectors",
    [
        np.empty((1, 0), dtype=np.float32),
        np.ones((2, DIMENSION), dtype=np.float32),
        np.full((1, DIMENSION), np.nan, dtype=np.float32),
    ],
    ids=["no dimension", "too many", "nan"],
)
async def test_unusable_vectors_leave_the_old_document(store: SqlPassages, vectors: np.ndarray) -> None:
    await store.replace_document("a", "d1", passages("旧"), None, MODEL)
    with pytest.raises(EmbedderUnavailable):
        await store.replace_document("a", "d2", passages("新"), vectors, MODEL)
    assert await store.find_document("a") == StoredDocument(digest="d1", app_id="")


async def test_a_document_may_be_empty(store: SqlPassages) -> None:
    await store.replace_document("a", "d1", passages("旧"), None, MODEL)
    await store.replace_document("a", "d2", [], None, MODEL)
    assert (await store.passage_sheet(MODEL, DIMENSION)).passages == ()


async def test_a_document_of_one_account_says_so(store):
    await store.replace_document("a", "d1", passages("一"), None, MODEL, "wx1")
    await store.replace_document("b", "d2", passages("二"), None, MODEL)
    sheet = await store.passage_sheet(MODEL, DIMENSION)
    assert [(each.document, each.app_id) for each in sheet.passages] == [("a", "wx1"), ("b", "")]
    assert await store.find_document("a") == StoredDocument(digest="d1", app_id="wx1")


def tokens_of(*lengths: int) -> PassageTokens:
    matrices = [np.full((length, 3), length - 5, np.int8) for length in lengths]
    return PassageTokens(model_id="tokens", matrices=matrices)


async def test_tokens_come_back_with_their_passage(store: SqlPassages) -> None:
    await store.replace_document("a", "d1", passages("一"), None, MODEL)
    await store.replace_document("b", "d2", passages("二", "三"), None, MODEL, tokens=tokens_of(2, 7))
    ids = [each.id for each in (await store.passage_sheet(MODEL, DIMENSION)).passages]
    stored = await store.passage_tokens(ids, "tokens")
    assert sorted(stored) == ids[1:]
    np.testing.assert_array_equal(stored[ids[1]], np.full((2, 3), -3, np.int8))
    np.testing.assert_array_equal(stored[ids[2]], np.full((7, 3), 2, np.int8))
    assert list(await store.passage_tokens(ids[2:], "tokens")) == ids[2:]
    assert await store.passage_tokens(ids, "other") == {}


async def test_tokens_go_with_their_document(store: SqlPassages) -> None:
    await store.replace_document("a", "d1", passages("一"), None, MODEL, tokens=tokens_of(2))
    ids = [each.id for each in (await store.passage_sheet(MODEL, DIMENSION)).passages]
    await store.replace_document("a", "d2", passages("新"), None, MODEL)
    ids += [each.id for each in (await store.passage_sheet(MODEL, DIMENSION)).passages]
    assert await store.passage_tokens(ids, "tokens") == {}
