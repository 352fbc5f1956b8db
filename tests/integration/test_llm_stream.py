"""A streamed answer against a real HTTP server: what is handed on, and every way a stream can go wrong."""

import asyncio
import json
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from bot.conversation.errors import ModelRefused, ModelUnavailable, ModelUnpaid
from bot.conversation.ports import ChatLine
from bot.llm.openai_chat import IMAGE_TOKENS, OpenAiChat
from simulators.openai import Answer, OpenAiServer, Request

LINES = (ChatLine(role="system", text="你是助手"), ChatLine(role="user", text="还记得吗"))
LONG = "记得，您对花生过敏。点心请避开花生酱。"
PIXEL = "data:image/png;base64,iVBORw0KGgo="


@pytest.fixture
async def server() -> AsyncIterator[OpenAiServer]:
    async with OpenAiServer() as server:
        yield server


class Asked:
    """A chat, what it handed on, and what it said each answer cost."""

    def __init__(self, server: OpenAiServer, timeout_seconds: float = 20.0) -> None:
        self.pieces: list[str] = []
        self.costs: list[tuple[int, int]] = []
        self.chat = OpenAiChat(
            base_url=server.base_url,
            api_key="sk-test",
            model="a-model",
            timeout_seconds=timeout_seconds,
            on_tokens=lambda *cost: self.costs.append(cost),
        )

    async def complete(self, *lines: ChatLine) -> str:
        self.pieces.clear()
        return await self.chat.complete(lines or LINES, self.pieces.append)


@pytest.fixture
async def make_asked(server: OpenAiServer) -> AsyncIterator[Callable[..., Asked]]:
    async with AsyncExitStack() as stack:

        def make(timeout_seconds: float = 20.0) -> Asked:
            asked = Asked(server, timeout_seconds)
            stack.push_async_callback(asked.chat.close)
            return asked

        yield make


@pytest.fixture
def asked(make_asked: Callable[..., Asked]) -> Asked:
    return make_asked()


async def failure_of(call: Awaitable[object]) -> Exception:
    with pytest.raises((ModelUnavailable, ModelRefused)) as caught:
        await call
    return caught.value


async def test_the_pieces_come_in_order_and_are_the_answer(asked: Asked, server: OpenAiServer) -> None:
    server.script(LONG + "\n")
    assert await asked.complete() == LONG
    assert len(asked.pieces) > 3
    assert "".join(asked.pieces) == LONG + "\n"
    assert server.requests[0].body["stream"] is True


async def test_pieces_are_handed_on_while_the_rest_is_being_made(asked: Asked, server: OpenAiServer) -> None:
    server.script(Answer(text=LONG, stall_seconds=3600))
    first = asyncio.Event()
    asking = asyncio.create_task(asked.chat.complete(LINES, lambda _: first.set()))
    await first.wait()
    assert not asking.done()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await asked.complete() == "收到：还记得吗"


async def test_without_on_text_nothing_is_streamed(asked: Asked, server: OpenAiServer) -> None:
    await asked.chat.complete(LINES)
    assert "stream" not in server.requests[0].body


async def test_the_connection_serves_the_next_answer_too(asked: Asked, server: OpenAiServer) -> None:
    for _ in range(3):
        await asked.complete()
    assert len(server._connections) == 1


async def test_thoughts_are_not_handed_on(asked: Asked, server: OpenAiServer) -> None:
    server.script(f"<think>\n他想要……\n</think>\n\n{LONG}", "<think>没有想完")
    assert await asked.complete() == "".join(asked.pieces) == LONG
    assert type(await failure_of(asked.complete())) is ModelUnavailable
    assert asked.pieces == []


async def test_a_server_that_ignores_stream(asked: Asked, server: OpenAiServer) -> None:
    server.script(Answer(text=LONG, ignores_stream=True))
    assert await asked.complete() == LONG
    assert asked.pieces == [LONG]


