"""The rules of the simulated QQ platform, each by itself: signatures, tokens, windows, contents, events."""

import json
from typing import Any

import pytest

from simulators.qq import Allowance, BotAccount, Quote, Rules, Scene, Signer, events, face, mention
from simulators.qq.content import read_body, read_content, urls_in
from simulators.qq.errors import TEXTS, ApiRefusal
from simulators.qq.faults import ApiFault, Faults
from simulators.qq.gateway import intent_of
from simulators.qq.signing import seed_of
from simulators.qq.tokens import Tokens
from simulators.qq.windows import Answered, Windows
from tests.shared_files import require_shared

NOW = 1_725_442_341.0


def cases(kind: str) -> list[dict[str, Any]]:
    payloads = json.loads(require_shared("fixtures/qq_official_payloads.json").read_text("utf-8"))
    return [case for case in payloads if case["kind"].startswith(kind)]


def test_the_published_key():
    (case,) = cases("qq_ed25519_key")
    secret = case["input"]["secret"]
    assert seed_of(secret).decode() == case["expected"]["seed"]
    assert Signer(secret).public_key.hex() == case["expected"]["public_key_hex"]


def test_the_published_validation():
    case = next(case for case in cases("qq_webhook_validation") if "json" in case["expected"])
    told, wanted = case["input"]["body"]["d"], case["expected"]["json"]
    signed = Signer(case["input"]["secret"]).sign(told["event_ts"], told["plain_token"].encode())
    assert signed == wanted["signature"]


def test_every_signature_of_the_collection():
    found = cases("qq_webhook_signature")
    assert len(found) > 5
    for case in found:
        given = case["input"]
        if not given["secret"]:
            with pytest.raises(ValueError, match="not empty"):
                Signer(given["secret"])
            continue
        signature, timestamp = (
            given["headers"][name] for name in ("X-Signature-Ed25519", "X-Signature-Timestamp")
        )
        is_valid = Signer(given["secret"]).is_signed(signature, timestamp, given["raw_body"].encode())
        assert is_valid is case["expected"]["valid"], case["id"]


def test_events_have_the_fields_of_the_documents():
    """A form of 2023 is just that; what came since is beside it."""
    documented = {case["input"]["event"]: case["input"]["d"] for case in cases("qq_event_data")}
    message = {"at": NOW, "text": " 123", "message_id": "ROBOT1.0_x"}
    built = {
        "FRIEND_ADD": events.friend_event("o", NOW),
        "C2C_MSG_REJECT": events.friend_event("o", NOW),
        "GROUP_ADD_ROBOT": events.group_event("g", "m", NOW),
        "GROUP_MSG_RECEIVE": events.group_event("g", "m", NOW),
        "GROUP_AT_MESSAGE_CREATE": events.group_message(group="g", member="m", is_old=True, **message),
    }
    for event, d in built.items():
        assert d.keys() == documented[event].keys(), event
        assert {name: type(value) for name, value in d.items()} == {
            name: type(value) for name, value in documented[event].items()
        }
    today = events.group_message(group="g", member="m", **message)
    assert documented["GROUP_AT_MESSAGE_CREATE"].keys() < today.keys()
    for event in ("DIRECT_MESSAGE_CREATE", "AT_MESSAGE_CREATE"):
        d = events.guild_message("i", "1", "2", "u", "t", NOW)
        assert documented[event].keys() <= d.keys()
        assert documented[event]["author"].keys() == d["author"].keys()
    c2c = events.c2c_message("i", "o", "t", NOW)
    assert documented["C2C_MESSAGE_CREATE"].keys() <= c2c.keys()
    assert documented["C2C_MESSAGE_CREATE"]["author"].keys() <= c2c["author"].keys()


def test_a_quotation_is_found_by_its_index():
    d = events.group_message(
        "ROBOT1.0_b",
        "g",
        "m",
        "继续",
        NOW,
        quotes=Quote(text="原话", message_id="ROBOT1.0_a", author={"bot": True}),
    )
    (element,) = d["msg_elements"]
    assert d["message_type"] == 103
    assert f"ref_msg_idx={element['msg_idx']}" in d["message_scene"]["ext"]
    assert element["content"] == "原话"
    assert element["author"] == {"bot": True}
    lost = events.c2c_message("i", "o", "t", NOW, quotes=Quote(text=""))
    assert "author" not in lost["msg_elements"][0]


@pytest.mark.parametrize(
    ("where", "chat_type", "scene"),
    [
        ({"user_openid": "o"}, 2, "c2c"),
        ({"group_openid": "g", "group_member_openid": "m"}, 1, "group"),
        ({"guild_id": "1", "channel_id": "2", "user_id": "u"}, 0, "guild"),
    ],
)
def test_an_interaction_says_where_it_was(where: dict[str, str], chat_type: int, scene: str):
    d = events.interaction("i", "app", NOW, where=where, button_id="21", button_data="继续")
    assert (d["chat_type"], d["scene"], d["data"]["resolved"]["button_data"]) == (chat_type, scene, "继续")


