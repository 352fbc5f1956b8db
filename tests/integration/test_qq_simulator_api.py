"""The simulated QQ platform over real sockets: its API, its gateway, and the real adapter as its client."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import uvicorn
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from simulators.qq import QQPlatform, Retries
from tests.free_ports import free_port
from tests.qq_bot_process import running_bot
from tests.qq_callbacks import SECRET, Bot

APP_ID = "102000001"
INTENTS = 1 << 25 | 1 << 30 | 1 << 12 | 1 << 26


class Served(uvicorn.Server):
    """A hand-written callback on a socket."""

    def __init__(self, bot: Bot) -> None:
        super().__init__(uvicorn.Config(bot, port=0, log_config=None, lifespan="off"))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.servers[0].sockets[0].getsockname()[1]}/qq/webhook"


@pytest.fixture
async def served() -> AsyncIterator[tuple[Bot, str]]:
    bot = Bot()
    server = Served(bot)
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    yield bot, server.url
    server.should_exit = True
    server.force_exit = True
    await running


@pytest.fixture
async def qq() -> AsyncIterator[QQPlatform]:
    """Speaks through the gateway."""
    async with QQPlatform(None, APP_ID, SECRET) as qq:
        yield qq


async def token_of(qq: QQPlatform) -> str:
    async with httpx.AsyncClient(trust_env=False) as http:
        asked = {"appId": APP_ID, "clientSecret": SECRET}
        return f"QQBot {(await http.post(qq.api.auth_url, json=asked)).json()['access_token']}"


async def test_events_reach_a_callback_on_a_socket(served: tuple[Bot, str]):
    bot, url = served
    async with QQPlatform(url, APP_ID, SECRET) as qq:
        assert await qq.verify()
        deliveries = await asyncio.gather(*(qq.say(f"O{number}", "你好") for number in range(20)))
    assert all(delivery.is_acknowledged for delivery in deliveries)
    assert {payload["d"]["author"]["user_openid"] for payload in bot.payloads} == {f"O{n}" for n in range(20)}


async def test_a_callback_that_hangs_is_posted_to_again(served: tuple[Bot, str]):
    bot, url = served
    bot.hang_first = 1
    retries = Retries(attempts=2, deadline_seconds=0.2, pause_seconds=0)
    async with QQPlatform(url, APP_ID, SECRET, retries=retries) as qq:
        delivery = await qq.say("O1", "你好")
    assert delivery.statuses == (None, 200)
    assert bot.payloads[0] == bot.payloads[1]


async def test_nobody_listens():
    retries = Retries(attempts=2, pause_seconds=0)
    async with QQPlatform(f"http://127.0.0.1:{free_port()}/", APP_ID, SECRET, retries=retries) as qq:
        assert (await qq.say("O1", "你好")).statuses == (None, None)


async def test_the_api_on_a_socket(qq: QQPlatform):
    said = await qq.say_in("G1", "M1", "你好")
    authorization = await token_of(qq)
    async with httpx.AsyncClient(base_url=qq.api.base_url, trust_env=False) as http:
        http.headers["Authorization"] = authorization
        told = (await http.get("/gateway/bot")).json()
        assert told["url"] == qq.gateway.url == (await http.get("/gateway")).json()["url"]
        fields = {"msg_type": 0, "content": "好", "msg_id": said.message_id}
        sent = await http.post("/v2/groups/G1/messages", json=fields)
        assert sent.headers["X-Tps-trace-ID"]
        qq.api.fail("groups/messages", is_cut=True)
        with pytest.raises(httpx.RemoteProtocolError):
            await http.post("/v2/groups/G1/messages", json=fields | {"msg_seq": 2})
        form = {"content": (None, "图"), "file_image": ("a.png", b"\x89PNG")}
        channel = await qq.say_in_channel("100010", "U1", "你好")
        await http.post("/channels/100010/messages", data={"msg_id": channel.message_id}, files=form)
    assert [sight.msg_seq for sight in qq.seen_in("G1")] == [1, 2]
    assert [(sight.kind, sight.media) for sight in qq.seen_in("100010")] == [("media", "file:a.png")]


async def test_waiting_for_what_never_comes_ends(qq: QQPlatform):
    with pytest.raises(TimeoutError):
        await qq.wait_seen("O1", timeout_seconds=0.01)
    with pytest.raises(TimeoutError):
        await qq.gateway.wait_connected(timeout_seconds=0.01)


class Client:
    """A gateway client of a few lines."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    async def tell(self, op: int, d: Any = None) -> None:
        await self.connection.send(json.dumps({"op": op, "d": d}))

    async def next(self) -> dict[str, Any]:
        async with asyncio.timeout(5):
            return json.loads(await self.connection.recv())

    async def identify(self, token: str, intents: int = INTENTS, shard: Any = (0, 1)) -> dict[str, Any]:
        await self.tell(2, {"token": token, "intents": intents, "shard": shard, "properties": {}})
        return await self.next()


