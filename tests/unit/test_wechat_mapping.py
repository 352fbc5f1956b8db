"""WeChat's events as the house's messages."""

from datetime import UTC, datetime

import pytest

from bot.channels.wechat.event import TemplateResultEvent
from bot.channels.wechat.event_reading import read_event
from bot.channels.wechat_mapping import pages_of, to_message
from bot.conversation.message import (
    AccountKey,
    Conversation,
    Kind,
    Media,
    Message,
    dump_message,
    load_message,
)

SHARED = {"ToUserName": "gh_1", "FromUserName": "oA", "CreateTime": "1700000000"}


def message_of(**fields: str) -> Message | None:
    numbered = {} if fields.get("MsgType") == "event" else {"MsgId": "7"}
    event = read_event("wx1", SHARED | numbered | fields)
    assert event is not None
    return to_message(event)


def test_a_text_message():
    message = message_of(MsgType="text", Content="你好")
    assert message is not None
    assert message == Message(
        key="oA/7",
        kind=Kind.TEXT,
        sender=AccountKey(channel="wechat", app_id="wx1", openid="oA"),
        conversation=Conversation(channel="wechat", app_id="wx1"),
        text="你好",
        sent_at=datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC),
    )
    assert message.is_addressed
    assert message.conversation.place == ""
    assert load_message(dump_message(message)) == message


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("\u3000\u00a0 转人工\u200b", "转人工"),
        ("\ufeff你好\n", "你好"),
        ("你\u3000好", "你\u3000好"),
        ("  第一行\n\n  第二行 ", "第一行\n\n  第二行"),
        ("\u200b", ""),
        ("❤️", "❤️"),
    ],
)
def test_the_edges_of_a_text_are_trimmed(typed: str, text: str):
    message = message_of(MsgType="text", Content=typed)
    assert message is not None
    assert message.text == text


@pytest.mark.parametrize(
    ("fields", "kind", "text"),
    [
        ({"MsgType": "voice", "Recognition": "你好。"}, Kind.VOICE, "你好。"),
        ({"MsgType": "voice", "Recognition": ""}, Kind.VOICE, ""),
        ({"MsgType": "voice"}, Kind.VOICE, ""),
        ({"MsgType": "text", "Content": ""}, Kind.TEXT, ""),
        ({"MsgType": "text"}, Kind.TEXT, ""),
        ({"MsgType": "text", "Content": "满意", "bizmsgmenuid": "101"}, Kind.TEXT, "满意"),
        ({"MsgType": "text", "Content": "【收到不支持的消息类型，暂无法显示】"}, Kind.UNSUPPORTED, ""),
        ({"MsgType": "image"}, Kind.IMAGE, ""),
        ({"MsgType": "video"}, Kind.UNSUPPORTED, ""),
        ({"MsgType": "shortvideo"}, Kind.UNSUPPORTED, ""),
        ({"MsgType": "location", "Label": "家"}, Kind.LOCATION, "家"),
        ({"MsgType": "location"}, Kind.LOCATION, ""),
        ({"MsgType": "link", "Title": "标题"}, Kind.LINK, ""),
        ({"MsgType": "event", "Event": "CLICK", "EventKey": "HELP"}, Kind.CLICK, "HELP"),
        ({"MsgType": "event", "Event": "subscribe"}, Kind.FOLLOW, ""),
        ({"MsgType": "event", "Event": "subscribe", "EventKey": "qrscene_7"}, Kind.FOLLOW, "7"),
        ({"MsgType": "event", "Event": "subscribe", "EventKey": "last_trade_no_4"}, Kind.FOLLOW, ""),
        ({"MsgType": "event", "Event": "SCAN", "EventKey": "柜台3"}, Kind.SCAN, "柜台3"),
        ({"MsgType": "event", "Event": "SCAN"}, Kind.SCAN, ""),
        ({"MsgType": "event", "Event": "unsubscribe"}, Kind.UNFOLLOW, ""),
    ],
)
def test_kinds(fields: dict[str, str], kind: Kind, text: str):
    message = message_of(**fields)
    assert message is not None
    assert (message.kind, message.text, message.quoted) == (kind, text, fields.get("Title", ""))
    assert load_message(dump_message(message)) == message


