"""Fixtures of the end-to-end tests: running bots, a model server, and the platforms' simulators."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Browser

from simulators.onebot import OneBotClient
from simulators.openai import OpenAiServer
from simulators.wechat import WeChatServer
from tests.e2e.bot_process import ONEBOT_TOKEN, WECHAT_APP_ID, WECHAT_TOKEN, BotProcess
from tests.e2e.browser import chromium

StartBot = Callable[..., Awaitable[BotProcess]]


@pytest_asyncio.fixture
async def start_bot(tmp_path: Path) -> AsyncIterator[StartBot]:
    """`await start_bot(LLM__BASE_URL=…)`: a bot with a data folder whose name has Chinese and a space."""
    started: list[BotProcess] = []

    async def start(**settings: str) -> BotProcess:
        bot = BotProcess(tmp_path / f"数据 {len(started)}", **settings)
        started.append(bot)
        return await bot.start()

    yield start
    for bot in started:
        await bot.kill()


@pytest_asyncio.fixture(scope="module")
async def chrome() -> AsyncGenerator[Browser]:
    """A browser, for all tests of a module."""
    async with chromium() as browser:
        yield browser


@pytest_asyncio.fixture
async def model() -> AsyncIterator[OpenAiServer]:
    """An OpenAI-compatible server that records what it is asked."""
    async with OpenAiServer() as server:
        yield server


def model_settings(model: OpenAiServer) -> dict[str, str]:
    """Settings of a bot that uses the model server for chat; embeddings stay built in."""
    return {"LLM__BASE_URL": model.base_url, "LLM__MODEL": "scripted", "LLM__API_KEY": "e2e"}


def wechat_of(bot: BotProcess, aes_key: str | None = None) -> WeChatServer:
    return WeChatServer(f"{bot.url}/wechat", WECHAT_TOKEN, WECHAT_APP_ID, aes_key)


def onebot_of(bot: BotProcess, access_token: str | None = ONEBOT_TOKEN) -> OneBotClient:
    return OneBotClient(f"ws://127.0.0.1:{bot.port}/onebot/v11/ws", self_id=10001, access_token=access_token)