async def test_garbage_between_the_events(asked: Asked, server: OpenAiServer) -> None:
    server.script(Answer(text=LONG, garbage=("data: ping", ": x", "\x00", "data: [7", "event: ?", "data:")))
    assert await asked.complete() == LONG


@pytest.mark.parametrize("refused", [("stream_options",), ("stream_options", "stream")])
async def test_what_a_server_does_not_take_is_left_out_from_then_on(
    asked: Asked, server: OpenAiServer, refused: tuple[str, ...]
) -> None:
    def answer(request: Request) -> Answer:
        wrong = [name for name in refused if name in request.body]
        return Answer.failure(400, message=f"Unknown parameter: {wrong[0]}") if wrong else Answer(text=LONG)

    server.answer_with(answer)
    assert await asked.complete() == LONG
    assert len(server.requests) == 1 + len(refused)
    assert await asked.complete() == "".join(asked.pieces) == LONG
    assert len(server.requests) == 2 + len(refused)


async def test_a_request_too_long_is_not_taken_for_a_server_that_cannot_stream(
    asked: Asked, server: OpenAiServer
) -> None:
    server.script(*[Answer.failure(400, message="this prompt about a stream is too long")] * 3)
    await failure_of(asked.complete())
    assert await asked.complete() == "收到：还记得吗"
    assert server.requests[-1].body["stream_options"] == {"include_usage": True}


async def test_a_stream_cut_before_its_end_is_no_answer_and_not_asked_for_again(
    asked: Asked, server: OpenAiServer
) -> None:
    server.script(Answer(text=LONG, cut=True), "第二次")
    error = await failure_of(asked.complete())
    assert type(error) is ModelUnavailable
    assert "中途断了" in str(error)
    assert asked.pieces
    assert len(server.requests) == 1


async def test_cut_before_the_first_piece_it_is_asked_for_once_more(
    asked: Asked, server: OpenAiServer
) -> None:
    server.script(Answer(text="<think>很长很长的想法</think>完", cut=True), LONG)
    assert await asked.complete() == "".join(asked.pieces) == LONG
    server.script(*[Answer(text="<think>很长很长的想法</think>完", cut=True)] * 2)
    assert type(await failure_of(asked.complete())) is ModelUnavailable
    assert len(server.requests) == 4


def events(*documents: object, end: str = "") -> str:
    return "".join(f"data: {json.dumps(document)}\n\n" for document in documents) + end


HALF = {"choices": [{"delta": {"content": "说到一半"}}]}


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (events(HALF), ModelUnavailable),
        (events(HALF, end='data: {"choices": [{"del\n\ndata: [DONE]\n\n'), ModelUnavailable),
        (events(HALF, {"error": {"code": "server_error", "message": "x"}}), ModelUnavailable),
        (events(HALF, {"error": {"code": "insufficient_quota"}}), ModelUnpaid),
        (events(HALF, {"error": {"code": "data_inspection_failed"}}), ModelRefused),
        (events(HALF, {"choices": [{"delta": {}, "finish_reason": "content_filter"}]}), ModelRefused),
        (events({"choices": [{"delta": {"refusal": "No"}, "finish_reason": "stop"}]}), ModelRefused),
        (events({"choices": [{"delta": {}, "finish_reason": "stop"}]}), ModelUnavailable),
        (events(end="data: [DONE]\n\n"), ModelUnavailable),
        ("<html>欢迎使用校园网</html>", ModelUnavailable),
        ("", ModelUnavailable),
        ('{"error": {"code": "insufficient_quota"}}', ModelUnpaid),
    ],
)
async def test_what_is_no_whole_answer_raises(
    asked: Asked, server: OpenAiServer, raw: str, kind: type[Exception]
) -> None:
    server.script(Answer(raw=raw))
    error = await failure_of(asked.complete())
    assert type(error) is kind
    assert "一半" not in "".join(traceback.format_exception(error))
    assert len(server.requests) == 1


