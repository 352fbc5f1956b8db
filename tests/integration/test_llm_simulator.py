"""The scripted server itself, through the official client and as a process."""

import asyncio
import json
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import numpy as np
import openai
import pytest

from simulators.openai import Answer, OpenAiServer
from simulators.openai.vectors import vector_of


@pytest.fixture
async def server() -> AsyncIterator[OpenAiServer]:
    async with OpenAiServer() as server:
        yield server


@pytest.fixture
async def client(server: OpenAiServer) -> AsyncIterator[openai.AsyncOpenAI]:
    http_client = httpx2.AsyncClient(trust_env=False)
    async with openai.AsyncOpenAI(
        base_url=server.base_url, api_key="k", max_retries=0, http_client=http_client
    ) as client:
        yield client


async def streamed(client: openai.AsyncOpenAI) -> str:
    stream = await client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "问"}], stream=True
    )
    return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])


async def test_a_stream_brings_the_whole_answer(server: OpenAiServer, client: openai.AsyncOpenAI) -> None:
    server.script("一共十五个字的一段回答，分几次来。")
    assert await streamed(client) == "一共十五个字的一段回答，分几次来。"


async def test_a_cut_stream_breaks_off(server: OpenAiServer, client: openai.AsyncOpenAI) -> None:
    server.script(Answer(text="说到一半就断了的回答", cut=True))
    with pytest.raises((openai.APIError, httpx2.RemoteProtocolError)):
        await streamed(client)


async def test_rules_come_before_the_queue_and_the_queue_before_the_function(
    server: OpenAiServer, client: openai.AsyncOpenAI
) -> None:
    async def ask(text: str) -> str | None:
        completion = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": text}]
        )
        return completion.choices[0].message.content

    server.when("判断", "否")
    server.script("排队")
    server.answer_with(lambda request: "函数" if "函数" in request.question else None)
    assert [await ask(text) for text in ("请判断", "函数", "函数", "别的", "请判断")] == [
        "否",
        "排队",
        "函数",
        "收到：别的",
        "否",
    ]
    assert server.prompts()[0] == "user: 请判断"
    server.reset()
    assert server.prompts() == []
    assert await ask("请判断") == "收到：请判断"


async def test_the_official_clients_packed_vectors_are_the_plain_ones(
    server: OpenAiServer, client: openai.AsyncOpenAI
) -> None:
    answer = await client.embeddings.create(model="m", input=["花生过敏", "退款"], dimensions=16)
    assert server.requests[0].body["encoding_format"] == "base64"
    assert np.allclose(answer.data[0].embedding, vector_of("花生过敏", 16), atol=1e-6)
    assert [model.id async for model in client.models.list()]


def test_texts_that_share_words_lie_nearer() -> None:
    question, near, far = (
        np.array(vector_of(text, 256)) for text in ("我对什么过敏", "我对花生过敏", "订单到哪里了")
    )
    assert question @ near > question @ far + 0.2
    assert np.isclose(np.linalg.norm(question), 1)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_no_text_has_a_zero_vector(dimension: int) -> None:
    for number in range(200):
        assert np.isclose(np.linalg.norm(vector_of("字" * number, dimension)), 1)


@pytest.mark.parametrize("payload", [b"{", b"[]", b"null", b'{"messages": [7, null]}'])
async def test_a_malformed_request_is_answered(server: OpenAiServer, payload: bytes) -> None:
    async with httpx2.AsyncClient(trust_env=False) as client:
        response = await client.post(f"{server.base_url}/chat/completions", content=payload)
    assert response.status_code in (200, 400)
    response.json()


async def test_it_runs_as_a_process_and_is_driven_over_http() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "simulators.openai", "--port", "0", stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        base_url = (await asyncio.wait_for(process.stdout.readline(), 30)).decode().strip()
        root = base_url.removesuffix("/v1")

        def call(url: str, body: object = None) -> Any:
            data = None if body is None else json.dumps(body).encode()
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(urllib.request.Request(url, data=data), timeout=30) as response:
                return json.loads(response.read())

        script = {
            "reset": True,
            "answers": ["好", {"text": "慢", "finish_reason": "length"}],
            "rules": [{"contains": "判断", "answer": "否"}],
        }
        assert await asyncio.to_thread(call, f"{root}/_script", script) == {"queued": 2, "rules": 1}
        body = {"model": "m", "messages": [{"role": "user", "content": "在吗"}]}
        answer = await asyncio.to_thread(call, f"{base_url}/chat/completions", body)
        assert answer["choices"][0]["message"]["content"] == "好"
        recorded = await asyncio.to_thread(call, f"{root}/_requests")
        assert recorded["prompts"] == ["user: 在吗"]
        assert recorded["requests"][0]["body"] == body
        with pytest.raises(urllib.error.HTTPError) as refused:
            await asyncio.to_thread(call, f"{root}/_script", {"answers": [{"txet": "misspelt"}]})
        assert refused.value.code == 400
        refused.value.close()
    finally:
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 30) == 0