def test_small_parts_of_events():
    assert events.attachment("https://x/a.png", "image/png", size=3) == {
        "content_type": "image/png",
        "filename": "a.png",
        "url": "https://x/a.png",
        "size": 3,
    }
    assert 'faceId="14"' in face(14)
    assert mention("B", is_you=True)["bot"] is True
    assert events.mention_all()["scope"] == "all"


def test_tokens_come_with_a_string_and_last_until_their_end():
    tokens = Tokens(BotAccount(app_id="1", secret="s"))
    asked = {"appId": "1", "clientSecret": "s"}
    first = tokens.issue(asked, NOW)
    assert first["expires_in"] == "7200"
    assert tokens.issue(asked, NOW + 7139)["access_token"] == first["access_token"]
    second = tokens.issue(asked, NOW + 7141)
    assert second["access_token"] != first["access_token"]
    tokens.check(f"QQBot {first['access_token']}", NOW + 7199)
    with pytest.raises(ApiRefusal, match="11243"):
        tokens.check(f"QQBot {first['access_token']}", NOW + 7200)
    tokens.revoke()
    for authorization, code in (
        (f"QQBot {second['access_token']}", "11243"),
        ("", "11241"),
        ("Bearer x", "11243"),
    ):
        with pytest.raises(ApiRefusal, match=code):
            tokens.check(authorization, NOW + 7200)
    for wrong, code in (({"appId": "1", "clientSecret": "x"}, "100016"), ({}, "100007")):
        with pytest.raises(ApiRefusal, match=code):
            tokens.issue(wrong, NOW)


def refusals(
    scene: Scene, place: str, allowance: Allowance, *tries: tuple[dict[str, Any], float]
) -> list[int]:
    """Of one message and one event opened at NOW, answered so, one after the other."""
    windows, codes = Windows(), []
    windows.open_message("m", scene, place, NOW)
    windows.open_event("add", "FRIEND_ADD", scene, place, NOW)
    windows.open_event("said", "C2C_MESSAGE_CREATE", scene, place, NOW)
    for fields, later in tries:
        answered = Answered(**{"scene": scene, "place": place} | fields)
        codes.append(windows.refusal(answered, allowance, NOW + later))
        if not codes[-1]:
            windows.spend(answered)
    return codes


def test_how_often_and_how_long_a_message_may_be_answered():
    numbered = [({"msg_id": "m", "msg_seq": number}, 0.0) for number in (1, 2, 2, 3, 4, 5)]
    assert refusals(Scene.C2C, "o", Rules().c2c, *numbered) == [0, 0, 40054005, 0, 0, 40034128]
    late = ({"msg_id": "m", "msg_seq": 9}, 3601.0)
    assert refusals(Scene.C2C, "o", Rules().c2c, ({"msg_id": "m"}, 3600.0), late) == [0, 40034005]
    assert refusals(Scene.GROUP, "g", Rules().group, ({"msg_id": "m"}, 301.0)) == [40034005]
    many = [({"msg_id": "m"}, 0.0)] * 9
    assert refusals(Scene.CHANNEL, "c", Rules().guild, *many, ({"msg_id": "m"}, 301.0)) == [0] * 9 + [304027]


def test_what_may_be_answered_at_all():
    tries = [
        ({"event_id": "add"}, 0.0),
        ({"event_id": "add"}, 0.0),
        ({"event_id": "add", "msg_seq": 2}, 4000.0),
        ({"event_id": "said"}, 0.0),
        ({"event_id": "nothing"}, 0.0),
        ({"msg_id": "add"}, 0.0),
        ({"msg_id": "m", "place": "somebody else"}, 0.0),
    ]
    codes = [0, 40054005, 40034026, 40034027, 40034025, 40034024, 40034024]
    assert refusals(Scene.C2C, "o", Rules().c2c, *tries) == codes
    assert refusals(Scene.GROUP, "g", Rules().group, ({"event_id": "add"}, 0.0)) == [40034027]
    assert refusals(Scene.DIRECT, "u", Rules().guild, ({"msg_id": "x"}, 0.0)) == [304026]


def test_a_message_delivered_again_opens_no_new_window():
    windows = Windows()
    windows.open_message("m", Scene.GROUP, "g", NOW)
    windows.open_message("m", Scene.GROUP, "g", NOW + 299)
    answered = Answered(scene=Scene.GROUP, place="g", msg_id="m")
    assert windows.refusal(answered, Rules().group, NOW + 301) == 40034005


