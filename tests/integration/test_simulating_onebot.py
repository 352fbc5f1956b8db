"""`jide simulate onebot`: it prints what is said to its own person, up to the answer to its own message."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from bot.cli.simulating import say_on_onebot
from simulators.onebot import number_of

ME, OTHER = number_of("小明"), number_of("小红")
GROUP = 100


@dataclass(slots=True)
class Bot:
    """A bot's public port: sends what it owed when a client connects, and its script for each message."""

    owed: list[dict[str, Any]] = field(default_factory=list)
    script: list[dict[str, Any]] = field(default_factory=list)
    server: Server = field(init=False)

    @property
    def port(self) -> int:
        return int(next(iter(self.server.sockets)).getsockname()[1])

    async def handle(self, connection: ServerConnection) -> None:
        async for frame in connection:
            event = json.loads(frame)
            if event.get("meta_event_type") == "lifecycle":
                await self._send(connection, self.owed)
            if event.get("post_type") == "message":
                await self._send(connection, self.script)

    @staticmethod
    async def _send(connection: ServerConnection, calls: list[dict[str, Any]]) -> None:
        for call in calls:
            await connection.send(json.dumps(call))


def to_person(user: int, text: str) -> dict[str, Any]:
    message = [{"type": "text", "data": {"text": text}}]
    return {"action": "send_private_msg", "params": {"user_id": user, "message": message}, "echo": text}


def to_group(group: int, user: int, text: str) -> dict[str, Any]:
    message = [
        {"type": "at", "data": {"qq": str(user)}},
        {"type": "text", "data": {"text": f" {text}"}},
    ]
    return {"action": "send_group_msg", "params": {"group_id": group, "message": message}, "echo": text}


def alive(connection: ServerConnection, request: Request) -> Response | None:
    return connection.respond(HTTPStatus.OK, "ok") if request.path == "/livez" else None


@pytest.fixture
async def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bot]:
    bot = Bot()
    async with serve(bot.handle, "127.0.0.1", 0, process_request=alive) as bot.server:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("JIDE_DATA_DIR", str(tmp_path / "data"))
        monkeypatch.setenv("PORT", str(bot.port))
        monkeypatch.setenv("ONEBOT__ACCESS_TOKEN", "a-token-for-this-test-only")
        yield bot


async def said(capsys: pytest.CaptureFixture[str], group: int = 0) -> list[str]:
    async with asyncio.timeout(30):
        await say_on_onebot("我的单号是多少", "小明", group)
    return capsys.readouterr().out.splitlines()


async def test_the_line_ahead_of_the_answer_and_the_answer(
    bot: Bot, capsys: pytest.CaptureFixture[str]
) -> None:
    bot.script = [to_person(ME, "让我查一下。"), to_person(ME, "您的单号是SF1")]
    assert await said(capsys) == ["让我查一下。", "您的单号是SF1"]


async def test_what_is_said_to_somebody_else_is_not_printed(
    bot: Bot, capsys: pytest.CaptureFixture[str]
) -> None:
    bot.script = [
        to_person(OTHER, "您对芒果过敏"),
        to_group(GROUP, ME, "群里的回答"),
        to_person(ME, "您的单号是SF1"),
        to_person(ME, "后来的话"),
    ]
    assert await said(capsys) == ["您的单号是SF1"]


async def test_an_answer_owed_from_before_is_not_this_ones(
    bot: Bot, capsys: pytest.CaptureFixture[str]
) -> None:
    bot.owed = [to_person(ME, "上一句的回答")]
    bot.script = [to_person(ME, "您的单号是SF1")]
    assert await said(capsys) == ["您的单号是SF1"]


async def test_in_a_group_the_answer_names_its_person(bot: Bot, capsys: pytest.CaptureFixture[str]) -> None:
    bot.script = [
        to_group(GROUP, OTHER, "给小红的"),
        to_group(GROUP + 1, ME, "别的群"),
        to_person(ME, "私聊"),
        to_group(GROUP, ME, "让我查一下。"),
        to_group(GROUP, ME, "给小明的"),
    ]
    assert [line.strip() for line in await said(capsys, GROUP)] == ["让我查一下。", "给小明的"]


async def test_all_pages_of_a_long_answer(bot: Bot, capsys: pytest.CaptureFixture[str]) -> None:
    bot.script = [to_person(ME, "长" * 1_400), to_person(OTHER, "别人的"), to_person(ME, "下一页")]
    assert await said(capsys) == ["长" * 1_400, "下一页"]
