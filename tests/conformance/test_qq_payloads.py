"""QQ official payloads from the documents, through the adapter's parser, the mapping and the outbox."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest
from loguru import logger
from nonebot.adapters.qq import Bot
from nonebot.adapters.qq.config import BotInfo, Config
from nonebot.adapters.qq.models import Dispatch
from nonebot.drivers import HTTPClientMixin, Request, Response
from pydantic import ValidationError

from bot.channels import qq_adapter
from bot.channels.qq import QQOutbox
from bot.channels.qq_adapter import QQAdapter
from bot.channels.qq_mapping import QQMapping
from bot.channels.qq_pages import QQPages
from bot.conversation.message import Kind, Message, dump_message, load_message
from bot.delivery import SendOutcome, Sent
from tests.shared_files import require_shared

ENTRIES: list[dict[str, Any]] = json.loads(
    require_shared("fixtures/qq_official_payloads.json").read_text("utf-8")
)
CASES: list[dict[str, Any]] = json.loads(require_shared("fixtures/edge_cases.json").read_text("utf-8"))
EVENTS = [entry for entry in ENTRIES if entry["kind"].startswith("qq_event_data:")]
ANSWERS = [entry for entry in ENTRIES if entry["kind"] == "qq_api_response"]
DOCUMENTS = [entry for entry in ENTRIES if entry["kind"] == "qq_doc_json"]
MAPPING = QQMapping(now=lambda: datetime(2026, 3, 1, tzinfo=UTC))
FOLLOWS = {
    "FRIEND_ADD": Kind.FOLLOW,
    "GROUP_ADD_ROBOT": Kind.FOLLOW,
    "FRIEND_DEL": Kind.UNFOLLOW,
    "GROUP_DEL_ROBOT": Kind.UNFOLLOW,
}
TALK = frozenset(
    {"C2C_MESSAGE_CREATE", "GROUP_AT_MESSAGE_CREATE", "AT_MESSAGE_CREATE", "DIRECT_MESSAGE_CREATE"}
)
OUTCOMES = {
    "qq-api-send-c2c-ok": Sent(outcome=SendOutcome.SENT, pages=1),
    "qq-api-audit-202": Sent(outcome=SendOutcome.SENT, pages=1),
    "qq-api-err-40054005": Sent(outcome=SendOutcome.SENT, pages=1),
}
"""The rest is certainly not delivered."""


def names(entry: dict[str, Any]) -> str:
    return entry["id"]


def read(type_: str, data: dict[str, Any], event_id: str = "E1") -> Message | None:
    event = QQAdapter.payload_to_event(
        Dispatch.model_validate({"op": 0, "t": type_, "id": event_id, "d": data})
    )
    return MAPPING.to_message(event, app_id="102", bot_id="B")


def test_the_file_holds_what_these_tests_read() -> None:
    assert len(EVENTS) >= 15
    assert len(ANSWERS) >= 9
    assert len(DOCUMENTS) >= 15


@pytest.mark.parametrize("entry", EVENTS, ids=names)
def test_event(entry: dict[str, Any]) -> None:
    type_, data = entry["input"]["event"], entry["input"]["d"]
    if type_.startswith("GUILD_"):
        # Documented without `owner`, which the adapter asks for: nobody's message, read or not.
        with pytest.raises(ValidationError):
            read(type_, data)
        return
    message = read(type_, data)
    if type_ not in TALK and type_ not in FOLLOWS:
        assert message is None
        return
    assert message is not None
    assert load_message(dump_message(message)) == message
    assert message.kind is FOLLOWS.get(type_, Kind.TEXT)
    assert message.key.endswith(data["id"] if type_ in TALK else ":E1")
    stated = data["timestamp"]
    at = datetime.fromisoformat(stated) if isinstance(stated, str) else datetime.fromtimestamp(stated, UTC)
    assert message.sent_at == at
    if type_ in TALK:
        author = data["author"]
        assert message.sender.openid == (
            author.get("user_openid") or author.get("member_openid") or author["id"]
        )
        assert message.text == data["content"].strip()
        assert message.is_addressed
    place = "" if type_ == "DIRECT_MESSAGE_CREATE" else data.get("group_openid") or data.get("channel_id", "")
    assert message.conversation.group.removeprefix("channel-") == place


@pytest.mark.parametrize("entry", DOCUMENTS, ids=names)
def test_frame_or_document(entry: dict[str, Any]) -> None:
    """Frames of the gateway are read, and are nobody's message; the rest of these are no events."""
    body = entry["input"]["json"]
    if "op" in body:
        payload = QQAdapter.data_to_payload(frameless_bot(), json.dumps(body))
        if isinstance(payload, Dispatch):
            assert MAPPING.to_message(QQAdapter.payload_to_event(payload), app_id="102") is None
    elif "resolved" in body.get("data", {}):
        message = read("INTERACTION_CREATE", body)
        assert message is not None
        assert (message.kind, message.text) == (Kind.CLICK, body["data"]["resolved"]["button_data"])
        assert message.sender.openid == body["data"]["resolved"]["user_id"]
    elif "markdown" in body:
        shown = QQPages("（说明）").shown(body["markdown"]["content"])
        assert shown == "标题\n简介很开心\n内容🔗腾讯（www。qq。com）\n（说明）"
    else:
        assert "t" not in body


