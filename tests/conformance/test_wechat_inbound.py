"""Every posted XML of the fixtures, plain and encrypted, through the app; the sequences have their own tests.

Entries where our answer differs from the letter of the entry: docs/decisions/0010-wechat-adapter.md.
"""

import json
from typing import Any

import pytest
from loguru import logger

from bot.channels.wechat.event import (
    ClickEvent,
    Event,
    FollowEvent,
    ImageEvent,
    LinkEvent,
    LocationEvent,
    OtherEvent,
    RevokeEvent,
    ScanEvent,
    TemplateResultEvent,
    TextEvent,
    UnfollowEvent,
    UnsupportedEvent,
    VideoEvent,
    ViewEvent,
    VoiceEvent,
)
from bot.channels.wechat.parsing import read_fields
from bot.channels.wechat_mapping import to_message
from bot.conversation.message import Kind
from simulators.wechat import WeChatServer
from tests.conformance.wechat_app import ACCOUNT, AES_KEY, SAFE_ACCOUNT, TOKEN, wechat_app
from tests.shared_files import require_shared


def entries_of(name: str) -> list[dict[str, Any]]:
    return json.loads(require_shared(f"fixtures/{name}.json").read_text(encoding="utf-8"))


OFFICIAL_ACCOUNTS = entries_of("wechat_inbound_xml")
MINI_PROGRAMS = entries_of("wechat_inbound_miniprogram_xml")
"""None of them is for an official account; posted to one, they are events of a kind nobody knows."""
ALL = [*OFFICIAL_ACCOUNTS, *MINI_PROGRAMS]
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
    ImageEvent: Kind.IMAGE,
    VideoEvent: Kind.UNSUPPORTED,
    LocationEvent: Kind.LOCATION,
    LinkEvent: Kind.LINK,
    UnsupportedEvent: Kind.UNSUPPORTED,
    ClickEvent: Kind.CLICK,
    FollowEvent: Kind.FOLLOW,
    UnfollowEvent: Kind.UNFOLLOW,
    RevokeEvent: Kind.REVOKE,
    ScanEvent: Kind.SCAN,
    ViewEvent: None,
    TemplateResultEvent: None,
    OtherEvent: None,
}
CLASSES: dict[str, type[Event]] = {
    "message:text": TextEvent,
    "edge:text": TextEvent,
    "compat": TextEvent,
    "message:voice": VoiceEvent,
    "message:image": ImageEvent,
    "message:video": VideoEvent,
    "message:shortvideo": VideoEvent,
    "message:location": LocationEvent,
    "message:link": LinkEvent,
    "event:CLICK": ClickEvent,
    "event:SCAN": ScanEvent,
    "event:VIEW": ViewEvent,
    "event:TEMPLATESENDJOBFINISH": TemplateResultEvent,
    "event:subscribe": FollowEvent,
    "event:unsubscribe": UnfollowEvent,
    "event:user_authorization_revoke": RevokeEvent,
    "event:user_authorization_cancellation": RevokeEvent,
}
"""Anything else is an OtherEvent."""


ATTRIBUTES: dict[str, Any] = {
    "source": lambda event: event.openid,
    "target": lambda event: event.to_user,
    "time": lambda event: event.create_time,
    "content": lambda event: event.content,
    "recognition": lambda event: event.recognition,
    "media_id": lambda event: event.media_id,
    "format": lambda event: event.format,
    "img": lambda event: event.fields["PicUrl"],
    "location": lambda event: [float(event.latitude), float(event.longitude)],
    "scale": lambda event: int(event.scale),
    "label": lambda event: event.label,
    "scene_id": lambda event: event.scene_id,
    "ticket": lambda event: event.ticket,
    "url": lambda event: event.url,
    "id": lambda event: int(event.message_id),
    "status": lambda event: event.status,
    "message_id": lambda event: int(event.key.rpartition("/")[2]),
}
"""What SDK tests assert and we have too. The rest of theirs is the fields under other names, or a type."""


def is_dropped(entry: dict[str, Any]) -> bool:
    return entry["kind"] == "wechat_inbound:event:LOCATION"


def expected_class(entry: dict[str, Any]) -> type[Event]:
    if entry["expected"].get("treat_as") == "unsupported":
        return UnsupportedEvent
    return CLASSES.get(entry["kind"].removeprefix("wechat_inbound:"), OtherEvent)


def test_no_entry_is_left_out():
    assert len(MINI_PROGRAMS) == 4
    assert len(ALL) - len(ENTRIES) == sum("steps" in entry["input"] for entry in ALL) == 6
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
    if entry["id"] == "wx-doc-bizmsgmenuid":
        assert isinstance(event, TextEvent)
        assert (event.content, event.menu_id) == ("满意", "101")
    if "plain_usable" in expected:
        assert message and message.text == "hi"
    for claim in expected.get("sdk_asserts", []):
        read = ATTRIBUTES.get(claim["expr"].rpartition(".")[2])
        # wechatpy calls the content of its device messages `content` as well: decoded, not ours.
        if read and type(event) is not OtherEvent:
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


LINK = (
    "<xml><ToUserName>gh_1</ToUserName><FromUserName>oA</FromUserName><CreateTime>1700000000</CreateTime>"
    "<MsgType>link</MsgType><Title><![CDATA[标题]]></Title><Description><![CDATA[说明]]></Description>"
    "<Url><![CDATA[https://e.cn/?a=1&b=2]]></Url><MsgId>9</MsgId></xml>"
)


@pytest.mark.parametrize("account", [ACCOUNT, SAFE_ACCOUNT], ids=["plain", "aes"])
async def test_a_link_which_no_entry_is(account: Any):
    assert not any(entry["kind"] == "wechat_inbound:message:link" for entry in ENTRIES)
    async with wechat_app(account) as app, app.wechat() as wechat:
        assert (await wechat.raw(LINK)).text == "收到"
    (event,) = app.seen
    assert isinstance(event, LinkEvent)
    assert (event.title, event.description, event.url) == ("标题", "说明", "https://e.cn/?a=1&b=2")
    message = to_message(event)
    assert message and (message.kind, message.text, message.quoted) == (Kind.LINK, "", "标题\n说明")


async def test_a_plaintext_beside_a_ciphertext_without_a_key_is_used_and_warned_of():
    heard: list[str] = []
    sink = logger.add(lambda line: heard.append(str(line)), level="WARNING")
    try:
        async with wechat_app() as app, app.wechat() as wechat:
            for number in ("6", "7"):
                xml = COMPAT["input"]["xml"].replace("<MsgId>6<", f"<MsgId>{number}<")
                assert (await wechat.raw(xml)).text == "收到"
    finally:
        logger.remove(sink)
    assert len(app.seen) == 2
    assert sum("兼容模式" in line for line in heard) == 1
