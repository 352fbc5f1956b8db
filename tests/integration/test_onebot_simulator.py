"""The OneBot client simulator against a bare websocket server: its frames, answers and failures."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from simulators.onebot import HandshakeRefused, OneBotClient

TOKEN = "a-token"


class Bot:
    """The bot's side of the connection, as far as a test needs it."""

    def __init__(self) -> None:
        self.port = 0
        self.headers: dict[str, str] = {}
        self.frames: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._connection: ServerConnection | None = None

    def admit(self, connection: ServerConnection, request: Request) -> Response | None:
        self.headers = dict(request.headers.raw_items())
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return connection.respond(403, "")
        return None

    async def serve(self, connection: ServerConnection) -> None:
        self._connection = connection
        with contextlib.suppress(ConnectionClosed):
            async for frame in connection:
                await self.frames.put(json.loads(frame))

    async def next(self) -> dict[str, Any]:
        async with asyncio.timeout(5):
            return await self.frames.get()

    async def ask(self, action: str, **params: Any) -> dict[str, Any]:
        await self.tell(action, **params)
        return await self.next()

    async def tell(self, action: str, **params: Any) -> None:
        assert self._connection is not None
        await self._connection.send(json.dumps({"action": action, "params": params, "echo": "7"}))


@pytest.fixture
async def bot() -> AsyncIterator[Bot]:
    bot = Bot()
    async with serve(bot.serve, "127.0.0.1", 0, process_request=bot.admit) as server:
        bot.port = server.sockets[0].getsockname()[1]
        yield bot


@pytest.fixture
async def client(bot: Bot) -> AsyncIterator[OneBotClient]:
    async with OneBotClient(f"ws://127.0.0.1:{bot.port}/", access_token=TOKEN) as client:
        assert (await bot.next())["meta_event_type"] == "lifecycle"
        yield client


async def test_the_handshake_says_who_connects(bot: Bot, client: OneBotClient) -> None:
    assert bot.headers["X-Self-ID"] == "10001"
    assert bot.headers["Authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("token", [None, "", "wrong"])
async def test_a_refused_handshake_says_so(bot: Bot, token: str | None) -> None:
    with pytest.raises(HandshakeRefused) as refusal:
        await OneBotClient(f"ws://127.0.0.1:{bot.port}/", access_token=token).connect()
    assert refusal.value.status == 403


async def test_what_people_say(bot: Bot, client: OneBotClient) -> None:
    message_id = await client.say_private(20001, "在吗")
    private = await bot.next()
    assert private["message_id"] == message_id
    assert private["message"] == [{"type": "text", "data": {"text": "在吗"}}]
    assert "group_id" not in private
    await client.say_group(30001, 20001, "你好", card="名片", role=None, reply_to=message_id)
    group = await bot.next()
    assert [segment["type"] for segment in group["message"]] == ["reply", "at", "text"]
    assert (group["group_id"], group["sender"]["card"]) == (30001, "名片")
    assert "role" not in group["sender"]
    assert group["message_id"] != message_id


async def test_a_message_in_string_form(bot: Bot, client: OneBotClient) -> None:
    await client.say_group(30001, 20001, "[a],b&", is_string=True)
    assert (await bot.next())["message"] == "[CQ:at,qq=10001] &#91;a&#93;,b&amp;"


async def test_what_the_bot_sends_is_recorded(bot: Bot, client: OneBotClient) -> None:
    segments = [{"type": "at", "data": {"qq": "20001"}}, {"type": "text", "data": {"text": " 好"}}]
    answer = await bot.ask("send_group_msg", group_id=30001, message=segments)
    sent = await client.next_sent()
    assert (answer["status"], answer["echo"]) == ("ok", "7")
    assert answer["data"]["message_id"] == sent.message_id
    assert (sent.group_id, sent.text, sent.mentions) == (30001, " 好", ("20001",))
    await bot.ask("send_msg", message_type="private", user_id=20001, message="一")
    assert (await client.next_sent()).group_id is None
    assert len(client.sent) == 2


async def test_messages_can_be_asked_for(bot: Bot, client: OneBotClient) -> None:
    said = await client.say_private(20001, "在吗")
    await bot.next()
    sent = (await bot.ask("send_private_msg", user_id=20001, message="在"))["data"]["message_id"]
    assert (await bot.ask("get_msg", message_id=said))["data"]["sender"]["user_id"] == 20001
    assert (await bot.ask("get_msg", message_id=sent))["data"]["sender"]["user_id"] == 10001
    assert (await bot.ask("get_msg", message_id=999))["retcode"] == 100
    assert (await bot.ask("no_such_thing"))["retcode"] == 1404
    assert (await bot.ask("get_login_info"))["data"]["user_id"] == 10001


async def test_scripted_failures_are_spent_in_order(bot: Bot, client: OneBotClient) -> None:
    client.script.fail("send_private_msg", 1200, "Timeout", is_delivered=True)
    client.script.fail("send_private_msg", 120, "muted")
    codes = [(await bot.ask("send_private_msg", user_id=1, message=str(n)))["retcode"] for n in range(3)]
    assert codes == [1200, 120, 0]
    assert [sent.text for sent in client.sent] == ["0", "2"]
    assert [action for action, _ in client.calls] == ["send_private_msg"] * 3


async def test_an_unanswered_call_and_a_broken_connection(bot: Bot, client: OneBotClient) -> None:
    client.script.drop("send_private_msg")
    client.script.disconnect("send_private_msg")
    await bot.tell("send_private_msg", user_id=1, message="一")
    assert (await client.next_sent()).text == "一"
    await bot.tell("send_private_msg", user_id=1, message="二")
    await client.wait_calls(2)
    await client.wait_closed()
    assert bot.frames.empty()
    await client.close()
    await client.connect()
    assert (await bot.next())["meta_event_type"] == "lifecycle"
    await client.say_private(20001, "又来了")
    assert (await bot.next())["raw_message"] == "又来了"


async def test_waiting_for_what_never_comes_ends(client: OneBotClient) -> None:
    with pytest.raises(TimeoutError):
        await client.next_sent(timeout_seconds=0.01)


async def test_notices(bot: Bot, client: OneBotClient) -> None:
    await client.join_group(30001)
    await client.befriend(20001)
    joined, befriended = await bot.next(), await bot.next()
    assert (joined["notice_type"], joined["user_id"], joined["group_id"]) == ("group_increase", 10001, 30001)
    assert (befriended["notice_type"], befriended["user_id"]) == ("friend_add", 20001)