@pytest.mark.parametrize("answer", [Answer.failure(402), Answer.failure(400, "content_filter")])
async def test_errors_before_the_stream_are_those_of_the_house(
    asked: Asked, server: OpenAiServer, answer: Answer
) -> None:
    server.script(answer)
    assert type(await failure_of(asked.complete())) in (ModelUnpaid, ModelRefused)
    assert len(server.requests) == 1


async def test_a_busy_server_is_asked_once_more(asked: Asked, server: OpenAiServer) -> None:
    server.script(Answer(status=503, retry_after="0"), LONG)
    assert await asked.complete() == LONG


@pytest.mark.parametrize(
    "slow",
    [
        Answer(text=LONG, stall_seconds=3600),
        Answer(text=LONG, total_seconds=3600),
        Answer(text=LONG, delay_seconds=3600),
    ],
)
async def test_a_stall_counts_within_the_deadline(
    make_asked: Callable[..., Asked], server: OpenAiServer, slow: Answer
) -> None:
    asked = make_asked(timeout_seconds=0.5)
    await asked.chat.warm()
    server.script(slow)
    error = await failure_of(asked.complete())
    assert "0.5 秒" in str(error)


async def test_an_end_that_never_comes_does_not_hold_a_finished_answer(
    asked: Asked, server: OpenAiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.llm.openai_connection.LINGER_SECONDS", 0.05)
    finished = events({"choices": [{"delta": {"content": "完"}, "finish_reason": "stop"}]})

    async def never_ends(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + finished.encode())
        await reader.read()
        writer.close()

    async with await asyncio.start_server(never_ends, "127.0.0.1", 0) as silent:
        port = silent.sockets[0].getsockname()[1]
        chat = OpenAiChat(base_url=f"http://127.0.0.1:{port}", api_key="", model="m", timeout_seconds=60)
        async with asyncio.timeout(30):
            assert await chat.complete(LINES, asked.pieces.append) == "完"
        await chat.close()


async def test_three_cut_streams_rest_the_model(asked: Asked, server: OpenAiServer) -> None:
    server.script(*[Answer(text=LONG, cut=True)] * 3)
    for _ in range(3):
        await failure_of(asked.complete())
    assert asked.chat.is_resting


async def test_tokens_are_told_by_the_last_event_or_estimated(asked: Asked, server: OpenAiServer) -> None:
    server.script("记得", Answer(text="记得", ignores_stream=True), Answer(raw=events(HALF)))
    await asked.complete()
    await asked.complete()
    await failure_of(asked.complete())
    prompt = len(server.requests[0].prompt)
    assert asked.costs == [(prompt, 2), (prompt, 2), (8, 4)]


async def test_a_picture_is_a_part_behind_the_text(asked: Asked, server: OpenAiServer) -> None:
    server.script("一个像素", Answer(raw=events(HALF, end="data: [DONE]\n\n")))
    picture = ChatLine(role="user", text="这是什么\x00", images=(PIXEL,))
    assert await asked.complete(LINES[0], picture) == "一个像素"
    assert server.requests[0].body["messages"] == [
        {"role": "system", "content": "你是助手"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "这是什么"},
                {"type": "image_url", "image_url": {"url": PIXEL}},
            ],
        },
    ]
    await asked.complete(ChatLine(role="user", text="", images=(PIXEL, PIXEL)))
    content = server.requests[1].body["messages"][0]["content"]
    assert [part["type"] for part in content] == ["image_url", "image_url"]
    assert asked.costs[1] == (2 * IMAGE_TOKENS, 4)


async def test_many_at_once_get_each_their_own_pieces(asked: Asked) -> None:
    async def ask(question: str) -> tuple[str, str]:
        pieces: list[str] = []
        answer = await asked.chat.complete([ChatLine(role="user", text=question)], pieces.append)
        return answer, "".join(pieces)

    questions = [f"第{number}问" for number in range(40)]
    answers = await asyncio.gather(*map(ask, questions))
    assert answers == [(f"收到：{question}",) * 2 for question in questions]
