"""The chat client against a real HTTP server: every way an answer can come, or not come."""

import asyncio
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from bot.conversation.errors import ModelRefused, ModelUnavailable, ModelUnpaid
from bot.conversation.ports import ChatLine
from bot.llm.openai_chat import OpenAiChat
from simulators.openai import Answer, OpenAiServer

LINES = (
    ChatLine(role="system", text="你是助手"),
    ChatLine(role="user", text="我对花生过敏"),
    ChatLine(role="assistant", text="好的"),
    ChatLine(role="user", text="还记得吗"),
)
QUICKLY = "0"
"""Retry-After of faults that are retried, so that the tests don't wait out the pause."""


@pytest.fixture
async def server() -> AsyncIterator[OpenAiServer]:
    async with OpenAiServer() as server:
        yield server


@pytest.fixture
async def make_chat(server: OpenAiServer) -> AsyncIterator[Callable[..., OpenAiChat]]:
    async with AsyncExitStack() as stack:

        def make(**changed: object) -> OpenAiChat:
            settings: dict[str, object] = {
                "base_url": server.base_url,
                "api_key": "sk-test",
                "model": "a-model",
                "timeout_seconds": 20.0,
            }
            chat = OpenAiChat(**(settings | changed))  # type: ignore[arg-type]
            stack.push_async_callback(chat.close)
            return chat

        yield make


@pytest.fixture
def chat(make_chat: Callable[..., OpenAiChat]) -> OpenAiChat:
    return make_chat()


async def failure_of(call: Awaitable[object]) -> Exception:
    with pytest.raises((ModelUnavailable, ModelRefused)) as caught:
        await call
    return caught.value


async def test_the_lines_reach_the_model_in_order_and_its_words_come_back(
    chat: OpenAiChat, server: OpenAiServer
) -> None:
    server.script("  记得，您对花生过敏。\n")
    assert await chat.complete(LINES) == "记得，您对花生过敏。"
    request = server.requests[0]
    assert request.body["model"] == "a-model"
    assert request.authorization == "Bearer sk-test"
    assert [(line["role"], line["content"]) for line in request.body["messages"]] == [
        (line.role, line.text) for line in LINES
    ]