class ScriptedPlatform(HTTPClientMixin):
    """A driver whose every send gets one answer, and every token request another."""

    @property
    def type(self) -> str:
        return "scripted"

    def __init__(self, answer: Callable[[Request], Response]) -> None:
        self.answer = answer
        self.sends: list[dict[str, Any]] = []
        self.tokens = 0
        self.session: Any = None
        self.is_hanging = False

    async def request(self, setup: Request) -> Response:
        if self.is_hanging:
            await anyio.sleep_forever()
        if setup.url.path.endswith("getAppAccessToken"):
            self.tokens += 1
            return Response(200, content=json.dumps({"access_token": "t", "expires_in": "7200"}))
        self.sends.append(dict(setup.json) | {"path": setup.url.path, "auth": setup.headers["Authorization"]})
        return self.answer(setup)

    def stream_request(self, setup: Request, *, chunk_size: int = 1024) -> Any:
        raise NotImplementedError

    def get_session(self, *args: Any, **kwargs: Any) -> Any:
        return self.session


def connected(platform: ScriptedPlatform) -> Bot:
    adapter = QQAdapter.__new__(QQAdapter)
    adapter.driver = platform  # type: ignore[assignment]
    adapter.tasks = set()
    adapter.qq_config = Config.model_validate(
        {"qq_api_base": "http://fake/", "qq_auth_base": "http://fake/app/getAppAccessToken"}
    )
    return Bot(adapter, "102", BotInfo(id="102", secret="s"))


def frameless_bot() -> Bot:
    return connected(ScriptedPlatform(lambda setup: Response(500)))


async def sent_by(platform: ScriptedPlatform, key: str, group: str = "", *pages: str) -> Sent:
    bot = connected(platform)

    async def no_pause(seconds: float) -> None: ...

    outbox = QQOutbox(
        lambda: {"102": bot},
        QQPages("（说明）"),
        lambda page, number, total: page,
        pause=no_pause,
    )
    message = read("C2C_MESSAGE_CREATE", {"id": "M", "author": {"user_openid": "U"}, "content": "x"})
    assert message is not None
    stored = json.loads(dump_message(message))
    stored["key"], stored["conversation"]["group"] = key, group
    return await outbox.send(load_message(json.dumps(stored)), pages or ("答",))


@pytest.mark.parametrize("entry", ANSWERS, ids=names)
async def test_answer(entry: dict[str, Any]) -> None:
    expected = entry["expected"]
    answer = Response(expected["http_status"], content=json.dumps(expected["json"]))
    url = entry["input"]["request"]["url"]
    if url.endswith("getAppAccessToken"):
        platform = ScriptedPlatform(lambda setup: Response(200, content='{"id":"x"}'))
        assert expected["json"]["expires_in"] == "7200"
        await sent_by(platform, "c2c:M")
        assert (platform.tokens, platform.sends[0]["auth"]) == (1, "QQBot t")
        return
    kind, group = (
        ("channel", "channel-9") if "channels" in url else ("group", "G") if "groups" in url else ("c2c", "")
    )
    outcome = OUTCOMES.get(entry["id"], Sent(outcome=SendOutcome.FAILED, pages=0))
    assert await sent_by(ScriptedPlatform(lambda setup: answer), f"{kind}:M", group) == outcome
    if kind != "channel" and "err_code" in expected["json"]:
        # The same with HTTP 200, and with the one name for a code that the newer documents have.
        for body in (expected["json"], {"err_code": expected["json"]["code"], "message": ""}):
            success = Response(200, content=json.dumps(body))
            assert (
                await sent_by(ScriptedPlatform(lambda setup, it=success: it), f"{kind}:M", group) == outcome
            )


