"""Ingest: what is read, what is skipped, and what happens when no embedder answers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bot.conversation.errors import EmbedderUnavailable, RejectedInput
from bot.conversation.ports import Matrix
from bot.knowledge.ingest import Ingest
from bot.knowledge.passage import NewPassage
from bot.knowledge.ports import PassageTokens, StoredDocument, TokenMatrix


class Shelf:
    """The part of `PassageStore` that ingest calls."""

    def __init__(self) -> None:
        self.digests: dict[str, str] = {}
        self.owners: dict[str, str] = {}
        self.passages: dict[str, list[NewPassage]] = {}
        self.vectors: dict[str, Matrix | None] = {}
        self.models: dict[str, str] = {}
        self.tokens: dict[str, PassageTokens | None] = {}

    async def find_document(self, name: str) -> StoredDocument | None:
        if name not in self.digests:
            return None
        return StoredDocument(digest=self.digests[name], app_id=self.owners[name])

    async def replace_document(
        self,
        name: str,
        digest: str,
        passages: Sequence[NewPassage],
        vectors: Matrix | None,
        model_id: str,
        app_id: str = "",
        tokens: PassageTokens | None = None,
    ) -> None:
        self.tokens[name] = tokens
        self.digests[name] = digest
        self.owners[name] = app_id
        self.passages[name] = list(passages)
        self.vectors[name] = vectors
        self.models[name] = model_id


class CountingEmbedder:
    """Vectors of one number, and a switch to be away."""

    def __init__(self, model_id: str = "m1") -> None:
        self.model_id = model_id
        self.dimension = 1
        self.is_away = False
        self.texts: list[str] = []
        self.batches: list[int] = []

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if self.is_away:
            raise EmbedderUnavailable
        self.texts.extend(texts)
        self.batches.append(len(texts))
        return np.ones((len(texts), 1), np.float32)


class CountingTokens:
    """As many tokens as a text has characters, and a switch to be away."""

    def __init__(self, model_id: str = "t1") -> None:
        self.model_id = model_id
        self.is_away = False

    async def embed_passages(self, texts: Sequence[str]) -> list[TokenMatrix]:
        if self.is_away:
            raise EmbedderUnavailable
        return [np.ones((len(text), 2), np.int8) for text in texts]


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose name has Chinese and a space, as an operator's may."""
    folder = tmp_path / "我的 文档"
    (folder / "售后").mkdir(parents=True)
    (folder / "手册.md").write_text("# 手册\n七天内可退。", "utf-8")
    (folder / "售后" / "发票.TXT").write_text("电子发票三十天内开。", "gb18030")
    (folder / "图.png").write_bytes(b"\x89PNG")
    (folder / ".草稿.md").write_text("草稿", "utf-8")
    return folder


def ingest(shelf: Shelf, embedder: CountingEmbedder | None, tokens: CountingTokens | None = None) -> Ingest:
    return Ingest(shelf, embedder, tokens)  # pyright: ignore[reportArgumentType]


async def test_a_folder_is_read_with_its_folders(
    shelf: Shelf, embedder: CountingEmbedder, folder: Path
) -> None:
    report = await ingest(shelf, embedder).ingest(folder)
    assert (report.documents, report.passages, report.skipped) == (2, 2, 0)
    assert shelf.passages == {
        "我的 文档/手册.md": [NewPassage(heading="手册", text="七天内可退。")],
        "我的 文档/售后/发票.TXT": [NewPassage(heading="", text="电子发票三十天内开。")],
    }


async def test_headings_are_embedded_with_their_passage(
    shelf: Shelf, embedder: CountingEmbedder, folder: Path
) -> None:
    await ingest(shelf, embedder).ingest(folder / "手册.md")
    assert embedder.texts == ["手册\n七天内可退。"]


async def test_a_file_has_the_name_it_has_in_its_folder(
    shelf: Shelf, embedder: CountingEmbedder, folder: Path
) -> None:
    await ingest(shelf, embedder).ingest(folder / "手册.md")
    report = await ingest(shelf, embedder).ingest(folder)
    assert report.skipped == 1
    assert len(shelf.passages) == 2


async def test_unchanged_documents_are_skipped_and_changed_ones_replaced(
    shelf: Shelf, embedder: CountingEmbedder, folder: Path
) -> None:
    await ingest(shelf, embedder).ingest(folder)
    (folder / "手册.md").write_text("# 手册\n十五天内可退。", "utf-8")
    report = await ingest(shelf, embedder).ingest(folder)
    assert (report.documents, report.skipped) == (1, 1)
    assert shelf.passages["我的 文档/手册.md"][0].text == "十五天内可退。"


async def test_the_tokens_of_each_passage_with_its_headings_are_stored(
    shelf: Shelf, embedder: CountingEmbedder, folder: Path
) -> None:
    await ingest(shelf, embedder, CountingTokens()).ingest(folder)
    tokens = shelf.tokens["我的 文档/手册.md"]
    assert tokens is not None
    assert tokens.model_id == "t1"
    assert [len(matrix) for matrix in tokens.matrices] == [len("手册\n七天内可退。")]