async def test_without_a_key_no_key_of_the_environment_is_sent(
    make_chat: Callable[..., OpenAiChat], server: OpenAiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-somebody-elses")
    await make_chat(api_key="").complete(LINES)
    assert server.requests[0].authorization == "Bearer none"


async def test_a_proxy_in_the_environment_is_not_asked_for_this_machine(
    make_chat: Callable[..., OpenAiChat], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert await make_chat().complete(LINES) == "收到：还记得吗"


async def test_text_that_cannot_be_encoded_is_cleaned(chat: OpenAiChat, server: OpenAiServer) -> None:
    await chat.complete([ChatLine(role="user", text="a\ud83d\x00b😀")])
    assert server.requests[0].body["messages"][0]["content"] == "ab😀"


async def test_thoughts_of_a_reasoning_model_are_not_sent(chat: OpenAiChat, server: OpenAiServer) -> None:
    server.script("<think>\n他想要……\n</think>\n\n您好", "<think>没有想完")
    assert await chat.complete(LINES) == "您好"
    assert type(await failure_of(chat.complete(LINES))) is ModelUnavailable


@pytest.mark.parametrize("status", [429, 500, 503, 408])
async def test_a_busy_server_is_asked_once_more(chat: OpenAiChat, server: OpenAiServer, status: int) -> None:
    server.script(Answer(status=status, retry_after=QUICKLY), "好了")
    assert await chat.complete(LINES) == "好了"
    assert len(server.requests) == 2


async def test_and_only_once(chat: OpenAiChat, server: OpenAiServer) -> None:
    server.script(*[Answer(status=500, retry_after=QUICKLY)] * 3)
    assert type(await failure_of(chat.complete(LINES))) is ModelUnavailable
    assert len(server.requests) == 2


async def test_an_answer_cut_in_the_middle_is_asked_for_again(chat: OpenAiChat, server: OpenAiServer) -> None:
    server.script(Answer(text="只有一半", cut=True), "完整")
    assert await chat.complete(LINES) == "完整"


async def test_a_retry_that_cannot_begin_in_time_is_not_waited_for(
    chat: OpenAiChat, server: OpenAiServer
) -> None:
    server.script(Answer(status=429, retry_after="3600"))
    async with asyncio.timeout(10):
        assert type(await failure_of(chat.complete(LINES))) is ModelUnavailable
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Answer.failure(401, "invalid_api_key"),
        Answer.failure(402, message="Insufficient Balance"),
        Answer.failure(403, message="余额不足"),
        Answer.failure(429, "1113", "您的账户已欠费，请充值后重试。"),
        Answer(raw='{"error": {"code": "insufficient_quota"}}'),
    ],
)
async def test_out_of_money_is_told_apart_and_not_retried(
    chat: OpenAiChat, server: OpenAiServer, answer: Answer
) -> None:
    server.script(answer)
    assert type(await failure_of(chat.complete(LINES))) is ModelUnpaid
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Answer.failure(400, "content_filter"),
        Answer.failure(400, "data_inspection_failed"),
        Answer(text="说到一半", finish_reason="content_filter"),
        Answer(raw='{"choices": [{"message": {"content": null, "refusal": "I cannot"}}]}'),
    ],
)
async def test_declined_content_is_told_apart_and_not_retried(
    chat: OpenAiChat, server: OpenAiServer, answer: Answer
) -> None:
    server.script(answer)
    assert type(await failure_of(chat.complete(LINES))) is ModelRefused
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "raw",
    [
        "{garbage",
        "",
        "<html>欢迎使用校园网</html>",
        "null",
        "[]",
        '"x"',
        "{}",
        '{"choices": null}',
        '{"choices": []}',
        '{"choices": [{"message": {"content": ""}}]}',
        '{"choices": [{"message": {"content": " \\n"}}]}',
        '{"choices": [{"message": {"content": 7}}]}',
        "[" * 100_000,
    ],
)
async def test_nonsense_is_an_outage(chat: OpenAiChat, server: OpenAiServer, raw: str) -> None:
    server.script(Answer(raw=raw))
    assert type(await failure_of(chat.complete(LINES))) is ModelUnavailable
    assert len(server.requests) == 1


async def test_an_answer_in_parts_is_joined(chat: OpenAiChat, server: OpenAiServer) -> None:
    server.script(Answer(raw='{"choices": [{"message": {"content": [{"text": "一"}, {"text": "二"}]}}]}'))
    assert await chat.complete(LINES) == "一二"


async def test_a_wrong_model_name_says_what_to_check(chat: OpenAiChat, server: OpenAiServer) -> None:
    server.script(Answer.failure(404, "model_not_found"))
    assert "模型名" in str(await failure_of(chat.complete(LINES)))


async def test_a_redirect_is_not_followed_with_the_key(chat: OpenAiChat, server: OpenAiServer) -> None:
    server.script(Answer(status=301, raw=""))
    assert "地址" in str(await failure_of(chat.complete(LINES)))


async def test_a_model_that_is_too_slow_is_an_outage(
    make_chat: Callable[..., OpenAiChat], server: OpenAiServer
) -> None:
    chat = make_chat(timeout_seconds=0.5)
    await chat.warm()
    server.script(Answer(delay_seconds=3600))
    error = await failure_of(chat.complete(LINES))
    assert type(error) is ModelUnavailable
    assert "0.5 秒" in str(error)


async def test_nobody_there_is_an_outage(make_chat: Callable[..., OpenAiChat]) -> None:
    async with OpenAiServer() as gone:
        base_url = gone.base_url
    error = await failure_of(make_chat(base_url=base_url).complete(LINES))
    assert type(error) is ModelUnavailable
    assert "连不上" in str(error)


@pytest.mark.parametrize("base_url", ["", "not an address", "ftp://x", "http://[::1", "http://x:99999/v1"])
async def test_a_wrong_address_is_an_outage(make_chat: Callable[..., OpenAiChat], base_url: str) -> None:
    chat = make_chat(base_url=base_url)
    assert type(await failure_of(chat.complete(LINES))) is ModelUnavailable


@pytest.mark.parametrize("api_key", ["你的密钥", "sk-1\nx: y"])
async def test_a_key_that_no_header_can_carry_is_told(
    make_chat: Callable[..., OpenAiChat], server: OpenAiServer, api_key: str
) -> None:
    assert type(await failure_of(make_chat(api_key=api_key).complete(LINES))) is ModelUnpaid
    assert server.requests == []


