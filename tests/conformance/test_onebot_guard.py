"""OneBot's door before the real adapter: over a real websocket with the client simulator, and by HTTP posts."""

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from loguru import logger
from nonebot.adapters import Bot, Event
from nonebot.adapters.onebot.v11.config import Config
from starlette.types import ASGIApp
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from bot.channels.onebot_adapter import OneBotAdapter
from bot.channels.onebot_guard import LIMIT_CHARACTERS, POSTS, SOCKETS, OneBotGuard, check_post, check_token
from simulators.onebot import HandshakeRefused, OneBotClient
from tests.conformance.guarded_app import GuardedApp, guarded_app, served
from tests.shared_files import require_shared

ENTRIES: list[dict[str, Any]] = json.loads(
    require_shared("fixtures/onebot_v11_payloads.json").read_text("utf-8")
)
TOKEN = "a-token"
SECRET = "a-secret"


def of_kind(kind: str) -> list[Any]:
    return [pytest.param(entry, id=entry["id"]) for entry in ENTRIES if entry["kind"] == kind]


@dataclass(kw_only=True)
class Door:
    """A running bot that answers every message with 「收到」."""

    behind: GuardedApp
    port: int
    http: httpx.AsyncClient
    refusals: list[int]

    def client(self, self_id: int = 10001, token: str | None = TOKEN) -> OneBotClient:
        return OneBotClient(self.url("/onebot/v11/ws"), self_id=self_id, access_token=token)

    def url(self, path: str) -> str:
        return f"ws://127.0.0.1:{self.port}{path}"

    async def knock(self, headers: Any, path: str = "/onebot/v11/ws") -> int:
        """The status of a handshake; 101: it was accepted."""
        try:
            async with connect(self.url(path), additional_headers=headers, proxy=None):
                return 101
        except InvalidStatus as refused:
            return refused.response.status_code

    async def post(self, body: bytes, headers: Any, path: str = "/onebot/v11/http") -> int:
        answer = await self.http.post(path, content=body, headers=headers)
        await self.behind.settle()
        return answer.status_code

    @property
    def messages(self) -> list[Any]:
        return [event for event in self.behind.seen if event.get_type() == "message"]

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not is_so():
                await asyncio.sleep(0.005)


@pytest.fixture
def onebot(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    @asynccontextmanager
    async def running(
        *, token: str = TOKEN, secret: str = "", self_ids: tuple[str, ...] = (), is_guarded: bool = True
    ) -> AsyncIterator[Door]:
        config = Config.model_validate({"onebot_access_token": token, "onebot_secret": secret or None})
        monkeypatch.setattr("nonebot.adapters.onebot.v11.adapter.get_plugin_config", lambda _: config)
        refusals: list[int] = []

        class Count:
            def refused(self) -> None:
                refusals.append(1)

        def guard(app: ASGIApp) -> ASGIApp:
            guarded = OneBotGuard(app, access_token=token, secret=secret, self_ids=self_ids, watch=Count())
            return guarded if is_guarded else app

        async def answer(bot: Bot, event: Event) -> None:
            if event.get_type() == "message" and bot.self_id in bot.adapter.connections:  # pyright: ignore[reportAttributeAccessIssue]
                await bot.send(event, "收到")

        async with AsyncExitStack() as stack:
            behind = await stack.enter_async_context(guarded_app(OneBotAdapter, guard, handler=answer))
            port = await stack.enter_async_context(served(behind.app))
            http = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False)
            await stack.enter_async_context(http)
            yield Door(behind=behind, port=port, http=http, refusals=refusals)

    return running


OneBot = Callable[..., Any]


def test_the_file_holds_what_these_tests_read() -> None:
    assert len(of_kind("onebot_ws_handshake")) >= 2
    assert len(of_kind("onebot_http_post")) >= 1
    assert len(of_kind("onebot_http_signature")) >= 2
    assert len(of_kind("onebot_event")) >= 17


@pytest.mark.parametrize("entry", of_kind("onebot_ws_handshake"))
async def test_handshake(entry: dict[str, Any], onebot: OneBot) -> None:
    async with onebot(token=entry["input"]["server_token"]) as door:
        assert await door.knock(entry["input"]["headers"]) == 403
        assert (door.behind.reached, door.refusals) == ([], [1])


