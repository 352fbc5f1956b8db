"""Who may come in as the played QQ bots, and where what they are answered goes: never the one for the other."""

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from nonebot.drivers import Request
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from bot.alerts import OperatorAlerts
from bot.channels.onebot import OneBotOutbox
from bot.channels.onebot_guard import OneBotGuard, Played
from bot.channels.onebot_troubles import Troubles
from bot.channels.played_http import PlayedHttp
from bot.conversation.message import PLAYGROUND
from bot.playground.doors import PublicGuard
from bot.playground.official_stage import API_BASE, APP_ID, OfficialStage
from bot.playground.playing import Knobs
from bot.qq_side import nonebot_config
from bot.settings import Settings
from tests.unit.test_onebot_outbox import RecordingBot, message

STAGE = "9999"
REAL, PLAY = "a real token", "a played token"


def played(*, is_at_work: bool = False) -> Played:
    return Played(
        self_id=STAGE,
        token=PLAY,
        is_from=lambda scope: bool(scope.get("from the door")),
        is_at_work=lambda: is_at_work,
    )


@pytest.mark.parametrize(
    ("is_from_door", "token", "self_id", "is_let_in"),
    [
        (True, PLAY, STAGE, True),
        (True, PLAY, "10001", False),
        (True, REAL, STAGE, False),
        (False, REAL, "10001", True),
        (False, REAL, STAGE, False),
        (False, PLAY, STAGE, False),
        (False, PLAY, "10001", False),
    ],
)
async def test_each_token_opens_its_own_door_for_its_own_bot(
    is_from_door: bool, token: str, self_id: str, is_let_in: bool
) -> None:
    arrived: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        arrived.append(scope)

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    closed: list[Mapping[str, Any]] = []

    async def send(frame: Mapping[str, Any]) -> None:
        closed.append(frame)

    scope: Scope = {
        "type": "websocket",
        "path": "/onebot/v11/ws",
        "headers": [(b"authorization", f"Bearer {token}".encode()), (b"x-self-id", self_id.encode())],
        "from the door": is_from_door,
    }
    guard = OneBotGuard(app, access_token=REAL, played=played())
    await guard(scope, receive, send)  # pyright: ignore[reportArgumentType]
    assert (bool(arrived), not closed) == (is_let_in, is_let_in)


@pytest.mark.parametrize(
    ("is_tryout", "is_at_work", "goes_to"),
    [(True, True, STAGE), (True, False, "10002"), (False, True, STAGE), (False, False, STAGE)],
)
async def test_what_is_played_is_answered_on_the_stage(
    is_tryout: bool, is_at_work: bool, goes_to: str
) -> None:
    """`jide simulate` is answered by its own client, whose messages are of the try-out account too."""
    bots = {each: RecordingBot(each) for each in ("10001", "10002", STAGE)}
    outbox = OneBotOutbox(lambda: bots, is_tryout=is_tryout, played=played(is_at_work=is_at_work))
    await outbox.send(message(app_id=PLAYGROUND), ("一",))
    assert [each for each, bot in bots.items() if bot.texts] == [goes_to]
    await outbox.send(message(app_id="10001"), ("二",))
    assert bots["10001"].texts == ["二"]


async def test_without_the_stage_no_real_client_gets_what_is_played() -> None:
    bots = {"10001": RecordingBot("10001")}
    outbox = OneBotOutbox(lambda: bots, is_tryout=False, played=played())
    assert not outbox.is_ready(message(app_id=PLAYGROUND))


async def test_nobody_is_told_of_troubles_that_are_played() -> None:
    told: list[str] = []

    class Alerts(OperatorAlerts):
        async def tell(self, key: str, text: str) -> None:
            told.append(key)

    troubles = Troubles(Alerts(), played=STAGE)
    for self_id in (int(STAGE), 10001):
        await troubles.noticed(
            {
                "post_type": "notice",
                "notice_type": "group_ban",
                "sub_type": "ban",
                "self_id": self_id,
                "group_id": 100,
                "user_id": self_id,
                "duration": 60,
            }
        )
    assert len(told) == 1 and "10001" in told[0]
    assert troubles.ban_of(STAGE, "100") is not None, "it holds all the same"


def test_what_is_there_to_be_played_alone_is_not_there_on_the_public_port() -> None:
    app = FastAPI(openapi_url=None)

    async def webhook() -> str:
        return "here"

    app.add_api_route("/qq/webhook", webhook, methods=["POST"])
    app.add_api_route("/livez", webhook)
    app.add_middleware(PublicGuard, is_hidden=lambda scope: scope["path"] == "/qq/webhook")
    client = TestClient(app)
    assert client.get("/livez").status_code == 200
    for method in ("GET", "POST", "OPTIONS"):
        answer, nothing = client.request(method, "/qq/webhook"), client.request(method, "/nothing")
        assert (answer.status_code, answer.content, answer.headers) == (404, nothing.content, nothing.headers)


def test_the_adapter_is_told_of_the_played_bot_where_there_is_no_other() -> None:
    stage = OfficialStage("http://127.0.0.1:1/", "secret", Knobs())
    config = nonebot_config(Settings(), stage)
    (bot,) = config["qq_bots"]
    assert (bot["id"], bot["secret"], bot["use_websocket"]) == (APP_ID, "secret", False)
    assert config["qq_api_base"] == API_BASE and config["qq_auth_base"].startswith(API_BASE)
    assert nonebot_config(Settings())["qq_bots"] == []


async def test_whatever_host_is_named_the_played_api_is_asked_in_this_process() -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(201, json={"ok": True}, headers={"x-trace": "1"})

    http = PlayedHttp(httpx.MockTransport(answer))
    response = await http(
        Request("POST", "https://api.bot.qq.com/v2/x?y=1", json={"a": "甲"}, headers={"h": "v"})
    )
    assert (response.status_code, response.headers["x-trace"]) == (201, "1")
    assert (asked[0].url.path, asked[0].headers["h"]) == ("/v2/x", "v")
    assert "甲" in asked[0].content.decode()
    await asyncio.gather(http(Request("GET", "https://a/")), http(Request("DELETE", "https://b/")))
    assert {each.method for each in asked} == {"POST", "GET", "DELETE"}
