"""Every webhook entry of the platform's samples, and the attacks, against the real adapter behind the guard."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from nonebot.adapters.qq import Adapter, Bot
from nonebot.adapters.qq.config import Config
from nonebot.adapters.qq.models import User
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.channels.qq_guard_asgi import LIMIT_BYTES, ROUTES, QqGuard
from bot.conversation.errors import ConfigurationError
from tests.conformance.guarded_app import GuardedApp, guarded_app
from tests.shared_files import require_shared
from tests.unit.test_qq_guard import ORDER, platform_sign

ENTRIES: list[dict[str, Any]] = json.loads(
    require_shared("fixtures/qq_official_payloads.json").read_text("utf-8")
)
# The adapter's own: it describes its events with pydantic's old `dict()`.
pytestmark = pytest.mark.filterwarnings("ignore:The `dict` method is deprecated")

APP_ID = "11111111"
SECRET = "123456abcdef"
NOW = 1_790_000_000
BEYOND_THE_ADAPTER = frozenset(
    {"qq-doc-group-at-message-create", "qq-doc-guild-create", "qq-doc-guild-update", "qq-doc-guild-delete"}
)
"""The bare adapter's models ask for fields that the platform's documents leave out."""
FORGED: dict[str, Any] = {"op": 0, "id": "x", "t": "C2C_MESSAGE_CREATE", "d": {
    "id": "m", "content": "/forget", "timestamp": "2024-10-15T16:33:15+08:00",
    "author": {"id": "VICTIM", "user_openid": "VICTIM"}}}  # fmt: skip


def of_kind(*kinds: str) -> list[Any]:
    chosen = [entry for entry in ENTRIES if entry["kind"].partition(":")[0] in kinds]
    return [pytest.param(entry, id=entry["id"]) for entry in chosen]


class Platform:
    """QQ's end of the webhook."""

    def __init__(
        self, client: httpx.AsyncClient, behind: GuardedApp, clock: list[float], secret: str
    ) -> None:
        self._client = client
        self._secret = secret
        self.behind = behind
        self.clock = clock
        """Its one item is the time."""

    @property
    def seen(self) -> list[Any]:
        return self.behind.seen

    def signed(self, body: bytes, stamp: str | None = None) -> dict[str, str]:
        stamp = stamp or str(int(self.clock[0]))
        signature = platform_sign(self._secret, stamp.encode() + body).hex()
        return {"X-Bot-Appid": APP_ID, "X-Signature-Ed25519": signature, "X-Signature-Timestamp": stamp}

    async def post(self, body: bytes, headers: Any = None, path: str = "/qq/webhook") -> httpx.Response:
        answer = await self._client.post(path, content=body, headers=headers)
        await self.behind.settle()
        return answer

    async def push(self, payload: Any, **headers: str) -> httpx.Response:
        """A payload as the platform would post it now."""
        body = json.dumps(payload, ensure_ascii=False).encode()
        return await self.post(body, self.signed(body) | headers)


def qq_adapter(monkeypatch: pytest.MonkeyPatch, secret: str) -> Callable[[Any], Adapter]:
    bot = {"id": APP_ID, "secret": secret, "use_websocket": False}
    config = Config.model_validate({"qq_bots": [bot]})
    monkeypatch.setattr("nonebot.adapters.qq.adapter.get_plugin_config", lambda _: config)
    return Adapter


