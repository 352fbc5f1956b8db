"""What a chat costs: as the server says, else estimated."""

import json
from collections.abc import AsyncIterator

import pytest

from bot.conversation.errors import ModelUnavailable
from bot.conversation.ports import ChatLine
from bot.llm.openai_chat import OpenAiChat
from simulators.openai import Answer, OpenAiServer

LINES = (ChatLine(role="system", text="你是助手"), ChatLine(role="user", text="还记得吗"))
CHOICE = {"message": {"content": "记得"}, "finish_reason": "stop"}


@pytest.fixture
async def server() -> AsyncIterator[OpenAiServer]:
    async with OpenAiServer() as server:
        yield server


@pytest.mark.parametrize(
    ("more", "cost"),
    [
        ({"usage": {"prompt_tokens": 31, "completion_tokens": 4, "total_tokens": 35}}, (31, 4)),
        ({}, (8, 2)),
        ({"usage": None}, (8, 2)),
        ({"usage": {"prompt_tokens": -1, "completion_tokens": 4}}, (8, 2)),
        ({"usage": {"prompt_tokens": "many"}}, (8, 2)),
    ],
)
async def test_tokens_are_told(server: OpenAiServer, more: dict[str, object], cost: tuple[int, int]) -> None:
    told: list[tuple[int, int]] = []
    chat = OpenAiChat(
        base_url=server.base_url,
        api_key="",
        model="m",
        timeout_seconds=20,
        on_tokens=lambda *counted: told.append(counted),
    )
    server.script(Answer(raw=json.dumps({"choices": [CHOICE], **more})))
    assert await chat.complete(LINES) == "记得"
    assert told == [cost]
    server.script(Answer(raw=json.dumps({"choices": [], **more})))
    with pytest.raises(ModelUnavailable):
        await chat.complete(LINES)
    assert len(told) == 2, "an empty answer was paid for too"
    await chat.close()