@pytest.mark.parametrize("entry", of_kind("onebot_http_post"))
async def test_post_without_a_secret(entry: dict[str, Any], onebot: OneBot) -> None:
    """A post's forged bot would also have kept the true one out."""
    given = entry["input"]
    config = given["server_config"]
    async with onebot(token=config["onebot_access_token"], secret=config["onebot_secret"] or "") as door:
        token = {"Authorization": f"Bearer {config['onebot_access_token']}"}
        for headers in (given["headers"], given["headers"] | token):
            status = await door.post(json.dumps(given["body"]).encode(), headers, given["path"])
            assert status == entry["expected"]["required_status"]
        assert door.behind.reached == []
        async with door.client(token=config["onebot_access_token"]) as qq:
            await qq.say_private(20001, "在吗")
            assert (await qq.next_sent()).text == "收到"


@pytest.mark.parametrize("entry", of_kind("onebot_http_signature"))
async def test_post_with_a_secret(entry: dict[str, Any], onebot: OneBot) -> None:
    given = entry["input"]
    async with onebot(secret=given["secret"]) as door:
        assert await door.post(given["raw_body"].encode(), given["headers"]) == entry["expected"]["status"]
        assert len(door.behind.seen) == (1 if entry["expected"]["status"] == 204 else 0)


def signed(body: bytes, self_id: str = "10001", secret: str = SECRET) -> dict[str, str]:
    return {"X-Self-ID": self_id, "X-Signature": f"sha1={hmac.digest(secret.encode(), body, 'sha1').hex()}"}


MESSAGE: dict[str, Any] = next(entry["input"] for entry in ENTRIES if entry["id"] == "ob-napcat-private")
BODY = json.dumps(MESSAGE).encode()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (signed(BODY), 204),
        ({"X-Self-ID": "10001"}, 401),
        ({"X-Self-ID": "10001", "X-Signature": ""}, 403),
        ({"X-Self-ID": "10001", "X-Signature": "sha1=zz"}, 403),
        (signed(BODY, secret="another"), 403),
        (signed(BODY + b" "), 403),
        ([*signed(BODY).items(), ("X-Signature", signed(BODY)["X-Signature"])], 403),
        ([*signed(BODY).items(), ("X-Self-ID", "10001")], 400),
        ({"X-Signature": signed(BODY)["X-Signature"]}, 400),
        (signed(BODY, self_id="10002"), 403),
        (signed(BODY, self_id="10001/../x"), 400),
    ],
)
async def test_a_post_proves_itself_and_names_its_bot(headers: Any, status: int, onebot: OneBot) -> None:
    async with onebot(secret=SECRET) as door:
        for path in sorted(POSTS):
            assert await door.post(BODY, headers, path) == status
        assert len(door.messages) == (len(POSTS) if status == 204 else 0)


@pytest.mark.parametrize(
    "body",
    [
        b"null",
        b"[]",
        b'"x"',
        b"{",
        b"",
        b"\xff",
        b"{}",
        b'{"status":"ok","echo":"1"}',
        b'{"post_type":"message"}',
    ],
)
async def test_a_signed_post_that_is_no_event_is_400(body: bytes, onebot: OneBot) -> None:
    async with onebot(secret=SECRET) as door:
        assert await door.post(body, signed(body)) == 400
        assert door.behind.reached == []


async def test_a_post_beyond_the_cap_is_413(onebot: OneBot) -> None:
    body = json.dumps(MESSAGE | {"raw_message": "x" * LIMIT_CHARACTERS}).encode()
    async with onebot(secret=SECRET) as door:
        assert await door.post(body, signed(body)) == 413
        assert door.behind.reached == []


async def test_a_bot_that_posted_does_not_keep_its_connection_out(onebot: OneBot) -> None:
    async with onebot(secret=SECRET) as door:
        assert await door.post(BODY, signed(BODY)) == 204
        assert "10001" in door.behind.driver.bots
        async with door.client() as qq:
            await qq.say_private(20001, "在吗")
            assert (await qq.next_sent()).text == "收到"
            assert await door.post(BODY, signed(BODY)) == 204
        assert len(door.messages) == 3


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        ([f"Bearer {TOKEN}"], 101),
        ([f"bearer {TOKEN}"], 101),
        ([f"Token {TOKEN}"], 101),
        ([], 403),
        ([TOKEN], 403),
        ([f"Basic {TOKEN}"], 403),
        ([f"Bearer {TOKEN} "], 101),
        ([f"Bearer  {TOKEN}"], 403),
        ([f"Bearer {TOKEN}x"], 403),
        ([f"Bearer {TOKEN[:-1]}"], 403),
        ([f"Bearer {TOKEN}"] * 2, 403),
        (["Bearer x", f"Bearer {TOKEN}"], 403),
    ],
)
@pytest.mark.parametrize("is_guarded", [True, False])
async def test_the_token(authorization: list[str], status: int, is_guarded: bool, onebot: OneBot) -> None:
    """The adapter holds to the same rule, should the guard ever be missing."""
    async with onebot(is_guarded=is_guarded) as door:
        headers = [("X-Self-ID", "10001"), *(("Authorization", value) for value in authorization)]
        assert await door.knock(headers) == status
        assert await door.knock(headers, "/onebot/v11/ws?access_token=a-token") == status


