"""OneBot payloads seen in the wild, through the adapter's parser, the mapping and the outbox."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from nonebot.adapters.onebot.v11 import Bot
from nonebot.adapters.onebot.v11.utils import handle_api_result

from bot.channels.onebot import OneBotOutbox
from bot.channels.onebot_adapter import OneBotAdapter, is_acceptable
from bot.channels.onebot_mapping import OneBotMapping
from bot.channels.onebot_troubles import Troubles
from bot.conversation.message import AccountKey, Conversation, Kind, Message, Role, dump_message, load_message
from bot.delivery import SendOutcome
from tests.alert_fakes import Told
from tests.shared_files import require_shared

ENTRIES: list[dict[str, Any]] = json.loads(
    require_shared("fixtures/onebot_v11_payloads.json").read_text("utf-8")
)
EVENTS = [entry for entry in ENTRIES if entry["kind"] == "onebot_event"]
SENDS = [
    entry
    for entry in ENTRIES
    if entry["kind"] == "onebot_api" and entry["input"]["action"].startswith("send_")
]
OTHER_ANSWERS = [entry for entry in ENTRIES if entry["kind"] == "onebot_api" and entry not in SENDS]


def names(entry: dict[str, Any]) -> str:
    return entry["id"]


def read(payload: dict[str, Any]) -> Message | None:
    assert is_acceptable(json.dumps(payload))
    event = OneBotAdapter.json_to_event(json.loads(json.dumps(payload)))
    self_id = str(payload["self_id"])
    return OneBotMapping().to_message(event, self_id=self_id, app_id=self_id) if event else None


def test_the_file_holds_what_these_tests_read() -> None:
    assert len(EVENTS) >= 17
    assert len(SENDS) >= 4


@pytest.mark.parametrize("entry", EVENTS, ids=names)
def test_event(entry: dict[str, Any]) -> None:
    payload, expected = entry["input"], entry["expected"]
    message = read(payload)
    if payload["post_type"] != "message":
        assert message is None
        return
    assert message is not None
    assert load_message(dump_message(message)) == message
    assert message.conversation.group == str(payload.get("group_id", ""))
    assert message.sent_at == datetime.fromtimestamp(expected.get("time", 1773153399), UTC)
    assert f":{expected.get('message_id', payload['message_id'])}:" in message.key
    if "text" in expected:
        assert message.text == expected["text"]
    if "to_me" in expected:
        assert message.is_addressed is expected["to_me"]
    if "images" in expected:
        assert message.kind is Kind.IMAGE
        urls = [each["data"]["url"] for each in payload["message"] if each["type"] == "image"]
        assert [media.url for media in message.media] == urls
        assert len(urls) == expected["images"]
    if "at_all" in expected:
        assert message.mentioned == ()
    forbidden = expected.get("user_key_must_not_be")
    assert message.sender.openid == ("" if forbidden else str(payload["user_id"]))
    assert message.role is Role(payload["sender"].get("role") or "member")


ASKED = Message(
    key="1:1",
    kind=Kind.TEXT,
    sender=AccountKey(channel="onebot", app_id="10001", openid="20001"),
    conversation=Conversation(channel="onebot", app_id="10001", group="30001"),
    text="x",
    sent_at=datetime(2026, 3, 1, tzinfo=UTC),
)


class AnsweringBot(Bot):
    """A bot whose client gives one answer."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.self_id = "10001"
        self.calls: list[str] = []
        self._answer = answer

    async def call_api(self, api: str, **data: Any) -> Any:
        self.calls.append(api)
        return handle_api_result(self._answer)


def is_written_out(entry: dict[str, Any]) -> bool:
    """A message in segments, whose `raw_message` says the same in codes."""
    return entry["input"]["post_type"] == "message" and entry["input"]["message_format"] == "array"


@pytest.mark.parametrize("entry", [entry for entry in EVENTS if is_written_out(entry)], ids=names)
def test_the_string_form_says_the_same(entry: dict[str, Any]) -> None:
    payload = entry["input"]
    assert read({**payload, "message": payload["raw_message"], "message_format": "string"}) == read(payload)


async def test_a_lost_login_pauses_sending_and_is_told() -> None:
    (entry,) = (each for each in EVENTS if each["expected"].get("degraded"))
    alerts = Told()
    troubles = Troubles(alerts)
    bot = AnsweringBot({"status": "ok", "retcode": 0, "data": None})
    outbox = OneBotOutbox(lambda: {"10001": bot}, troubles)
    assert outbox.is_ready(ASKED)
    await troubles.noticed(entry["input"])
    assert not outbox.is_ready(ASKED)
    assert len(alerts.texts) == 1


@pytest.mark.parametrize("entry", SENDS, ids=names)
async def test_answer_to_a_send(entry: dict[str, Any]) -> None:
    bot, alerts, expected = AnsweringBot(entry["input"]["response"]), Told(), entry["expected"]
    sent = await OneBotOutbox(lambda: {"10001": bot}, Troubles(alerts)).send(ASKED, ("答",))
    assert sent.outcome is (SendOutcome.SENT if expected.get("ok") else SendOutcome.FAILED)
    assert len(bot.calls) == 1
    # Refused for reasons that only the operator can mend: risk control, or what the client calls so.
    assert len(alerts.texts) == (0 if expected.get("ok") else 1)


@pytest.mark.parametrize("entry", OTHER_ANSWERS, ids=names)
def test_other_answers_are_no_events(entry: dict[str, Any]) -> None:
    frame = json.dumps(entry["input"]["response"])
    assert is_acceptable(frame)
    assert OneBotAdapter.json_to_event(json.loads(frame)) is None
