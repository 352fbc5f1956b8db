"""The embedding client against a real HTTP server: batches, order, and vectors that are none."""

import json
from collections.abc import AsyncIterator

import numpy as np
import pytest

from bot.conversation.errors import EmbedderUnavailable
from bot.llm.openai_embedder import OpenAiEmbedder
from simulators.openai import Answer, OpenAiServer


@pytest.fixture
async def server() -> AsyncIterator[OpenAiServer]:
    async with OpenAiServer(dimension=32) as server:
        yield server


@pytest.fixture
async def embedder(server: OpenAiServer) -> AsyncIterator[OpenAiEmbedder]:
    embedder = OpenAiEmbedder(base_url=server.base_url, api_key="k", model="m")
    yield embedder
    await embedder.close()


async def test_the_dimension_is_unknown_until_the_first_answer(embedder: OpenAiEmbedder) -> None:
    for name in ("dimension", "model_id"):
        with pytest.raises(EmbedderUnavailable):
            getattr(embedder, name)
    await embedder.warm()
    assert (embedder.dimension, embedder.model_id) == (32, "openai:m:32")


async def test_a_dimension_given_is_known_at_once_and_checked(server: OpenAiServer) -> None:
    embedder = OpenAiEmbedder(base_url=server.base_url, api_key="k", model="m", dimension=16)
    assert embedder.model_id == "openai:m:16"
    with pytest.raises(EmbedderUnavailable, match="16"):
        await embedder.embed_query("问")
    await embedder.close()


async def test_passages_go_in_batches_and_come_back_in_order(
    embedder: OpenAiEmbedder, server: OpenAiServer
) -> None:
    texts = [f"第{number}段" for number in range(23)]
    matrix = await embedder.embed_passages(texts)
    assert [len(request.body["input"]) for request in server.requests] == [10, 10, 3]
    assert np.allclose(matrix[17], await embedder.embed_query(texts[17]))


@pytest.mark.parametrize("batch", [0, 65])
def test_a_batch_has_its_bounds(batch: int) -> None:
    with pytest.raises(ValueError, match="batch"):
        OpenAiEmbedder(base_url="http://127.0.0.1", api_key="", model="m", batch=batch)


async def test_vectors_out_of_order_are_put_in_order(embedder: OpenAiEmbedder, server: OpenAiServer) -> None:
    data = [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]
    server.script_embeddings(Answer(raw=json.dumps({"data": data})))
    assert (await embedder.embed_passages(["一", "二"])).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    "data",
    [
        [{"embedding": [1, 0]}, {"embedding": [0, 1]}],
        [{"index": 0, "embedding": [1, 0]}, {"index": 0, "embedding": [0, 1]}],
    ],
)
async def test_a_server_without_indices_answers_in_order(
    embedder: OpenAiEmbedder, server: OpenAiServer, data: list[object]
) -> None:
    server.script_embeddings(Answer(raw=json.dumps({"data": data})))
    assert (await embedder.embed_passages(["一", "二"])).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    "raw",
    [
        "{garbage",
        "{}",
        "[]",
        "null",
        '{"data": null}',
        '{"data": []}',
        '{"data": [7]}',
        '{"data": [{"embedding": []}]}',
        '{"data": [{"embedding": null}]}',
        '{"data": [{"embedding": [0, 0, 0]}]}',
        '{"data": [{"embedding": [NaN, 1]}]}',
        '{"data": [{"embedding": [1e999, 1]}]}',
        '{"data": [{"embedding": ["a", "b"]}]}',
        '{"data": [{"embedding": [1]}, {"embedding": [1]}]}',
        '{"error": {"code": "insufficient_quota"}}',
    ],
)
async def test_what_is_no_vector_is_an_outage(
    embedder: OpenAiEmbedder, server: OpenAiServer, raw: str
) -> None:
    server.script_embeddings(Answer(raw=raw))
    with pytest.raises(EmbedderUnavailable):
        await embedder.embed_query("问")
    assert (await embedder.embed_query("问")).shape == (32,)


@pytest.mark.parametrize(
    "answer",
    [Answer.failure(401), Answer.failure(402), Answer.failure(404), Answer.failure(400, "content_filter")],
)
async def test_a_refusing_server_is_an_outage(
    embedder: OpenAiEmbedder, server: OpenAiServer, answer: Answer
) -> None:
    server.script_embeddings(answer)
    with pytest.raises(EmbedderUnavailable):
        await embedder.embed_query("问")


async def test_another_dimension_than_before_is_refused(
    embedder: OpenAiEmbedder, server: OpenAiServer
) -> None:
    await embedder.warm()
    server.dimension = 48
    with pytest.raises(EmbedderUnavailable, match="48"):
        await embedder.embed_query("问")


async def test_long_text_is_cut_and_nothing_becomes_something(
    embedder: OpenAiEmbedder, server: OpenAiServer
) -> None:
    await embedder.embed_passages(["长" * 10_000, "", " \n", "\x00\ud800"])
    sent = server.requests[0].body["input"]
    assert len(sent[0]) == 2000
    assert all(text for text in sent)