@pytest.mark.parametrize("is_guarded", [True, False])
async def test_without_a_token_nobody_connects(is_guarded: bool, onebot: OneBot) -> None:
    async with onebot(token="", is_guarded=is_guarded) as door:
        for headers in ({}, {"Authorization": "Bearer "}, {"Authorization": "Bearer"}, {"Authorization": ""}):
            assert await door.knock({"X-Self-ID": "10001"} | headers) == 403
    assert check_token((b"Bearer ",), "") is not None
    assert check_post((b"sha1=" + b"0" * 40,), "10001", BODY, "") is not None


async def test_only_bots_of_the_list_connect(onebot: OneBot) -> None:
    async with onebot(self_ids=("10001", "10002"), secret=SECRET) as door:
        for self_id, status in (("10001", 101), ("10002", 101), ("10003", 403), ("1000", 403), ("", 403)):
            headers = {"X-Self-ID": self_id, "Authorization": f"Bearer {TOKEN}"}
            assert await door.knock(headers) == status
        both = [("X-Self-ID", "10003"), ("X-Self-ID", "10001"), ("Authorization", f"Bearer {TOKEN}")]
        assert await door.knock(both) == 403
        body = json.dumps(MESSAGE | {"self_id": 10003}).encode()
        assert await door.post(body, signed(body, self_id="10003")) == 403
        assert door.messages == []


async def test_the_guard_knows_every_address_of_the_adapter(onebot: OneBot) -> None:
    async with onebot() as door:
        routes: list[Any] = [
            route for route in door.behind.driver.server_app.routes if "onebot" in getattr(route, "path", "")
        ]
        assert {route.path for route in routes if getattr(route, "methods", None)} == POSTS
        assert {route.path for route in routes if not getattr(route, "methods", None)} == SOCKETS
        for path in (*SOCKETS, *(f"{path}%0a" for path in SOCKETS)):
            assert await door.knock({"X-Self-ID": "10001"}, path) == 403
        for path in (*POSTS, *(f"{path}%0a" for path in POSTS)):
            assert await door.post(BODY, {"X-Self-ID": "10001"}, path) == 401
        assert door.behind.reached == []
        assert await door.knock({}, "/onebot/v11/other") == 403
        assert await door.post(BODY, {}, "/livez") == 404
        assert door.behind.reached == ["/onebot/v11/other", "/livez"]


BAD_FRAMES: list[str | bytes] = [
    "{密码是 8866", "[]", "null", '"密码是 8866"', "", b"\xff\xfe", "[" * 100_000,
    json.dumps(MESSAGE | {"post_type": 5}), json.dumps(MESSAGE | {"time": "９" * 30}),
    json.dumps(MESSAGE | {"time": "9" * 5000}), json.dumps(MESSAGE | {"self_id": "1" * 400}),
    '{"echo":"' + "9" * 5000 + '"}', '{"echo":"²"}', '{"echo":[]}', json.dumps(MESSAGE | {"message": 5}),
    json.dumps(MESSAGE | {"raw_message": "密码是 8866" * LIMIT_CHARACTERS})[: LIMIT_CHARACTERS + 1],
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(BAD_FRAMES)))
async def test_a_bad_frame_ends_nothing_and_is_not_quoted(number: int, onebot: OneBot) -> None:
    lines: list[str] = []
    sink = logger.add(lambda line: lines.append(str(line)), level="INFO")
    try:
        async with onebot() as door, door.client() as qq:
            await qq.send_raw(BAD_FRAMES[number])
            await qq.say_private(20001, "在吗")
            assert (await qq.next_sent()).text == "收到"
            assert len(door.messages) == 1
    finally:
        logger.remove(sink)
    assert "8866" not in "".join(lines)
    assert "Traceback" not in "".join(lines)


