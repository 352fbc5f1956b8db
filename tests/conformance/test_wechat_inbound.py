"""Every posted XML of the fixtures but the sequences, plain and encrypted, through the app.

Entries where our answer differs from the letter of the entry: docs/decisions/0010-wechat-adapter.md.
"""

import json
from typing import Any

import pytest

from bot.channels.wechat import (
    ClickEvent,
    Event,
    FollowEvent,
    OtherEvent,
    RevokeEvent,
    ScanEvent,
    TextEvent,
    UnfollowEvent,
    UnsupportedEvent,
    VoiceEvent,
)
from bot.channels.wechat.parsing import read_fields
from bot.channels.wechat_mapping import to_message
from bot.conversation.message import Kind
from simulators.wechat import WeChatServer
from tests.conformance.wechat_app import ACCOUNT, AES_KEY, SAFE_ACCOUNT, TOKEN, wechat_app
from tests.shared_files import require_shared

ALL: list[dict[str, Any]] = json.loads(
    require_shared("fixtures/wechat_inbound_xml.json").read_text(encoding="utf-8")
)
ENTRIES = [entry for entry in ALL if entry["kind"] != "wechat_inbound:sequence"]

UNREAD = {
    "wx-issue-nested-xml-unescaped",
    "wx-issue-nested-xml-mismatched",
    "wx-issue-cdata-injection",
    "wx-derived-doctype-xxe",
    "wx-derived-billion-laughs",
}
"""Genuine, answered `success`, and no handler hears of them."""

SAID_KINDS: dict[type[Event], Kind | None] = {
    TextEvent: Kind.TEXT,
    VoiceEvent: Kind.VOICE,
    UnsupportedEvent: Kind.UNSUPPORTED,
    ClickEvent: Kind.CLICK,
    FollowEvent: Kind.FOLLOW,
    UnfollowEvent: Kind.UNFOLLOW,
    RevokeEvent: Kind.REVOKE,
    ScanEvent: None,
    OtherEvent: None,
}
CLASSES: dict[str, type[Event]] = {
    "message:text": TextEvent,
    "edge:text": TextEvent,
    "compat": TextEvent,
    "message:voice": VoiceEvent,
    "message:image": UnsupportedEvent,
    "message:video": UnsupportedEvent,
    "message:shortvideo": UnsupportedEvent,
    "message:location": UnsupportedEvent,
    "event:CLICK": ClickEvent,
    "event:SCAN": ScanEvent,
    "event:subscribe": FollowEvent,
    "event:unsubscribe": UnfollowEvent,
    "event:user_authorization_revoke": RevokeEvent,
    "event:user_authorization_cancellation": RevokeEvent,
}
"""Anything else is an OtherEvent."""


def attribute(name: str, **of_fields: str) -> Any:
    return lambda event: event.fields[of_fields["field"]] if of_fields else getattr(event, name)


ATTRIBUTES = {
    "source": attribute("openid"),
    "target": attribute("to_user"),
    "time": attribute("create_time"),
    "content": attribute("content"),
    "recognition": attribute("recognition"),
    "scene_id": attribute("scene_id"),
    "ticket": attribute("ticket", field="Ticket"),
    "message_id": lambda event: int(event.key.rpartition("/")[2]),
}
"""What SDK tests assert and we have too. The rest of theirs is the fields under other names."""


def is_dropped(entry: dict[str, Any]) -> bool:
    return entry["kind"] == "wechat_inbound:event:LOCATION"


def expected_class(entry: dict[str, Any]) -> type[Event]:
    if entry["expected"].get("treat_as") == "unsupported":
        return UnsupportedEvent
    return CLASSES.get(entry["kind"].removeprefix("wechat_inbound:"), OtherEvent)


def test_no_entry_is_left_out():
    assert len(ALL) - len(ENTRIES) == sum("steps" in entry["input"] for entry in ALL)
    assert {entry["id"] for entry in ENTRIES} >= UNREAD
    assert len({entry["id"] for entry in ENTRIES}) == len(ENTRIES)