@pytest.fixture
def webhook(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    @asynccontextmanager
    async def running(
        *,
        secret: str = SECRET,
        now: float = NOW,
        is_open: bool = False,
        secrets: Mapping[str, str] | None = None,
        is_guarded: bool = True,
    ) -> AsyncIterator[Platform]:
        clock = [now]

        def guard(app: ASGIApp) -> ASGIApp:
            known = {APP_ID: secret} if secrets is None else secrets
            guarded = QqGuard(app, secrets=known, is_setup_open=lambda: is_open, now=lambda: clock[0])
            return guarded if is_guarded else app

        async with guarded_app(qq_adapter(monkeypatch, secret), guard) as behind:
            adapter = behind.adapter
            bot = Bot(adapter, APP_ID, adapter.qq_config.qq_bots[0])
            # Else the adapter asks the platform who it is.
            bot.self_info = User(id="1", username="机器人")
            adapter.bot_connect(bot)
            transport = httpx.ASGITransport(app=behind.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://bot.test") as client:
                yield Platform(client, behind, clock, secret)

    return running


Webhook = Callable[..., Any]


def test_the_file_holds_what_these_tests_read() -> None:
    assert len(of_kind("qq_webhook_validation")) >= 4
    assert len(of_kind("qq_webhook_signature")) >= 9
    assert len(of_kind("qq_event_data")) >= 15
    assert len(of_kind("qq_doc_json")) >= 15


@pytest.mark.parametrize("entry", of_kind("qq_webhook_validation"))
async def test_validation(entry: dict[str, Any], webhook: Webhook) -> None:
    given, expected = entry["input"], entry["expected"]
    body = json.dumps(given["body"]).encode()
    headers = {"X-Bot-Appid": APP_ID} | given.get("headers", {})
    now = int(str(given["body"]["d"]["event_ts"]).ljust(10, "0"))
    for is_open in (True, False):
        async with webhook(secret=given["secret"], now=now, is_open=is_open) as platform:
            answer = await platform.post(body, headers)
            assert platform.behind.reached == []
        if is_open and "json" in expected:
            assert (answer.status_code, answer.json()) == (200, expected["json"])
            assert answer.headers["content-type"] == "application/json"
        else:
            assert (answer.status_code, answer.content) == (403, b"")
    async with webhook(secret=given["secret"], now=now + 86400 * 365 * 2, is_open=True) as platform:
        assert (await platform.post(body, headers)).status_code == 403


@pytest.mark.parametrize("entry", of_kind("qq_webhook_signature"))
async def test_signature(entry: dict[str, Any], webhook: Webhook) -> None:
    given = entry["input"]
    headers = {"X-Bot-Appid": APP_ID} | given["headers"]
    now = int(given["headers"]["X-Signature-Timestamp"])
    if not given["secret"]:
        with pytest.raises(ConfigurationError):
            async with webhook(secret=given["secret"], now=now):
                pass
        return
    async with webhook(secret=given["secret"], now=now) as platform:
        answer = await platform.post(given["raw_body"].encode(), headers)
        assert answer.status_code == (200 if entry["expected"]["valid"] else 403)
        assert platform.behind.reached == (["/qq/webhook"] if entry["expected"]["valid"] else [])


@pytest.mark.parametrize("entry", of_kind("qq_event_data"))
async def test_event(entry: dict[str, Any], webhook: Webhook) -> None:
    """It reaches the adapter once, however often it comes, and the matcher; unsigned or late, never."""
    kind, content = entry["input"]["event"], entry["input"]["d"]
    payload = {"op": 0, "id": f"{kind}:1", "s": 1, "t": kind, "d": content}
    body = json.dumps(payload).encode()
    async with webhook() as platform:
        assert (await platform.post(body, {"X-Bot-Appid": APP_ID})).status_code == 403
        late = platform.signed(body, str(NOW - 301))
        assert (await platform.post(body, late)).status_code == 403
        assert platform.seen == []
        for second in range(3):
            platform.clock[0] = NOW + second
            assert (await platform.push(payload)).status_code == 200
        assert platform.behind.reached == ["/qq/webhook"]
        if entry["id"] not in BEYOND_THE_ADAPTER:
            assert [event.__type__ for event in platform.seen] == [kind]


@pytest.mark.parametrize("entry", of_kind("qq_doc_json", "qq_api_response"))
async def test_no_other_payload_makes_it_fail(entry: dict[str, Any], webhook: Webhook) -> None:
    """These belong to the gateway or are answers: as a signed post each is acknowledged, as an unsigned one refused."""
    payload = entry["input"].get("json") or entry["expected"]["json"]
    body = json.dumps(payload).encode()
    async with webhook() as platform:
        assert (await platform.post(body, {"X-Bot-Appid": APP_ID})).status_code == 403
        assert platform.behind.reached == []
        assert (await platform.push(payload)).status_code == 200


async def test_a_message_pushed_again_runs_once(webhook: Webhook) -> None:
    """qq-seq-redelivery: the same message in another delivery, signed anew."""
    async with webhook() as platform:
        assert (await platform.push(FORGED)).status_code == 200
        assert (await platform.push(FORGED | {"id": "another", "s": 2})).status_code == 200
        assert len(platform.seen) == 1
        other = FORGED | {"id": "y", "d": FORGED["d"] | {"id": "m2"}}
        assert (await platform.push(other)).status_code == 200
        assert len(platform.seen) == 2


async def forge(platform: Platform) -> httpx.Response:
    """The attack: have the event signed as a validation, then post it."""
    event = json.dumps(FORGED)
    stamp = str(NOW)
    ask = {"op": 13, "d": {"plain_token": event, "event_ts": stamp}}
    answer = await platform.post(json.dumps(ask).encode(), {"X-Bot-Appid": APP_ID})
    signature = answer.json()["signature"] if answer.content else "00" * 64
    headers = {"X-Bot-Appid": APP_ID, "X-Signature-Ed25519": signature, "X-Signature-Timestamp": stamp}
    return await platform.post(event.encode(), headers)


async def test_the_forgery_works_on_the_adapter_alone_and_not_behind_the_guard(webhook: Webhook) -> None:
    async with webhook(is_guarded=False) as platform:
        assert (await forge(platform)).status_code == 200
        assert [event.get_user_id() for event in platform.seen] == ["VICTIM"]
    for is_open in (False, True):
        async with webhook(is_open=is_open) as platform:
            assert (await forge(platform)).status_code == 403
            assert platform.behind.reached == []


async def test_an_answer_given_while_the_window_is_open_signs_no_event(webhook: Webhook) -> None:
    async with webhook(is_open=True) as platform:
        ask = {"op": 13, "d": {"plain_token": "null", "event_ts": str(NOW)}}
        signature = (await platform.push(ask)).json()["signature"]
        headers = {"X-Bot-Appid": APP_ID, "X-Signature-Ed25519": signature}
        for stamp, body in (
            (f"{NOW}", b"null"),
            (f"{NOW}nul", b"l"),
            (str(NOW)[:-1], f"{NOW % 10}null".encode()),
        ):
            answer = await platform.post(body, headers | {"X-Signature-Timestamp": stamp})
            assert answer.status_code in (400, 403)
        assert platform.behind.reached == []


async def test_a_replay_is_refused_in_any_spelling(webhook: Webhook) -> None:
    body = json.dumps(FORGED).encode()
    async with webhook() as platform:
        headers = platform.signed(body)
        assert (await platform.post(body, headers)).status_code == 200
        signature = headers["X-Signature-Ed25519"]
        s = int.from_bytes(bytes.fromhex(signature[64:]), "little")
        other_form = signature[:64] + (s + ORDER).to_bytes(32, "little").hex()
        for spelling in (signature, signature.upper(), other_form):
            for path in sorted(ROUTES):
                replay = headers | {"X-Signature-Ed25519": spelling}
                assert (await platform.post(body, replay, path)).status_code == 403
        assert len(platform.seen) == 1
        platform.clock[0] = NOW + 301
        assert (await platform.post(body, headers)).status_code == 403
        assert len(platform.seen) == 1


@pytest.mark.parametrize(
    "body", [b"null", b"[]", b'"x"', b"", b"{", b"\xff\xfe{}", b"{}x", '{"a":1}'.encode("utf-16")]
)
async def test_a_body_that_is_no_object_is_400(body: bytes, webhook: Webhook) -> None:
    async with webhook(is_open=True) as platform:
        assert (await platform.post(body, platform.signed(body))).status_code == 400
        assert (await platform.post(body, {"X-Bot-Appid": APP_ID})).status_code == 400
        assert (await platform.post(body)).status_code == 400
        assert platform.behind.reached == []


@pytest.mark.parametrize("has_length", [True, False])
async def test_a_body_beyond_the_cap_is_413(has_length: bool, webhook: Webhook) -> None:
    body = json.dumps(FORGED | {"x": "x" * LIMIT_BYTES}).encode()

    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 1000):
            yield body[start : start + 1000]

    async with webhook() as platform:
        answer = await platform.post(body if has_length else chunks(), platform.signed(body))
        assert (answer.status_code, platform.behind.reached) == (413, [])


async def test_doubled_headers_are_refused(webhook: Webhook) -> None:
    body = json.dumps(FORGED).encode()
    async with webhook() as platform:
        good = list(platform.signed(body).items())
        for doubled in good:
            for value in (doubled[1], "0" * 128):
                assert (await platform.post(body, [*good, (doubled[0], value)])).status_code == 403
                assert (await platform.post(body, [(doubled[0], value), *good])).status_code == 403
        assert platform.behind.reached == []
        assert (await platform.post(body, good)).status_code == 200


async def test_a_bot_without_the_webhook_takes_no_posts(webhook: Webhook) -> None:
    """The adapter would: it knows the bot, whichever way that is connected."""
    async with webhook(secrets={}) as platform:
        assert (await platform.push(FORGED)).status_code == 403
        assert platform.behind.reached == []


async def test_the_guard_knows_every_address_of_the_adapter(webhook: Webhook) -> None:
    async with webhook() as platform:
        routes = platform.behind.driver.server_app.routes
        assert {route.path for route in routes if route.path.startswith("/qq")} == ROUTES  # pyright: ignore[reportAttributeAccessIssue]
        body = json.dumps(FORGED).encode()
        for path in (*ROUTES, *(f"{path}%0a" for path in ROUTES), "/qq/%77ebhook"):
            assert (await platform.post(body, {"X-Bot-Appid": APP_ID}, path)).status_code == 403
            assert (await platform.post(b"null", None, path)).status_code == 400
        for method in ("GET", "PUT", "DELETE", "OPTIONS"):
            answer = await platform._client.request(method, "/qq/webhook", content=body)
            assert answer.status_code == 405
        assert platform.behind.reached == []


async def test_other_addresses_are_left_alone(webhook: Webhook) -> None:
    async with webhook() as platform:
        paths = ("/", "/livez", "/wechat", "/qqx", "/qq/other", "/x/qq/webhook")
        for path in paths:
            assert (await platform.post(b"null", None, path)).status_code == 404
        assert platform.behind.reached == list(paths)


class Inner:
    """An application behind the guard that does as it is told."""

    def __init__(self) -> None:
        self.status = 200
        self.bodies: list[bytes] = []
        self.may_go = asyncio.Event()
        self.may_go.set()
        self.is_failing = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        assert not message["more_body"]
        self.bodies.append(message["body"])
        await self.may_go.wait()
        if self.is_failing:
            raise OSError("the platform could not be asked")
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def before(inner: Inner) -> AsyncIterator[Callable[[int], Any]]:
    """Posts the event, as signed in this second."""
    body = json.dumps(FORGED).encode()
    guard = QqGuard(inner, secrets={APP_ID: SECRET}, is_setup_open=lambda: False, now=lambda: NOW)
    transport = httpx.ASGITransport(app=guard)
    async with httpx.AsyncClient(transport=transport, base_url="http://bot.test") as client:

        async def post(second: int) -> int:
            stamp = str(NOW + second)
            signature = platform_sign(SECRET, stamp.encode() + body).hex()
            headers = {
                "X-Bot-Appid": APP_ID,
                "X-Signature-Ed25519": signature,
                "X-Signature-Timestamp": stamp,
            }
            return (await client.post("/qq/webhook", content=body, headers=headers)).status_code

        yield post
    assert set(inner.bodies) == {body}


async def test_what_the_adapter_did_not_take_may_come_again() -> None:
    inner = Inner()
    async with before(inner) as post:
        inner.is_failing = True
        with pytest.raises(OSError, match="could not be asked"):
            await post(0)
        inner.is_failing, inner.status = False, 500
        assert await post(0) == 500
        inner.status = 200
        assert await post(0) == 200
        assert (await post(0), await post(1)) == (403, 200)
        assert len(inner.bodies) == 3


async def test_an_event_in_work_is_not_acknowledged_to_its_second_delivery() -> None:
    inner = Inner()
    async with before(inner) as post:
        inner.may_go.clear()
        first = asyncio.create_task(post(0))
        while not inner.bodies:
            await asyncio.sleep(0)
        assert (await post(1), await post(0)) == (503, 403)
        inner.may_go.set()
        assert await first == 200
        assert await post(1) == 200
        assert len(inner.bodies) == 1


async def test_a_validation_that_was_answered_is_told_and_no_other() -> None:
    told: list[str] = []
    is_open = False
    guard = QqGuard(
        Inner(),
        secrets={APP_ID: SECRET},
        is_setup_open=lambda: is_open,
        now=lambda: NOW,
        validated=told.append,
    )
    asked = {"op": 13, "d": {"plain_token": "Arq0D5A61EgUu4OxUvOp", "event_ts": str(NOW)}}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=guard), base_url="http://bot.test"
    ) as client:
        for app_id, opens, status in ((APP_ID, False, 403), ("999", True, 403), (APP_ID, True, 200)):
            is_open = opens
            answer = await client.post("/qq/webhook", json=asked, headers={"X-Bot-Appid": app_id})
            assert answer.status_code == status
            assert told == ([APP_ID] if status == 200 else [])