@pytest.fixture
async def client(qq: QQPlatform) -> AsyncIterator[Client]:
    async with connect(qq.gateway.url, proxy=None) as connection:
        client = Client(connection)
        assert (await client.next()) == {"op": 10, "d": {"heartbeat_interval": 45_000}}
        yield client


async def test_identify_heartbeat_and_events(qq: QQPlatform, client: Client):
    ready = await client.identify(await token_of(qq))
    assert (ready["t"], ready["s"], ready["d"]["user"]["id"]) == ("READY", 1, qq.account.id)
    await client.tell(1, 1)
    assert await client.next() == {"op": 11}
    delivery = await qq.say("O1", "你好")
    event = await client.next()
    assert (event["t"], event["s"], event["id"], event["d"]["content"]) == (
        "C2C_MESSAGE_CREATE",
        2,
        delivery.id,
        "你好",
    )
    assert (delivery.connections, delivery.is_acknowledged, delivery.attempts) == (1, True, ())
    await qq.say_in_channel("100010", "U1", "闲聊", at_bot=False)
    await qq.say_in("G1", "M1", "你好")
    assert (await client.next())["t"] == "GROUP_AT_MESSAGE_CREATE", "MESSAGE_CREATE was not subscribed to"
    (session,) = qq.gateway.connected
    assert session.heartbeats == [1]


async def test_a_resume_brings_what_was_missed(qq: QQPlatform, client: Client):
    token = await token_of(qq)
    session_id = (await client.identify(token))["d"]["session_id"]
    await qq.say("O1", "一")
    await client.next()
    await qq.gateway.drop()
    with pytest.raises(ConnectionClosed):
        await client.next()
    missed = await qq.say("O1", "二")
    assert not missed.is_acknowledged
    async with connect(qq.gateway.url, proxy=None) as connection:
        again = Client(connection)
        await again.next()
        await again.tell(6, {"token": token, "session_id": session_id, "seq": 2})
        assert [(await again.next())["t"] for _ in range(2)] == ["C2C_MESSAGE_CREATE", "RESUMED"]
    assert qq.gateway.sessions[session_id].resumes == 1


@pytest.mark.parametrize(
    ("op", "d", "code"),
    [
        (2, None, 4002),
        (99, None, 4001),
        (2, {"intents": 1 << 5}, 4013),
        (2, {"intents": 1, "shard": [2, 1]}, 4010),
    ],
)
async def test_a_client_that_breaks_the_protocol(qq: QQPlatform, client: Client, op: int, d: Any, code: int):
    if d is not None:
        d = {"token": await token_of(qq)} | d
    await client.tell(op, d)
    with pytest.raises(ConnectionClosed):
        await client.next()
    assert client.connection.close_code == code


async def test_frames_that_are_none(qq: QQPlatform, client: Client):
    await client.connection.send("[]")
    with pytest.raises(ConnectionClosed):
        await client.next()
    assert client.connection.close_code == 4002