@pytest.mark.parametrize("account", [ACCOUNT, SAFE_ACCOUNT], ids=["plain", "aes"])
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["id"])
async def test_inbound(entry: dict[str, Any], account: Any):
    async with wechat_app(account) as app, app.wechat() as wechat:
        seen = await wechat.raw(entry["input"]["xml"])
        await app.settle()
    # CreateTime is years ago in these: that alone must neither refuse them nor bring the waiting line.
    assert (seen.attempts, seen.statuses) == (1, (200,))
    if entry["id"] in UNREAD or is_dropped(entry):
        assert (app.seen, seen.text) == ([], "")
        return
    (event,) = app.seen
    assert type(event) is expected_class(entry)
    assert seen.text == ("收到" if event.takes_reply else "")
    check_expected(entry, event)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["id"])
def test_fields(entry: dict[str, Any]):
    """What is read of a body, of those that reach no handler too."""
    fields = read_fields(entry["input"]["xml"].encode())
    if entry["id"] in UNREAD - {"wx-issue-nested-xml-unescaped"}:
        assert fields is None
    elif "fields" in entry["expected"]:
        assert fields == entry["expected"]["fields"]
    else:
        # No fields are given where the XML is not well-formed: then its text is.
        assert fields is not None
        assert fields["Content"].strip() == entry["expected"]["normalized_content"]


def check_expected(entry: dict[str, Any], event: Event) -> None:
    expected = entry["expected"]
    message = to_message(event)
    kind = SAID_KINDS[type(event)]
    assert (message.kind if message else None) == kind
    if "fields" in expected:
        assert event.fields == expected["fields"]
    if "normalized_content" in expected:
        assert message and message.text == expected["normalized_content"]
    if "subject_openid" in expected:
        assert event.get_user_id() == expected["subject_openid"]
        assert message is None or message.sender.openid == expected["subject_openid"]
    if "scene_id" in expected:
        assert isinstance(event, FollowEvent)
        assert event.scene_id == expected["scene_id"]
    if expected.get("treat_as") == "unsupported":
        assert message and message.text == ""
    if "plain_usable" in expected:
        assert message and message.text == "hi"
    for claim in expected.get("sdk_asserts", []):
        read = ATTRIBUTES.get(claim["expr"].rpartition(".")[2])
        # wechatpy calls the content of its device messages `content` as well: decoded, not ours.
        if read and not isinstance(event, OtherEvent):
            assert read(event) == claim["equals"], claim


COMPAT = next(entry for entry in ENTRIES if entry["kind"] == "wechat_inbound:compat")


async def test_compatible_mode_with_a_key_prefers_the_ciphertext():
    async with wechat_app(SAFE_ACCOUNT) as app, app.wechat() as wechat:
        inner = wechat.xml("oA", "text", {"Content": "里面的"}, 7)
        query, outer = wechat.post(inner)
        sealed = outer.decode().partition("<Encrypt>")[2].removesuffix("</xml>")
        plain = wechat.xml("oB", "text", {"Content": "外面的"}, 8)
        both = plain.removesuffix("</xml>") + "<Encrypt>" + sealed + "</xml>"
        response = await app.post(query, both.encode())
    assert response.status_code == 200
    assert [(e.openid, e.get_plaintext()) for e in app.seen] == [("oA", "里面的")]


async def test_compatible_mode_with_a_key_refuses_a_ciphertext_that_is_none():
    async with wechat_app(SAFE_ACCOUNT) as app, app.wechat() as wechat:
        query, _ = wechat.post("<xml/>")
        response = await app.post(query, COMPAT["input"]["xml"].encode())
    assert (response.status_code, app.seen) == (403, [])


async def test_a_plain_post_is_refused_when_a_key_is_set():
    async with wechat_app(SAFE_ACCOUNT) as app:
        url = "http://bot.test" + SAFE_ACCOUNT.path
        async with WeChatServer(url, TOKEN, SAFE_ACCOUNT.app_id, transport=app.transport) as plain:
            seen = await plain.say("oA", "你好")
    assert (seen.statuses, app.seen) == ((403, 403, 403), [])
    assert AES_KEY not in repr(SAFE_ACCOUNT)
    assert TOKEN not in repr(SAFE_ACCOUNT)