async def test_neither_prompt_nor_key_is_in_a_traceback(chat: OpenAiChat, server: OpenAiServer) -> None:
    quoting = "invalid prompt: 我对花生过敏, key sk-test"
    for answer in (
        Answer.failure(400, message=quoting),
        Answer.failure(401, message=quoting),
        Answer(raw='{"choices": "我对花生过敏 sk-test"}'),
    ):
        server.script(answer)
        text = "".join(traceback.format_exception(await failure_of(chat.complete(LINES))))
        assert "花生" not in text
        assert "sk-test" not in text


async def test_a_dead_model_is_left_alone_after_three_failures(
    chat: OpenAiChat, server: OpenAiServer
) -> None:
    server.answer_with(lambda _: Answer(status=503, retry_after=QUICKLY))
    for _ in range(3):
        await failure_of(chat.complete(LINES))
    asked = len(server.requests)
    assert type(await failure_of(chat.complete(LINES))) is ModelUnavailable
    assert len(server.requests) == asked == 6


@pytest.mark.parametrize(
    "answer", [Answer.failure(400, "content_filter"), Answer.failure(400, message="context too long")]
)
async def test_one_persons_bad_requests_do_not_close_the_model_for_others(
    chat: OpenAiChat, server: OpenAiServer, answer: Answer
) -> None:
    server.script(*[answer] * 5)
    for _ in range(5):
        await failure_of(chat.complete(LINES))
    assert await chat.complete(LINES) == "收到：还记得吗"


async def test_a_caller_that_leaves_is_cancelled_and_the_client_still_works(
    chat: OpenAiChat, server: OpenAiServer
) -> None:
    arrived = asyncio.Event()

    def note(_: object) -> Answer:
        arrived.set()
        return Answer(delay_seconds=3600)

    server.answer_with(note)
    asking = asyncio.create_task(chat.complete(LINES))
    await arrived.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    server.reset()
    assert await chat.complete(LINES) == "收到：还记得吗"


async def test_many_at_once_get_each_their_own_answer(chat: OpenAiChat) -> None:
    questions = [f"第{number}问" for number in range(40)]
    answers = await asyncio.gather(
        *(chat.complete([ChatLine(role="user", text=question)]) for question in questions)
    )
    assert answers == [f"收到：{question}" for question in questions]


SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def forms(server: OpenAiServer) -> list[str | None]:
    """The form each request asked for."""
    return [request.body.get("response_format", {}).get("type") for request in server.requests]


async def test_a_schema_goes_along(chat: OpenAiChat, server: OpenAiServer) -> None:
    server.script("{}", "好")
    assert await chat.complete(LINES, schema=SCHEMA) == "{}"
    assert server.requests[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
    }
    await chat.complete(LINES)
    assert forms(server) == ["json_schema", None], "nobody asked for one"


async def test_what_the_server_takes_is_remembered(chat: OpenAiChat, server: OpenAiServer) -> None:
    refusal = Answer.failure(400, message="This response_format type is unavailable now")
    server.script(refusal, "{}", "{}")
    for _ in range(2):
        assert await chat.complete(LINES, schema=SCHEMA) == "{}"
    assert forms(server) == ["json_schema", "json_object", "json_object"]


async def test_a_server_without_forms_is_asked_by_the_prompt_alone(
    chat: OpenAiChat, server: OpenAiServer
) -> None:
    refusal = Answer.failure(422, message="extra fields not permitted")
    server.script(refusal, refusal, "{}", "{}")
    for _ in range(2):
        assert await chat.complete(LINES, schema=SCHEMA) == "{}"
    assert forms(server) == ["json_schema", "json_object", None, None]


async def test_another_fault_changes_no_form(chat: OpenAiChat, server: OpenAiServer) -> None:
    server.script(Answer.failure(400, message="context length exceeded"), "{}")
    assert type(await failure_of(chat.complete(LINES, schema=SCHEMA))) is ModelUnavailable
    assert await chat.complete(LINES, schema=SCHEMA) == "{}"
    assert forms(server) == ["json_schema", "json_schema"]