def refused(body: dict[str, Any], scene: Scene = Scene.C2C, rules: Rules | None = None) -> int:
    try:
        read_content(body, scene, rules or Rules())
    except ApiRefusal as refusal:
        return refusal.code
    return 0


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"msg_type": 0, "content": "好"}, 0),
        ({"msg_type": 0, "content": " "}, 50006),
        ({"msg_type": 0}, 50006),
        ({"content": "好"}, 12002),
        ({"msg_type": 0, "content": 7}, 12002),
        ({"msg_type": 0, "content": "好", "msg_seq": "1"}, 12002),
        ({"msg_type": 0, "content": "字" * 4001}, 40054007),
        ({"msg_type": 0, "content": "看 https://a.cn/x"}, 40054010),
        ({"msg_type": 0, "content": "看 example.com"}, 40054010),
        ({"msg_type": 2, "markdown": {"content": "# 题"}}, 50056),
        ({"msg_type": 7, "content": " "}, 12002),
        ({"msg_type": 7, "media": {}}, 304080),
        ({"msg_type": 3}, 12002),
        ({"msg_type": 6, "input_notify": {"input_type": 1}}, 0),
    ],
)
def test_what_a_person_may_be_sent(body: dict[str, Any], code: int):
    assert refused(body) == code


def test_what_differs_elsewhere():
    link = {"content": "看 https://a.cn/x"}
    assert refused(link, Scene.CHANNEL) == 304003
    assert refused(link, Scene.CHANNEL, Rules(allowed_urls=("https://a.cn/",))) == 0
    assert refused({"msg_type": 6}, Scene.GROUP) == 12002
    marked = {"msg_type": 2, "markdown": {"content": "# 题"}}
    assert refused(marked, Scene.GROUP, Rules(has_markdown=True)) == 0
    assert refused({"msg_type": 2, "markdown": {}}, Scene.GROUP, Rules(has_markdown=True)) == 50055
    assert read_content({"image": "https://a.cn/x.png"}, Scene.DIRECT, Rules()).kind == "media"
    assert read_content({"embed": {"title": "t"}}, Scene.CHANNEL, Rules()).kind == "embed"
    assert read_content({"markdown": {"content": "a"}}, Scene.CHANNEL, Rules(has_markdown=True)).text == "a"


@pytest.mark.parametrize(
    "text", ["版本 1.2.3", "你好。再见", "a@b", "<@!123> 你好", face(14), "3.14", "e.g. 好"]
)
def test_what_is_no_url(text: str):
    assert urls_in(text) == ()


@pytest.mark.parametrize(
    "text", ["http://1.2.3.4/", "见（https://a.cn）", "www.qq.com", "q.qq.com/x", "A.COM"]
)
def test_what_is_one(text: str):
    assert len(urls_in(text)) == 1


def test_bodies():
    for raw in (b"{", b"[]", b"null", b'"x"'):
        with pytest.raises(ApiRefusal, match="12002"):
            read_body(raw, "application/json")
    form = (
        b'--b\r\nContent-Disposition: form-data; name="content"\r\n\r\n\xe5\xa5\xbd\r\n'
        b'--b\r\nContent-Disposition: form-data; name="file_image"; filename="a.png"\r\n\r\n\x89PNG\r\n'
        b'--b\r\nContent-Disposition: form-data; name="message_reference"; filename="m"\r\n'
        b'Content-Type: application/json\r\n\r\n{"message_reference": {"message_id": "1"}}\r\n--b--\r\n'
    )
    assert read_body(form, "multipart/form-data; boundary=b") == {
        "content": "好",
        "file_image": "a.png",
        "message_reference": {"message_id": "1"},
    }


def test_faults_are_spent_in_order():
    faults = Faults()
    faults.add(ApiFault(endpoint="me", code=1, times=2))
    faults.add(ApiFault(status=502))
    spent = [faults.next_for(name) for name in ("gateway", "me", "me", "me")]
    assert [(fault.code, fault.status) if fault else None for fault in spent] == [
        (0, 502),
        (1, 0),
        (1, 0),
        None,
    ]
    assert faults.left == 0
    bad: list[dict[str, Any]] = [{}, {"code": 1, "times": 0}, {"delay_seconds": -1.0}]
    for fields in bad:
        with pytest.raises(ValueError, match="fault"):
            ApiFault(**fields)


@pytest.mark.parametrize(
    ("event", "bit"),
    [
        ("C2C_MESSAGE_CREATE", 25),
        ("GROUP_AT_MESSAGE_CREATE", 25),
        ("FRIEND_ADD", 25),
        ("AT_MESSAGE_CREATE", 30),
        ("MESSAGE_CREATE", 9),
        ("MESSAGE_AUDIT_PASS", 27),
        ("DIRECT_MESSAGE_CREATE", 12),
        ("GUILD_MEMBER_ADD", 1),
        ("GUILD_CREATE", 0),
        ("INTERACTION_CREATE", 26),
    ],
)
def test_which_intent_subscribes_to_what(event: str, bit: int):
    assert intent_of(event) == bit


def test_every_code_of_the_collection_is_known():
    for case in cases("qq_api_response"):
        code = case["expected"]["json"].get("code")
        assert code is None or code in TEXTS, case["id"]