async def test_a_session_that_is_none(qq: QQPlatform, client: Client):
    assert await client.identify("QQBot wrong") == {"op": 9, "d": False}
    await client.tell(6, {"token": await token_of(qq), "session_id": "x", "seq": 1})
    assert await client.next() == {"op": 9, "d": False}


async def test_the_gateway_sends_clients_away(qq: QQPlatform, client: Client):
    await client.identify(await token_of(qq))
    await qq.gateway.reconnect()
    assert await client.next() == {"op": 7}
    assert qq.gateway.connected == ()
    assert len(qq.gateway.sessions) == 1
    await qq.gateway.invalidate()
    assert qq.gateway.sessions == {}


async def test_a_frozen_gateway_keeps_quiet(qq: QQPlatform, client: Client):
    await client.identify(await token_of(qq))
    qq.gateway.is_frozen = True
    await client.tell(1, 1)
    assert (await qq.say("O1", "你好")).connections == 0
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await client.connection.recv()


async def test_guilds_are_spread_over_shards():
    async with (
        QQPlatform(None, APP_ID, SECRET, shards=2) as qq,
        connect(qq.gateway.url, proxy=None) as connection,
    ):
        client = Client(connection)
        await client.next()
        await client.identify(await token_of(qq), shard=[1, 2])
        for guild in (str(2 << 22), str(3 << 22)):
            await qq.say_in_channel("100010", "U1", "你好", guild=guild)
        assert (await client.next())["d"]["guild_id"] == str(3 << 22)


async def test_the_real_adapter_behind_a_callback():
    port = free_port()
    async with QQPlatform(f"http://127.0.0.1:{port}/qq/webhook", APP_ID, SECRET) as qq:
        bot = running_bot(port, api_base=qq.api.base_url, app_id=APP_ID, secret=SECRET, use_websocket=False)
        async with bot:
            assert await qq.verify()
            await converse(qq)
            assert (await qq.hostile.unsigned({"op": 0, "id": "x", "d": {}, "t": "X"})).status == 403
            forged = await qq.hostile.forge({"op": 0, "id": "x", "d": {}, "t": "X"})
            assert forged.event is not None, "the adapter of itself still signs whatever it is given"


async def test_the_real_adapter_on_the_gateway(qq: QQPlatform):
    bot = running_bot(free_port(), api_base=qq.api.base_url, app_id=APP_ID, secret=SECRET, use_websocket=True)
    async with bot:
        await qq.gateway.wait_connected(timeout_seconds=20)
        assert qq.gateway.connected[0].intents & INTENTS == INTENTS
        await converse(qq)


async def converse(qq: QQPlatform) -> None:
    """Everywhere; with two parts, of which the second is refused in a private chat."""
    await qq.say("O1", "一|见 https://a.cn")
    await qq.say_in("G1", "M1", "二|三")
    await qq.say_in_channel("100010", "U1", "四")
    await qq.say_directly("U1", "五")
    added = await qq.befriend("O2")
    await qq.add_to_group("G2", "M1")
    await qq.press("O3", button_data="继续")
    assert [sight.text for sight in await qq.wait_seen_in("G1", 2)] == ["听到 二", "听到 三"]
    assert [sight.msg_seq for sight in qq.seen_in("G1")] == [1, 2]
    assert [sight.text for sight in await qq.wait_seen("O1")] == ["听到 一"]
    assert [sight.text for sight in await qq.wait_seen_in("100010")] == ["听到 四"]
    assert [sight.text for sight in await qq.wait_seen("U1")] == ["听到 五"]
    assert (await qq.wait_seen("O2"))[0].event_id == added.id
    assert [sight.text for sight in await qq.wait_seen_in("G2")] == ["见到 GROUP_ADD_ROBOT"]
    assert [sight.text for sight in await qq.wait_seen("O3")] == ["见到 INTERACTION_CREATE"]
    # Two to O1, of which the second is refused, one to O2 and one to O3.
    await qq.wait_calls(4, "users/messages")
    assert 40054010 in qq.api.codes("users/messages")
    assert all(delivery.is_acknowledged for delivery in qq.deliveries)