async def test_the_documented_answer_of_a_channel_is_a_success() -> None:
    """It has an embed that the adapter cannot read."""
    (entry,) = (entry for entry in DOCUMENTS if entry["id"] == "qq-doc-post-messages-3")
    answer = Response(200, content=json.dumps(entry["input"]["json"]))
    sent = await sent_by(ScriptedPlatform(lambda setup: answer), "channel:M", "channel-9")
    assert sent == Sent(outcome=SendOutcome.SENT, pages=1)


async def test_a_token_that_is_refused_is_renewed_once() -> None:
    replies = iter([Response(200, content='{"err_code": 11244}'), Response(200, content='{"id": "x"}')])
    platform = ScriptedPlatform(lambda setup: next(replies))
    assert await sent_by(platform, "c2c:M") == Sent(outcome=SendOutcome.SENT, pages=1)
    assert platform.tokens == 2
    assert [send["msg_seq"] for send in platform.sends] == [1, 1]


def edge(id_: str) -> dict[str, Any]:
    (case,) = (case for case in CASES if case["id"] == id_)
    assert case["platform"] == "qq_official"
    return case


def test_a_redelivery_has_the_same_key() -> None:
    (entry,) = (entry for entry in ENTRIES if entry["kind"] == "qq_sequence")
    assert entry["expected"]["handler_runs"] == 1
    (data,) = (event["input"]["d"] for event in EVENTS if event["id"] == "qq-botgo-c2c-2024")
    first, second = read("C2C_MESSAGE_CREATE", data, "E1"), read("C2C_MESSAGE_CREATE", data, "E2")
    assert first is not None
    assert first == second


async def test_a_second_reply_has_a_number_of_its_own() -> None:
    assert "msg_seq" in edge("E33")["expected"]["behaviour"]
    platform = ScriptedPlatform(lambda setup: Response(200, content='{"id": "x"}'))
    await sent_by(platform, "group:M", "G", "一", "二")
    assert [(send["msg_id"], send["msg_seq"]) for send in platform.sends] == [("M", 1), ("M", 2)]


async def test_nothing_is_ever_pushed() -> None:
    assert "active push" in edge("E34")["expected"]["behaviour"]
    platform = ScriptedPlatform(lambda setup: Response(400, content='{"code": 40034102}'))
    assert await sent_by(platform, "group:M", "G") == Sent(outcome=SendOutcome.FAILED, pages=0)
    assert await sent_by(platform, "mute:FRIEND_ADD:U:0") == Sent(outcome=SendOutcome.FAILED, pages=0)
    assert [send["msg_id"] for send in platform.sends] == ["M"]


def test_the_space_after_the_mention_is_none_of_the_words() -> None:
    assert "strip" in edge("E37")["expected"]["behaviour"]
    (data,) = (event["input"]["d"] for event in EVENTS if event["id"] == "qq-doc-group-at-message-create")
    message = read("GROUP_AT_MESSAGE_CREATE", data | {"content": " /帮助"})
    assert message is not None
    assert message.text == "/帮助"


class Session:
    """A session of the platform's driver."""

    def __init__(self, platform: ScriptedPlatform) -> None:
        self.platform = platform
        self.steps: list[str] = []

    async def setup(self) -> None:
        self.steps.append("setup")

    async def close(self) -> None:
        self.steps.append("close")

    async def request(self, setup: Request) -> Response:
        self.steps.append("request")
        return self.platform.answer(setup)


async def test_one_session_serves_all_calls() -> None:
    platform = ScriptedPlatform(lambda setup: Response(200, content='{"err_code": 40034102}'))
    session = platform.session = Session(platform)
    adapter = connected(platform).adapter
    await adapter.startup()
    answers = [await adapter.request(Request("GET", "http://fake/users/@me")) for _ in range(2)]
    await adapter.shutdown()
    assert [answer.status_code for answer in answers] == [400, 400]
    assert session.steps == ["setup", "request", "request", "close"]


async def test_a_platform_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qq_adapter, "API_SECONDS", 0.0)
    platform = ScriptedPlatform(lambda setup: Response(200))
    platform.is_hanging = True
    with pytest.raises(TimeoutError):
        await connected(platform).adapter.request(Request("GET", "http://fake/x"))


def test_what_cannot_be_read_is_passed_over() -> None:
    bot = frameless_bot()
    lines: list[str] = []
    sink = logger.add(lines.append, level=0)
    for type_ in ("SOMETHING_NEW", "C2C_MESSAGE_CREATE"):
        payload = Dispatch.model_validate({"op": 0, "t": type_, "id": "e", "d": {"content": "私房话"}})
        bot.adapter.dispatch_event(bot, payload)
    logger.remove(sink)
    assert not bot.adapter.tasks
    assert len(lines) == 2
    assert "私房话" not in "".join(lines)
