"""Retrieval: meaning and words fused, as of the store's version, and useful without vectors."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import numpy as np
import pytest

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Matrix, Vector
from bot.knowledge import retrieval as retrieval_module
from bot.knowledge.catalogue_file import CatalogueFile
from bot.knowledge.passage import Passage
from bot.knowledge.ports import PassageSheet, QuestionTokens, TokenMatrix
from bot.knowledge.retrieval import CONTEXT_CHARACTERS, Retrieval

TEXTS = [
    "七天内可以退货，运费自理。",
    "电子发票三十天内可开。",
    "型号 TM-880 报 E07 时断电重启。",
    "会员满三晚升级。",
]
"""Their vectors are the axes of a space, in this order."""


class Documents:
    """A `PassageStore` to read from, whose content a test may change."""

    def __init__(self, texts: list[str], embedded: list[int] | None = None) -> None:
        self.loads = 0
        self.set(texts, embedded, version=1)

    def set(self, texts: list[str], embedded: list[int] | None = None, *, version: int) -> None:
        """`embedded` are the positions that have a vector; all by default."""
        places = list(range(len(texts))) if embedded is None else embedded
        self.sheet = PassageSheet(
            version=version,
            # Ids with gaps, as after a replaced document.
            passages=tuple(
                Passage(id=10 * place + 7, document="手册.md", heading="", text=text)
                for place, text in enumerate(texts)
            ),
            embedded_ids=np.array([10 * place + 7 for place in places], np.int64),
            matrix=np.eye(4, dtype=np.float32)[places],
        )

    async def knowledge_version(self) -> int:
        return self.sheet.version

    async def passage_sheet(self, model_id: str, dimension: int) -> PassageSheet:
        self.loads += 1
        return self.sheet

    async def passage_tokens(self, ids: Sequence[int], model_id: str) -> dict[int, TokenMatrix]:
        """The axis of each passage, as its vector."""
        assert model_id == "tokens"
        return {each: (127 * np.eye(4, dtype=np.int8))[[each // 10]] for each in ids}


class Tokens:
    """Each question is about one thing, token by token."""

    model_id = "tokens"

    def __init__(self, axis: int) -> None:
        self._axis = axis
        self.asked: list[str] = []
        self.warmed = 0
        self.is_away = False

    async def warm(self) -> None:
        self.warmed += 1

    async def embed_question(self, text: str) -> QuestionTokens:
        self.asked.append(text)
        if self.is_away:
            raise EmbedderUnavailable
        return QuestionTokens(rows=np.eye(4, dtype=np.float32)[[self._axis]], weights=np.ones(1, np.float32))


class Flat:
    """`FlatIndex` in numpy."""

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix

    def search(self, query: Vector, k: int) -> list[tuple[int, float]]:
        if query.shape != self._matrix.shape[1:]:
            raise EmbedderUnavailable
        scores = self._matrix @ query
        return [(int(row), float(scores[row])) for row in np.argsort(-scores, kind="stable")[:k]]


class Questions:
    """Names the model whose vectors the tests bring."""

    model_id = "test"
    dimension = 4


def vector(*values: float) -> Vector:
    row = np.array(values, np.float32)
    return row / np.float32(np.linalg.norm(row))


def retrieval(documents: Documents, embedder: Questions | None) -> Retrieval:
    return Retrieval(documents, Flat, embedder)  # pyright: ignore[reportArgumentType]


def close_retrieval(documents: Documents, tokens: Tokens) -> Retrieval:
    return Retrieval(documents, Flat, Questions(), tokens=tokens)  # pyright: ignore[reportArgumentType]


async def texts(
    retrieval: Retrieval, question: str, k: int = 4, query_vector: Vector | None = None
) -> list[str]:
    return [found.passage.text for found in await retrieval.retrieve(question, k, query_vector)]


async def test_nothing_ingested_finds_nothing() -> None:
    assert await retrieval(Documents([]), Questions()).retrieve("退货", 4) == ()


async def test_a_model_that_becomes_known_is_searched_from_then_on() -> None:
    class Late(Questions):
        is_known = False

        @property
        def model_id(self) -> str:
            if not self.is_known:
                raise EmbedderUnavailable
            return "test"

    documents, embedder = Documents(TEXTS), Late()
    asked = retrieval(documents, embedder)
    await asked.retrieve("退货", 4)
    embedder.is_known = True
    await asked.retrieve("退货", 4)
    await asked.retrieve("退货", 4)
    assert documents.loads == 2


async def test_meaning_finds_what_shares_no_word() -> None:
    near_first = vector(1, 0.2, 0.1, 0)
    assert (await texts(retrieval(Documents(TEXTS), Questions()), "不想要了咋办", 1, near_first)) == [
        TEXTS[0]
    ]


async def test_words_decide_between_equal_meanings() -> None:
    undecided = vector(1, 1, 1, 1)
    assert (await texts(retrieval(Documents(TEXTS), Questions()), "电子发票", 1, undecided)) == [TEXTS[1]]


async def test_an_exact_token_beats_a_nearer_meaning() -> None:
    misled = vector(1, 0.9, 0.8, 0.7)
    assert (await texts(retrieval(Documents(TEXTS), Questions()), "ｅ07是什么", 1, misled)) == [TEXTS[2]]


@pytest.mark.parametrize("embedder", [Questions(), None])
async def test_without_a_vector_words_alone_find(embedder: Questions | None) -> None:
    asked = retrieval(Documents(TEXTS), embedder)
    (found,) = await asked.retrieve("能退货吗", 4)
    assert found.passage.text == TEXTS[0]
    assert found.dense is None
    assert found.lexical > 0
    assert await asked.retrieve("天气", 4) == ()


async def test_a_vector_of_another_dimension_is_as_good_as_none() -> None:
    assert await texts(retrieval(Documents(TEXTS), Questions()), "能退货吗", 4, vector(1, 0)) == [TEXTS[0]]


async def test_passages_without_vectors_are_found_among_others() -> None:
    documents = Documents(TEXTS, embedded=[2, 1])
    found = await retrieval(documents, Questions()).retrieve("退货运费", 4, vector(0, 1, 0.5, 0))
    assert {each.passage.text for each in found} == {TEXTS[0], TEXTS[1], TEXTS[2]}
    assert {each.passage.text: each.dense is None for each in found}[TEXTS[0]]
    by_text = {each.passage.text: each.dense for each in found}
    assert by_text[TEXTS[1]] == pytest.approx(vector(0, 1, 0.5, 0)[1])
    assert by_text[TEXTS[2]] == pytest.approx(vector(0, 1, 0.5, 0)[2])


async def test_best_first_and_no_more_than_asked() -> None:
    found = await retrieval(Documents(TEXTS), Questions()).retrieve("退货", 3, vector(1, 0.5, 0.4, 0.3))
    assert len(found) == 3
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert await retrieval(Documents(TEXTS), Questions()).retrieve("退货", 0) == ()


async def test_a_change_in_the_store_is_seen_at_once_and_loaded_once() -> None:
    documents = Documents(TEXTS)
    asked = retrieval(documents, Questions())
    for _ in range(3):
        assert await texts(asked, "退货") == [TEXTS[0]]
    assert documents.loads == 1
    documents.set(["改为十五天内可以退货。"], version=2)
    for _ in range(3):
        assert await texts(asked, "退货") == ["改为十五天内可以退货。"]
    assert documents.loads == 2


@pytest.fixture
def products(tmp_path: Path) -> CatalogueFile:
    path = tmp_path / "products.csv"
    path.write_text("名称,价格,描述\nA 款,299,退货险\nB 款,199,羊毛外套\n", "utf-8")
    return CatalogueFile(path)


async def test_a_named_product_stands_before_the_passages_in_addition(products: CatalogueFile) -> None:
    asked = Retrieval(Documents(TEXTS), Flat, None, products)  # pyright: ignore[reportArgumentType]
    found = await asked.retrieve("A款能退货吗", 1)
    assert [each.passage.text for each in found] == ["A 款；价格：299；描述：退货险", TEXTS[0]]
    assert [each.is_named for each in found] == [True, False]


async def test_a_product_that_shares_words_stands_behind(products: CatalogueFile) -> None:
    asked = Retrieval(Documents(TEXTS), Flat, None, products)  # pyright: ignore[reportArgumentType]
    found = await asked.retrieve("有羊毛外套吗", 2)
    assert [each.passage.heading for each in found] == ["B 款"]
    assert not found[0].is_named
    both = await asked.retrieve("羊毛外套能退货吗，电子发票呢", 2)
    assert [each.passage.text for each in both[:2]] == [TEXTS[1], TEXTS[0]]
    assert [each.passage.heading for each in both[2:]] == ["B 款", "A 款"]
    assert await asked.retrieve("A款", 0) == ()


async def test_products_are_found_where_no_document_is(products: CatalogueFile) -> None:
    asked = Retrieval(Documents([]), Flat, None, products)  # pyright: ignore[reportArgumentType]
    assert [each.passage.heading for each in await asked.retrieve("A款多少钱", 4)] == ["A 款"]


async def test_a_passage_comes_with_its_neighbours() -> None:
    texts = ["甲" * 200, "乙" * 150, "丙" * 100, "丁" * 200, "戊" * 300]
    documents = Documents(texts[:4])
    (found,) = await retrieval(documents, None).retrieve("丙丙", 1)
    assert found.passage.text == texts[2]
    assert [each.text for each in found.context] == [texts[1], texts[2], texts[3]]
    (found,) = await retrieval(documents, None).retrieve("甲甲", 1)
    assert [each.text for each in found.context] == texts[:3]
    assert sum(len(each.text) for each in found.context) <= CONTEXT_CHARACTERS


async def test_a_context_ends_with_its_document() -> None:
    documents = Documents(TEXTS[:2])
    other = Passage(id=99, document="另一份.md", heading="", text="退货另见。")
    documents.sheet = replace(documents.sheet, passages=(*documents.sheet.passages, other))
    found = await retrieval(documents, None).retrieve("另见", 1)
    assert found[0].context == (other,)


async def test_the_documents_of_another_account_are_not_searched():
    documents = Documents(TEXTS)
    mine, other, *_ = documents.sheet.passages
    documents.sheet = replace(
        documents.sheet,
        passages=(replace(mine, app_id="wx1"), replace(other, app_id="wx2"), *documents.sheet.passages[2:]),
    )
    asked = retrieval(documents, Questions())
    by_meaning = vector(1, 1, 1, 1)
    found = {
        app_id: {each.passage.text for each in await asked.retrieve("", 9, by_meaning, app_id)}
        for app_id in ("wx1", "wx2", "wx3", "")
    }
    shared = set(TEXTS[2:])
    assert found == {
        "wx1": {TEXTS[0], *shared},
        "wx2": {TEXTS[1], *shared},
        "wx3": shared,
        "": shared,
    }
    assert documents.loads == 1


NEARER_TO_INVOICES = vector(0.5, 0.7, 0.1, 0.1)


async def test_what_is_near_token_by_token_comes_first() -> None:
    asked = close_retrieval(Documents(TEXTS), Tokens(axis=3))
    assert (await texts(asked, "问", query_vector=NEARER_TO_INVOICES))[0] == TEXTS[3]


async def test_the_cosine_that_is_told_stays_that_of_the_whole() -> None:
    asked = close_retrieval(Documents(TEXTS), Tokens(axis=3))
    found = await asked.retrieve("问", 1, NEARER_TO_INVOICES)
    assert found[0].dense == pytest.approx(float(NEARER_TO_INVOICES[3]))


async def test_tokens_that_are_away_leave_the_ranking_by_the_whole() -> None:
    tokens = Tokens(axis=3)
    tokens.is_away = True
    asked = close_retrieval(Documents(TEXTS), tokens)
    assert (await texts(asked, "问", query_vector=NEARER_TO_INVOICES))[0] == TEXTS[1]
    assert tokens.asked == ["问"]


async def test_without_a_vector_tokens_are_not_asked_for() -> None:
    tokens = Tokens(axis=3)
    await texts(close_retrieval(Documents(TEXTS), tokens), "发票")
    assert tokens.asked == []


async def test_the_model_of_tokens_is_read_where_there_are_documents_and_nowhere_else() -> None:
    tokens = Tokens(axis=3)
    documents = Documents([])
    asked = close_retrieval(documents, tokens)
    await texts(asked, "发票")
    assert tokens.warmed == 0
    documents.set(TEXTS, version=2)
    await texts(asked, "发票")
    await texts(asked, "发票")
    assert tokens.warmed == 1


async def test_tokens_that_take_too_long_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(Tokens):
        async def embed_question(self, text: str) -> QuestionTokens:
            await anyio.sleep_forever()
            raise AssertionError

    monkeypatch.setattr(retrieval_module, "CLOSE_SECONDS", 0)
    asked = close_retrieval(Documents(TEXTS), Slow(axis=3))
    assert (await texts(asked, "问", query_vector=NEARER_TO_INVOICES))[0] == TEXTS[1]