async def test_every_event_of_the_samples_leaves_the_connection_whole(onebot: OneBot) -> None:
    async with onebot() as door, door.client() as qq:
        for entry in of_kind("onebot_event"):
            await qq.send_event(entry.values[0]["input"])
        await qq.say_private(20009, "最后一句")
        await door.until(lambda: "20009" in [event.get_user_id() for event in door.messages])


async def test_text_that_is_no_utf8_ends_that_connection_alone(onebot: OneBot) -> None:
    """RFC 6455 has the server close it; the client comes back, and the others never noticed."""
    async with onebot() as door, door.client(10002) as other, door.client() as qq:
        connection: Any = qq._connection
        await connection.send(b"\xff\xfe", text=True)
        await qq.wait_closed()
        await qq.close()
        await qq.connect()
        for client in (qq, other):
            await client.say_private(20001, "在吗")
            assert (await client.next_sent()).text == "收到"


async def test_the_newest_connection_of_a_bot_wins(onebot: OneBot) -> None:
    async with onebot() as door, door.client() as old:
        await old.say_private(20001, "一")
        assert (await old.next_sent()).text == "收到"
        async with door.client() as new:
            await old.wait_closed()
            await new.say_private(20001, "二")
            assert (await new.next_sent()).text == "收到"
            assert len(old.sent) == 1
            old_connection: Any = old._connection
            assert old_connection.close_code == 1008
        await door.until(lambda: not door.behind.driver.bots)
        assert not door.behind.adapter.connections and not door.behind.adapter._seats


async def test_a_half_open_connection_does_not_keep_the_bot_out(onebot: OneBot) -> None:
    """The old end is silent: it reads nothing and answers no close frame."""
    async with onebot() as door:
        old = await connect(
            door.url("/onebot/v11/ws"),
            additional_headers={"X-Self-ID": "10001", "Authorization": f"Bearer {TOKEN}"},
            proxy=None,
        )
        await door.until(lambda: "10001" in door.behind.driver.bots)
        old.transport.pause_reading()
        half_open = door.behind.driver.bots["10001"]
        async with door.client() as new:
            await new.say_private(20001, "在吗")
            assert (await new.next_sent(5)).text == "收到"
            assert door.behind.driver.bots["10001"] is not half_open
        old.transport.abort()


async def test_of_many_at_once_one_remains(onebot: OneBot) -> None:
    async with onebot() as door:
        headers = {"X-Self-ID": "10001", "Authorization": f"Bearer {TOKEN}"}
        opening = [
            connect(door.url("/onebot/v11/ws"), additional_headers=headers, proxy=None) for _ in range(12)
        ]
        results = await asyncio.gather(*opening, return_exceptions=True)
        opened: list[Any] = [each for each in results if not isinstance(each, BaseException)]
        assert all(isinstance(each, InvalidStatus) for each in results if each not in opened)
        alive = []
        for each in opened:
            try:
                await each.send(json.dumps(MESSAGE))
                async with asyncio.timeout(2):
                    call = json.loads(await each.recv())
                await each.send(json.dumps({"status": "ok", "retcode": 0, "data": {}, "echo": call["echo"]}))
                alive.append(call["action"])
            except (ConnectionClosed, TimeoutError):
                continue
        assert alive == ["send_msg"]
        assert len(door.behind.driver.bots) == 1
        for each in opened:
            await each.close()
        await door.until(lambda: not door.behind.driver.bots)


async def test_a_stranger_ends_nobody_elses_connection(onebot: OneBot) -> None:
    for is_guarded in (True, False):
        async with onebot(is_guarded=is_guarded) as door, door.client() as qq:
            for token in (None, "", "wrong"):
                with pytest.raises(HandshakeRefused):
                    await door.client(token=token).connect()
            await qq.say_private(20001, "在吗")
            assert (await qq.next_sent()).text == "收到"


async def test_the_id_of_another_platforms_bot_is_refused(onebot: OneBot) -> None:
    async with onebot() as door:
        door.behind.driver._bots["10001"] = object()  # pyright: ignore[reportArgumentType]
        headers = {"X-Self-ID": "10001", "Authorization": f"Bearer {TOKEN}"}
        assert await door.knock(headers) == 403
        del door.behind.driver._bots["10001"]
        assert await door.knock(headers) == 101
