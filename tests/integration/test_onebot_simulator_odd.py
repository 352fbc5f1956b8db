"""The OneBot simulator where things are odd: ids, frames, connections, and a group full of people."""

import asyncio
import contextlib
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from simulators.onebot import (
    MALFORMED,
    NO_PERMISSION,
    TIMED_OUT,
    TIMED_OUT_AND_LOST,
    Failure,
    HandshakeRefused,
    OneBotClient,
    account_of,
    crowd,
    let_speak,
    post_event,
)
from simulators.onebot.segments import as_string, face, image

GROUP = 30001


class Bot:
    """Answers whoever mentions it, and keeps all frames. One connection for each account."""

    def __init__(self) -> None:
        self.port = 0
        self.frames: list[Any] = []
        self.answers: list[dict[str, Any]] = []
        self.connections: dict[str, ServerConnection] = {}
        self.is_answering = False
        self._news = asyncio.Condition()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/"

    def admit(self, connection: ServerConnection, request: Request) -> Response | None:
        is_there = request.headers.get("X-Self-ID", "") in self.connections
        return connection.respond(403, "") if is_there else None

    async def serve(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        account = connection.request.headers.get("X-Self-ID", "")
        self.connections[account] = connection
        with contextlib.suppress(ConnectionClosed):
            async for frame in connection:
                await self._hear(connection, frame)
        self.connections.pop(account, None)

    async def _hear(self, connection: ServerConnection, frame: str | bytes) -> None:
        try:
            event = json.loads(frame)
        except (ValueError, RecursionError):
            event = frame
        async with self._news:
            self.frames.append(event)
            if isinstance(event, dict) and "echo" in event:
                self.answers.append(event)
            self._news.notify_all()
        words = str(event.get("raw_message")) if isinstance(event, dict) else ""
        if self.is_answering and words.startswith("[CQ:at,qq=10001]"):
            words = words.partition("]")[2]
            await self.call(connection, "send_group_msg", group_id=GROUP, message=words)

    async def call(self, connection: ServerConnection, action: str, **params: Any) -> None:
        await connection.send(json.dumps({"action": action, "params": params, "echo": str(len(self.frames))}))

    async def ask(self, action: str, **params: Any) -> dict[str, Any]:
        count = len(self.answers)
        await self.call(self.connections["10001"], action, **params)
        async with asyncio.timeout(5), self._news:
            await self._news.wait_for(lambda: len(self.answers) > count)
        return self.answers[-1]

    async def wait_frames(self, count: int) -> list[Any]:
        async with asyncio.timeout(5), self._news:
            await self._news.wait_for(lambda: len(self.frames) >= count)
        return self.frames


@pytest.fixture
async def bot() -> AsyncIterator[Bot]:
    bot = Bot()
    async with serve(
        bot.serve, "127.0.0.1", 0, max_size=None, close_timeout=0.1, process_request=bot.admit
    ) as server:
        bot.port = next(iter(server.sockets)).getsockname()[1]
        yield bot


@pytest.fixture
async def qq(bot: Bot) -> AsyncIterator[OneBotClient]:
    async with OneBotClient(bot.url) as qq:
        await bot.wait_frames(1)
        yield qq


async def test_a_crowd_gets_one_answer_each(bot: Bot, qq: OneBotClient):
    bot.is_answering = True
    lines = crowd(members=50, messages=200)
    said = await let_speak(qq, GROUP, lines, speed=0)
    sent = await qq.wait_sent(sum(line.is_addressed for line in lines))
    assert account_of(said, sent).is_exact


async def test_lines_come_at_their_time(bot: Bot, qq: OneBotClient):
    lines = crowd(members=2, messages=4, seconds=4)
    said = await let_speak(qq, GROUP, lines, speed=100)
    assert [each.line for each in said] == list(lines)


async def test_odd_ids_are_sent_as_they_are(bot: Bot, qq: OneBotClient):
    ids = ["abc-1", -280154787, 3425462029]
    said = [await qq.say_group(GROUP, 20001, "x", overrides={"message_id": each}) for each in ids]
    await qq.say_group("30001", "20001", "x", sent_at=1_773_153_399_000, overrides={"self_id": "10001"})
    frames = (await bot.wait_frames(5))[1:]
    assert said == [frame["message_id"] for frame in frames[:3]] == ids
    assert (frames[3]["group_id"], frames[3]["self_id"], frames[3]["time"]) == (
        "30001",
        "10001",
        1773153399000,
    )
    for each in ids:
        assert (await bot.ask("get_msg", message_id=each))["data"]["message_id"] == each


async def test_people_who_are_hard_to_know(bot: Bot, qq: OneBotClient):
    await qq.say_anonymous(GROUP, "猜我是谁")
    await qq.say_group(GROUP, 20002, "你好", role=None, card=None)
    await qq.say_group(GROUP, 20003, "你好", role="owner", overrides={"anonymous": None})
    masked, bare, owner = (await bot.wait_frames(4))[1:]
    assert (masked["user_id"], masked["sub_type"], masked["anonymous"]["name"]) == (
        80_000_000,
        "anonymous",
        "匿名",
    )
    assert "role" not in bare["sender"]
    assert bare["sender"]["card"] is None
    assert (owner["anonymous"], owner["sender"]["role"]) == (None, "owner")
    assert (await bot.ask("get_group_member_info", group_id=GROUP, user_id=20003))["data"]["role"] == "owner"
    assert (await bot.ask("get_group_member_info", group_id=GROUP, user_id=1))["retcode"] == 100


async def test_both_forms_of_a_message(bot: Bot, qq: OneBotClient):
    segments = [face(14), image("https://a.cn/x?a=1&b=2")]
    await qq.say(20001, segments, group_id=GROUP, is_string=True)
    await qq.say_group(GROUP, 20001, "接着说", reply_to="never-written")
    string, quoting = (await bot.wait_frames(3))[1:]
    assert string["message"] == as_string(segments)
    assert "&amp;b=2" in string["message"]
    assert quoting["message"][0] == {"type": "reply", "data": {"id": "never-written"}}
    assert (await bot.ask("get_msg", message_id="never-written"))["retcode"] == 100


async def test_malformed_frames_arrive_as_they_are(bot: Bot, qq: OneBotClient):
    for frame in MALFORMED.values():
        await qq.send_raw(frame)
    await qq.say_private(20001, "还在吗")
    frames = await bot.wait_frames(len(MALFORMED) + 2)
    assert frames[-1]["raw_message"] == "还在吗"
    assert None in frames
    assert [] in frames


async def test_a_half_open_connection_blocks_a_second_one(bot: Bot, qq: OneBotClient):
    old = bot.connections["10001"]
    qq.go_half_open()
    with pytest.raises(ConnectionError):
        await qq.say_private(20001, "听得见吗")
    await bot.call(old, "send_private_msg", user_id=20001, message="一")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await (await old.ping())
    with pytest.raises(HandshakeRefused):
        await qq.connect()
    assert not qq.sent
    old.transport.abort()
    async with asyncio.timeout(5):
        while "10001" in bot.connections:
            await asyncio.sleep(0.01)
    await qq.connect()
    await qq.say_private(20001, "又通了")
    assert (await bot.wait_frames(3))[-1]["raw_message"] == "又通了"


async def test_a_twin_is_the_same_account(bot: Bot, qq: OneBotClient):
    twin = qq.twin()
    with pytest.raises(HandshakeRefused):
        await twin.connect()
    assert qq.is_connected
    assert not twin.is_connected
    said = await qq.say_private(20001, "你好")
    assert (await bot.ask("get_msg", message_id=said))["retcode"] == 0


async def test_answers_that_are_no_success(bot: Bot, qq: OneBotClient):
    qq.script.add("send_group_msg", TIMED_OUT)
    qq.script.add("send_group_msg", TIMED_OUT_AND_LOST, times=2)
    qq.script.add("send_group_msg", NO_PERMISSION)
    qq.script.add("send_group_msg", Failure(is_async=True, is_delivered=True))
    answers = [await bot.ask("send_group_msg", group_id=GROUP, message=str(n)) for n in range(6)]
    assert [answer["retcode"] for answer in answers] == [1200, 1200, 1200, 102, 1, 0]
    assert answers[4]["status"] == "async"
    assert [sent.text for sent in qq.sent] == ["0", "4", "5"]
    assert qq.script.left == 0


async def test_muted_and_removed_for_as_long_as_it_lasts(bot: Bot, qq: OneBotClient):
    async def code() -> int:
        return (await bot.ask("send_group_msg", group_id=GROUP, message="好"))["retcode"]

    await qq.mute(GROUP, seconds=60)
    assert [await code(), await code()] == [120, 120]
    assert (await bot.ask("send_group_msg", group_id=GROUP + 1, message="好"))["retcode"] == 0
    await qq.unmute(GROUP)
    assert await code() == 0
    await qq.leave_group(GROUP)
    assert await code() == 102
    await qq.join_group(GROUP)
    assert await code() == 0
    notices = [frame for frame in bot.frames if isinstance(frame, dict) and "notice_type" in frame]
    assert [(each["notice_type"], each["sub_type"]) for each in notices] == [
        ("group_ban", "ban"),
        ("group_ban", "lift_ban"),
        ("group_decrease", "kick_me"),
        ("group_increase", "invite"),
    ]
    assert (notices[0]["user_id"], notices[0]["duration"]) == (10001, 60)


@pytest.mark.parametrize("field", ["message", "messages"])
async def test_merged_forwards(bot: Bot, qq: OneBotClient, field: str):
    contents: list[Any] = ["一", [{"type": "text", "data": {"text": "二"}}]]
    nodes = [
        {"type": "node", "data": {"user_id": "10001", "nickname": "我", "content": each}} for each in contents
    ]
    await bot.ask("send_group_forward_msg", group_id=GROUP, **{field: nodes})
    sent = await qq.next_sent()
    assert (sent.is_forward, sent.nodes, sent.text, sent.group_id) == (True, ("一", "二"), "一\n二", GROUP)
    await bot.ask("send_private_forward_msg", user_id=20001, **{field: nodes})
    assert (await qq.next_sent()).group_id is None


async def test_what_the_account_said_comes_back(bot: Bot):
    async with OneBotClient(bot.url, reports_self=True) as qq:
        await bot.wait_frames(1)
        segments = [{"type": "reply", "data": {"id": "7"}}, {"type": "text", "data": {"text": "好"}}]
        await bot.ask("send_group_msg", group_id=GROUP, message=segments)
        own = (await bot.wait_frames(3))[-1]
        assert qq.sent[0].reply_to == "7"
    assert (own["post_type"], own["user_id"], own["message_id"]) == (
        "message_sent",
        10001,
        qq.sent[0].message_id,
    )


async def test_heartbeats_and_other_notices(bot: Bot, qq: OneBotClient):
    await qq.heartbeat(is_online=False)
    await qq.notice("group_recall", group_id=GROUP, user_id=20001, message_id=1)
    beat, recall = (await bot.wait_frames(3))[1:]
    assert beat["status"] == {"online": False, "good": True}
    assert recall["notice_type"] == "group_recall"


async def test_the_handshake_may_be_odd(bot: Bot):
    async with OneBotClient(bot.url, headers={"X-Self-ID": None, "X-Client-Role": "Event"}):
        await bot.wait_frames(1)
        assert "" in bot.connections


async def test_an_event_by_post():
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(204 if "X-Signature" in request.headers else 401)

    transport = httpx.MockTransport(answer)
    event = {"post_type": "meta_event"}
    assert await post_event("http://bot.test/", event, transport=transport) == 401
    assert await post_event("http://bot.test/", event, secret="s", self_id=None, transport=transport) == 204
    assert await post_event("http://bot.test/", b"null", secret="s", transport=transport) == 204
    assert "X-Self-ID" not in requests[1].headers
    assert requests[0].headers["X-Self-ID"] == "10001"
    signature = hmac.new(b"s", requests[1].content, hashlib.sha1).hexdigest()
    assert requests[1].headers["X-Signature"] == f"sha1={signature}"