async def test_documents_without_these_tokens_are_stored_anew(
    shelf: Shelf, embedder: CountingEmbedder, folder: Path
) -> None:
    await ingest(shelf, embedder).ingest(folder)
    assert (await ingest(shelf, embedder, CountingTokens()).ingest(folder)).documents == 2
    assert (await ingest(shelf, embedder, CountingTokens()).ingest(folder)).skipped == 2
    assert (await ingest(shelf, embedder, CountingTokens("t2")).ingest(folder)).documents == 2


async def test_tokens_that_cannot_be_made_are_made_the_next_time(
    shelf: Shelf, embedder: CountingEmbedder, folder: Path
) -> None:
    tokens = CountingTokens()
    tokens.is_away = True
    report = await ingest(shelf, embedder, tokens).ingest(folder)
    assert (report.documents, report.without_vectors) == (2, 2)
    tokens.is_away = False
    assert (await ingest(shelf, embedder, tokens).ingest(folder)).documents == 2
    assert None not in shelf.tokens.values()


async def test_an_embedder_that_is_away_costs_the_vectors_only(
    shelf: Shelf, embedder: CountingEmbedder, folder: Path
) -> None:
    embedder.is_away = True
    report = await ingest(shelf, embedder).ingest(folder)
    assert (report.documents, report.without_vectors) == (2, 2)
    assert set(shelf.vectors.values()) == {None}
    embedder.is_away = False
    report = await ingest(shelf, embedder).ingest(folder)
    assert (report.documents, report.without_vectors, report.skipped) == (2, 0, 0)
    assert None not in shelf.vectors.values()


async def test_another_model_embeds_anew(shelf: Shelf, embedder: CountingEmbedder, folder: Path) -> None:
    await ingest(shelf, embedder).ingest(folder)
    report = await ingest(shelf, CountingEmbedder("m2")).ingest(folder)
    assert report.documents == 2
    assert set(shelf.models.values()) == {"m2"}


async def test_vectors_are_not_thrown_away_for_lack_of_an_embedder(
    shelf: Shelf, embedder: CountingEmbedder, folder: Path
) -> None:
    await ingest(shelf, embedder).ingest(folder)
    assert (await ingest(shelf, None).ingest(folder)).skipped == 2


async def test_without_an_embedder_passages_are_stored(shelf: Shelf, folder: Path) -> None:
    report = await ingest(shelf, None).ingest(folder)
    assert (report.documents, report.without_vectors) == (2, 2)


async def test_progress_counts_passages_up_to_the_total(
    shelf: Shelf, embedder: CountingEmbedder, tmp_path: Path
) -> None:
    sentence = "这一句话正好有二十个字，用来试试怎么切。"
    (tmp_path / "长.md").write_text("\n\n".join(sentence * 10 for _ in range(20)), "utf-8")
    (tmp_path / "短.md").write_text("短。", "utf-8")
    seen: list[tuple[int, int]] = []
    await ingest(shelf, embedder).ingest(tmp_path, lambda done, total: seen.append((done, total)))
    assert seen[0] == (0, 21)
    assert seen[-1] == (21, 21)
    assert len(seen) > 4
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert max(embedder.batches) <= 8


async def test_an_unreadable_file_does_not_stop_the_others(
    shelf: Shelf, embedder: CountingEmbedder, folder: Path
) -> None:
    (folder / "坏.txt").write_bytes(b"\xff\xff\xff\xff")
    report = await ingest(shelf, embedder).ingest(folder)
    assert report.documents == 2
    assert [name for name, _ in report.unreadable] == ["我的 文档/坏.txt"]


async def test_an_emptied_document_loses_its_passages(
    shelf: Shelf, embedder: CountingEmbedder, folder: Path
) -> None:
    await ingest(shelf, embedder).ingest(folder)
    (folder / "手册.md").write_text("", "utf-8")
    await ingest(shelf, embedder).ingest(folder)
    assert shelf.passages["我的 文档/手册.md"] == []


@pytest.mark.parametrize("name", ["没有.md", "图.png"])
async def test_what_cannot_be_ingested_is_refused_in_words(
    shelf: Shelf, embedder: CountingEmbedder, folder: Path, name: str
) -> None:
    with pytest.raises(RejectedInput, match=r"\.md"):
        await ingest(shelf, embedder).ingest(folder / name)


async def test_a_document_of_one_account_is_not_taken_over(shelf, tmp_path):
    file = tmp_path / "资料" / "营业时间.md"
    file.parent.mkdir()
    file.write_text("早上九点开门。", "utf-8")
    await Ingest(shelf, None).ingest(file, app_id="wx1")
    file.write_text("早上十点开门。", "utf-8")
    for other in ("", "wx2"):
        report = await Ingest(shelf, None).ingest(file, app_id=other)
        assert report.documents == 0
        assert [name for name, _ in report.unreadable] == ["资料/营业时间.md"]
        assert "wx1" in report.unreadable[0][1]
    assert shelf.owners == {"资料/营业时间.md": "wx1"}
    assert (await Ingest(shelf, None).ingest(file, app_id="wx1")).documents == 1
