"""What has gone wrong for others on QQ, official and OneBot: each reported case, and that no sample is left unread."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nonebot.adapters.onebot.v11 import ActionFailed

from bot.channels.onebot import OneBotOutbox
from bot.channels.onebot_adapter import OneBotAdapter, is_acceptable
from bot.channels.onebot_mapping import OneBotMapping
from bot.channels.onebot_troubles import Troubles
from bot.conversation.errors import ConfigurationError
from bot.conversation.message import Message, dump_message, load_message
from bot.delivery import SendOutcome, Sent
from bot.settings_source import read_settings
from tests.alert_fakes import Told
from tests.shared_files import require_shared
from tests.unit.test_onebot_outbox import RecordingBot
from tests.unit.test_onebot_outbox import message as asked

HERE = Path(__file__).parent
CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for case in json.loads(require_shared("fixtures/edge_cases.json").read_text("utf-8"))
    if case["platform"] in ("qq_official", "onebot_v11")
}
ELSEWHERE = {
    "E31": ("test_qq_webhook_guard.py", '"qq_webhook_validation"'),
    "E32": ("test_qq_webhook_guard.py", '"qq_webhook_validation"'),
    "E33": ("test_qq_payloads.py", 'edge("E33")'),
    "E34": ("test_qq_payloads.py", 'edge("E34")'),
    "E37": ("test_qq_payloads.py", 'edge("E37")'),
    "E46": ("test_onebot_guard.py", '"onebot_http_post"'),
    "E48": ("test_onebot_sending.py", "test_a_quotation_of_nobody_is_still_a_message"),
}
"""Cases whose test is in another file, and what of that file says so."""
KINDS = {
    "onebot_event": "test_onebot_payloads.py",
    "onebot_api": "test_onebot_payloads.py",
    "onebot_ws_handshake": "test_onebot_guard.py",
    "onebot_http_post": "test_onebot_guard.py",
    "onebot_http_signature": "test_onebot_guard.py",
    "qq_event_data:": "test_qq_payloads.py",
    "qq_doc_json": "test_qq_payloads.py",
    "qq_api_response": "test_qq_payloads.py",
    "qq_sequence": "test_qq_payloads.py",
    "qq_webhook_validation": "test_qq_webhook_guard.py",
    "qq_webhook_signature": "test_qq_webhook_guard.py",
    "qq_ed25519_key": "../unit/test_qq_guard.py",
}
"""Each kind of sample, and the file whose tests run over all of it."""
_here: set[str] = set()


def case(id_: str) -> Callable[[Any], Any]:
    """Marks the test of a case; the case must be there, and say what it said."""
    assert id_ in CASES, id_
    _here.add(id_)
    return lambda test: test


def read(payload: dict[str, Any]) -> Message | None:
    assert is_acceptable(json.dumps(payload))
    event = OneBotAdapter.json_to_event(json.loads(json.dumps(payload)))
    return OneBotMapping().to_message(event, self_id="10001", app_id="10001") if event else None


def said(**fields: Any) -> Message:
    heard = read(
        {
            "time": 1773153399,
            "self_id": 10001,
            "post_type": "message",
            "message_type": "group",
            "sub_type": "normal",
            "group_id": 30001,
            "user_id": 20001,
            "message_id": 5,
            "message": [{"type": "text", "data": {"text": "hi"}}],
            **fields,
        }
    )
    assert heard is not None
    return heard


@case("E36")
@pytest.mark.parametrize("secret", [{}, {"QQ__SECRET": ""}])
def test_an_empty_secret_stops_the_start(
    secret: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "configuration error at start" in CASES["E36"]["expected"]["behaviour"]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError) as refused:
        read_settings(environment={"QQ__APP_ID": "102000001", **secret})
    assert refused.value.key == "QQ__SECRET"


@case("E40")
@pytest.mark.parametrize("id_", [3425462029, -280154787, 2**63, "abc-1", "-1", 0])
def test_any_message_id_is_kept_as_it_is(id_: int | str) -> None:
    assert "store as string" in CASES["E40"]["expected"]["behaviour"]
    heard = said(message_id=id_)
    assert f":{id_}:" in heard.key
    assert load_message(dump_message(heard)) == heard
    assert said(message_id=id_).key == heard.key
    assert said(message_id=str(id_)).key == heard.key


@case("E42")
@pytest.mark.parametrize(
    "words", ["EventChecker Failed: NTEvent rich media transfer failed", "SEND_MSG_API_ERROR"]
)
async def test_a_refused_forward_becomes_plain_pages_and_a_refused_page_an_alarm(words: str) -> None:
    assert CASES["E42"]["expected"]["behaviour"] == "fallback to shorter plain text; alarm"
    refusal = ActionFailed(status="failed", retcode=200, message=words)
    pages = tuple(f"第{number}页" for number in range(5))
    alerts = Told()
    bot = RecordingBot(behaviour=lambda number: refusal if number == 2 else None)
    outbox = OneBotOutbox(lambda: {"10001": bot}, Troubles(alerts))
    assert await outbox.send(asked(group="30001"), pages) == Sent(outcome=SendOutcome.SENT, pages=5)
    assert [api for api, _ in bot.calls] == [
        "send_group_msg",
        "send_group_forward_msg",
        *["send_group_msg"] * 4,
    ]
    assert len(alerts.texts) == 1
    bot = RecordingBot(behaviour=lambda number: refusal)
    outbox = OneBotOutbox(lambda: {"10001": bot}, Troubles(alerts))
    for _ in range(2):
        assert await outbox.send(asked(group="30001"), ("一",)) == Sent(outcome=SendOutcome.FAILED, pages=0)
    assert (len(bot.calls), len(alerts.texts)) == (2, 2)


@case("E44")
@pytest.mark.parametrize(
    "fields",
    [
        {
            "notice_type": "notify",
            "sub_type": "poke",
            "user_id": 20001,
            "target_id": 10001,
            "raw_info": [{"col": "1", "nm": "", "type": "qq"}],
            "raw_message": [{"type": "text"}],
        },
        {"notice_type": "essence", "sub_type": "add", "sender_id": 0, "operator_id": 0, "message_id": "x"},
        {"notice_type": "group_ban", "sub_type": "ban", "user_id": "u-1"},
        {"notice_type": "group_increase", "user_id": None, "operator_id": None},
        {"notice_type": "friend_add", "user_id": 0},
        {"notice_type": "something_of_2030"},
    ],
)
async def test_an_odd_notice_is_nobodys_message(fields: dict[str, Any]) -> None:
    assert CASES["E44"]["expected"]["behaviour"] == "lenient models"
    notice = {"time": 1773153399, "self_id": 10001, "post_type": "notice", "group_id": 30001, **fields}
    assert read(notice) is None
    alerts = Told()
    await Troubles(alerts).noticed(notice)
    assert alerts.texts == []


@case("E45")
def test_the_segments_count_not_what_stands_beside_them() -> None:
    assert CASES["E45"]["expected"]["behaviour"] == "use message array"
    sender = {"user_id": 20001, "nickname": "甲", "card": None, "role": "member"}
    everybody = [{"type": "at", "data": {"qq": "0"}}, {"type": "text", "data": {"text": " hi"}}]
    for raw_message in ("", "[CQ:at,qq=10001] 别的话", None):
        extra = {} if raw_message is None else {"raw_message": raw_message}
        heard = said(sender=sender, message=everybody, **extra)
        assert (heard.text, heard.is_addressed, heard.mentioned) == ("hi", False, ())


def test_every_reported_case_has_a_test() -> None:
    assert _here | set(ELSEWHERE) == set(CASES)
    assert not _here & set(ELSEWHERE)


@pytest.mark.parametrize(("id_", "file", "mark"), [(id_, *where) for id_, where in ELSEWHERE.items()])
def test_a_case_tested_elsewhere_is_tested_there(id_: str, file: str, mark: str) -> None:
    assert mark in (HERE / file).read_text("utf-8"), id_


@pytest.mark.parametrize("name", ["onebot_v11_payloads", "qq_official_payloads"])
def test_every_kind_of_sample_is_read_by_a_test(name: str) -> None:
    entries = json.loads(require_shared(f"fixtures/{name}.json").read_text("utf-8"))
    kinds = {entry["kind"].partition(":")[0] for entry in entries}
    assert len(entries) > 20
    for kind in kinds:
        (file,) = (where for known, where in KINDS.items() if known.rstrip(":") == kind)
        assert f'"{kind}' in (HERE / file).read_text("utf-8"), kind
