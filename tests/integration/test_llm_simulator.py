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

from simulators.openai import Answer, OpenAiServer, by_marker
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


async def times_of(client: openai.AsyncOpenAI, question: str, **more: Any) -> tuple[str, list[float]]:
    """The text, and when each piece came: seconds after the request was begun."""
    clock = asyncio.get_running_loop()
    begun = clock.time()
    stream = await client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": question}], stream=True, **more
    )
    pieces = [
        (chunk.choices[0].delta.content, clock.time() - begun)
        async for chunk in stream
        if chunk.choices and chunk.choices[0].delta.content
    ]
    return "".join(text for text, _ in pieces), [at for _, at in pieces]


async def test_a_stream_keeps_its_pace(server: OpenAiServer, client: openai.AsyncOpenAI) -> None:
    """No sooner than scripted; how much later is the machine's."""
    server.script(
        Answer(text="一二三四五六七八", piece_characters=2, first_piece_seconds=0.2, pieces_per_second=20),
        Answer(text="一二三四五六七八", piece_characters=2, first_piece_seconds=0.1, total_seconds=0.4),
        Answer(text="一", total_seconds=0.3, stall_seconds=0.1),
    )
    slack = 0.01  # of the clock
    text, times = await times_of(client, "问")
    assert text == "一二三四五六七八"
    assert all(at > due - slack for at, due in zip(times, (0.2, 0.25, 0.3, 0.35), strict=True))
    _, times = await times_of(client, "问")
    assert all(at > due - slack for at, due in zip(times, (0.1, 0.2, 0.3, 0.4), strict=True))
    _, times = await times_of(client, "问")
    assert times[0] > 0.4 - slack


@pytest.mark.parametrize(
    ("answer", "pauses"),
    [
        (Answer(), [0, 0, 0]),
        (Answer(first_piece_seconds=1, pieces_per_second=4), [1, 0.25, 0.25]),
        (Answer(first_piece_seconds=1, total_seconds=3), [1, 1, 1]),
        (Answer(first_piece_seconds=9, total_seconds=3, delay_seconds=1), [2, 0, 0]),
        (Answer(stall_seconds=5), [0, 5, 0]),
    ],
)
def test_pauses(answer: Answer, pauses: list[float]) -> None:
    assert answer.pauses(3) == pauses
    assert answer.pauses(0) == []


async def test_a_question_may_name_its_pace(server: OpenAiServer, client: openai.AsyncOpenAI) -> None:
    server.answer_with(by_marker)
    text, times = await times_of(client, "几点 [[total=0.3 first=0.1 sentences=2]] 开门")
    assert text == "第1句答“几点 开门”。第2句答“几点 开门”。"
    assert times[-1] > 0.29
    assert (await times_of(client, "几点 [[开门]]"))[0] == "收到：几点 [[开门]]"


async def test_usage_comes_when_it_is_asked_for(server: OpenAiServer, client: openai.AsyncOpenAI) -> None:
    async def counted(**more: Any) -> list[int]:
        stream = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "问"}], stream=True, **more
        )
        return [chunk.usage.total_tokens async for chunk in stream if chunk.usage]

    server.script("好", "好")
    assert await counted() == []
    assert await counted(stream_options={"include_usage": True}) == [8]


async def test_a_stream_may_be_ignored_and_hold_garbage(server: OpenAiServer) -> None:
    server.script(Answer(text="好", ignores_stream=True), Answer(text="好", garbage=("data: {", ": x", "y")))
    body = {"stream": True, "messages": []}
    async with httpx2.AsyncClient(trust_env=False) as client:
        plain, events = [
            await client.post(f"{server.base_url}/chat/completions", json=body) for _ in range(2)
        ]
    assert plain.json()["choices"][0]["message"]["content"] == "好"
    assert all(f"\n\n{line}\n\n" in events.text for line in ("data: {", ": x", "y"))
    assert events.headers["content-type"] == "text/event-stream"


async def test_pictures_are_taken_and_recorded(server: OpenAiServer, client: openai.AsyncOpenAI) -> None:
    url = "data:image/png;base64,AA=="
    await client.chat.completions.create(
        model="m",
        messages=[
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "这是什么"},
                    {"type": "image_url", "image_url": {"url": url}},
                ],
            }
        ],
    )
    assert server.requests[0].images == (url,)
    assert server.prompts() == ["user: 这是什么[image]"]


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
        sys.executable,
        "-m",
        "simulators.openai",
        "--port",
        "0",
        "--by-marker",
        stdout=asyncio.subprocess.PIPE,
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
            "answers": [
                "好",
                {"text": "慢", "finish_reason": "length", "garbage": ["x"], "total_seconds": 2},
            ],
            "rules": [{"contains": "判断", "answer": "否"}],
        }
        assert await asyncio.to_thread(call, f"{root}/_script", script) == {"queued": 2, "rules": 1}
        body = {"model": "m", "messages": [{"role": "user", "content": "在吗"}]}
        answer = await asyncio.to_thread(call, f"{base_url}/chat/completions", body)
        assert answer["choices"][0]["message"]["content"] == "好"
        recorded = await asyncio.to_thread(call, f"{root}/_requests")
        assert recorded["prompts"] == ["user: 在吗"]
        assert recorded["requests"][0]["body"] == body
        await asyncio.to_thread(call, f"{root}/_script", {"reset": True})
        paced = {"messages": [{"role": "user", "content": "在吗[[total=0.1]]"}]}
        answer = await asyncio.to_thread(call, f"{base_url}/chat/completions", paced)
        assert answer["choices"][0]["message"]["content"] == "第1句答“在吗”。"
        with pytest.raises(urllib.error.HTTPError) as refused:
            await asyncio.to_thread(call, f"{root}/_script", {"answers": [{"txet": "misspelt"}]})
        assert refused.value.code == 400
        refused.value.close()
    finally:
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 30) == 0