def test_an_image_says_where_it_is():
    message = message_of(MsgType="image", PicUrl="http://mmbiz.qpic.cn/x", MediaId="m1")
    assert message is not None
    assert message.media == (Media(url="http://mmbiz.qpic.cn/x", media_id="m1"),)
    for no_url in ("this is a url", "file:///etc/passwd", "javascript:x", ""):
        other = message_of(MsgType="image", PicUrl=no_url, MediaId="m1")
        assert other is not None and other.media == (Media(media_id="m1"),)


def test_of_a_place_only_its_name_is_kept():
    message = message_of(MsgType="location", Label="家", Location_X="23.134521", Location_Y="113.358803")
    assert message is not None
    assert "23.13" not in dump_message(message) and "113.35" not in dump_message(message)


def test_a_shared_page_is_a_quotation_without_its_address():
    message = message_of(MsgType="link", Title="标题", Description="说明", Url="https://e.cn/a")
    assert message is not None
    assert (message.text, message.quoted, message.media) == ("", "标题\n说明", ())
    assert "e.cn" not in dump_message(message)


def test_results_of_two_templates_in_one_second_are_two_events():
    keys: set[str] = set()
    for number in ("1", "2"):
        event = read_event(
            "wx1",
            SHARED
            | {"MsgType": "event", "Event": "TEMPLATESENDJOBFINISH", "MsgID": number, "Status": "success"},
        )
        assert isinstance(event, TemplateResultEvent)
        assert (event.message_id, event.status, event.takes_reply) == (number, "success", False)
        keys.add(event.key)
    assert len(keys) == 2


def test_a_report_of_where_somebody_is_holds_nothing_of_it():
    place = {"Latitude": "23.1", "Longitude": "113.3", "Precision": "65"}
    event = read_event("wx1", SHARED | {"MsgType": "event", "Event": " LOCATION "} | place)
    assert event is not None
    assert event.fields == SHARED | {"MsgType": "event", "Event": "LOCATION"}


@pytest.mark.parametrize(
    "fields",
    [
        {"MsgType": "event", "Event": "VIEW", "EventKey": "https://e.cn"},
        {"MsgType": "event", "Event": "TEMPLATESENDJOBFINISH", "MsgID": "1"},
        {"MsgType": "event", "Event": "LOCATION", "Latitude": "23.1", "Longitude": "113.3"},
        {"MsgType": "event", "Event": "user_info_modified", "OpenID": "oB"},
        {"MsgType": "event", "Event": "tomorrow"},
        {"MsgType": "channels_card"},
    ],
)
def test_what_nobody_answers_is_no_message(fields: dict[str, str]):
    assert message_of(**fields) is None


@pytest.mark.parametrize("event", ["user_authorization_revoke", "user_authorization_cancellation"])
def test_a_revocation_is_about_its_subject(event: str):
    message = message_of(MsgType="event", Event=event, OpenID="oB")
    assert message is not None
    assert (message.kind, message.sender.openid) == (Kind.REVOKE, "oB")
    assert message.key == f"oB/1700000000/{event}/"


def test_an_openid_field_elsewhere_changes_nothing():
    message = message_of(MsgType="text", Content="x", OpenID="oVictim")
    assert message is not None
    assert message.sender.openid == "oA"


def test_a_unionid_is_kept_where_there_is_one():
    with_it = message_of(MsgType="text", Content="x", UnionId="u1")
    without = message_of(MsgType="text", Content="x")
    assert with_it and without
    assert (with_it.unionid, without.unionid) == ("u1", "")


def test_pages_are_wechats():
    assert pages_of("**好**") == ("好",)
    assert len(pages_of("汉" * 1024)) == 2
    assert pages_of("") == ()
    assert pages_of("看[说明](https://e.cn/a?b=1&c=2)，\n`[不是](https://e.cn)`") == (
        '看<a href="https://e.cn/a?b=1&c=2">说明</a>，\n[不是](https://e.cn)',
    )
    assert pages_of("[点](weixin://x) <a href='weixin://y'>这</a>weixin://z") == ("点 这",)
