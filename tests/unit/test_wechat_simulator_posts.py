"""Every type of message and event has the documented fields, and every type of reply is understood."""

import json
from typing import Any

import httpx
import pytest

from simulators.wechat import (
    FAULT,
    UNSUPPORTED,
    BadReply,
    ManualClock,
    Mode,
    Seen,
    Way,
    WeChatServer,
    envelope,
    posts,
)
from simulators.wechat.account import Account
from simulators.wechat.replies import read_reply
from tests.shared_files import require_shared
from tests.wechat_callbacks import Answer, Callback, Posted, answering, echoing, reply, says_text

KEY = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"
ACCOUNT = Account(app_id="wx1", token="t")


def server_of(callback: Callback, **options: Any) -> WeChatServer:
    transport = httpx.ASGITransport(app=callback)
    return WeChatServer("http://bot.test/", "t", "wx1", transport=transport, clock=ManualClock(), **options)


DOES = {
    "text": lambda w: w.say("oA", "你好"),
    "tapped": lambda w: w.say("oA", "满意", menu_id="101"),
    "unsupported": lambda w: w.unsupported("oA"),
    "voice": lambda w: w.voice("oA", "你好"),
    "image": lambda w: w.image("oA"),
    "video": lambda w: w.video("oA"),
    "shortvideo": lambda w: w.video("oA", is_short=True),
    "location": lambda w: w.location("oA", 23.134521, 113.358803, "位置信息"),
    "link": lambda w: w.link("oA", "标题", "说明", "https://e.cn/"),
    "subscribe": lambda w: w.follow("oA"),
    "qrscene": lambda w: w.follow("oA", "123123"),
    "trade": lambda w: w.follow("oA", trade_no="4003752001"),
    "unsubscribe": lambda w: w.unfollow("oA"),
    "SCAN": lambda w: w.scan("oA", "77"),
    "LOCATION": lambda w: w.report_location("oA"),
    "CLICK": lambda w: w.click("oA", "HELP"),
    "VIEW": lambda w: w.view("oA", "https://e.cn/"),
    "TEMPLATESENDJOBFINISH": lambda w: w.template_sent("oA", 200163836),
    "revoke": lambda w: w.authorization("oA", "user_authorization_revoke"),
}
FIELDS = {
    "text": {"MsgType": "text", "Content": "你好"},
    "tapped": {"MsgType": "text", "Content": "满意", "bizmsgmenuid": "101"},
    "unsupported": {"MsgType": "text", "Content": UNSUPPORTED},
    "voice": {"MsgType": "voice", "Recognition": "你好", "Format": "amr", "MediaId": None},
    "image": {"MsgType": "image", "PicUrl": "https://mmbiz.qpic.cn/simulated", "MediaId": None},
    "video": {"MsgType": "video", "MediaId": None, "ThumbMediaId": None},
    "shortvideo": {"MsgType": "shortvideo", "MediaId": None, "ThumbMediaId": None},
    "location": {
        "MsgType": "location",
        "Location_X": "23.134521",
        "Location_Y": "113.358803",
        "Scale": "20",
        "Label": "位置信息",
    },
    "link": {"MsgType": "link", "Title": "标题", "Description": "说明", "Url": "https://e.cn/"},
    "subscribe": {"Event": "subscribe", "EventKey": ""},
    "qrscene": {"Event": "subscribe", "EventKey": "qrscene_123123", "Ticket": None},
    "trade": {"Event": "subscribe", "EventKey": "last_trade_no_4003752001"},
    "unsubscribe": {"Event": "unsubscribe", "EventKey": ""},
    "SCAN": {"Event": "SCAN", "EventKey": "77", "Ticket": None},
    "LOCATION": {"Event": "LOCATION", "Latitude": "23.13", "Longitude": "113.27", "Precision": "65.0"},
    "CLICK": {"Event": "CLICK", "EventKey": "HELP"},
    "VIEW": {"Event": "VIEW", "EventKey": "https://e.cn/"},
    "TEMPLATESENDJOBFINISH": {
        "Event": "TEMPLATESENDJOBFINISH",
        "MsgID": "200163836",
        "Status": "success",
    },
    "revoke": {
        "Event": "user_authorization_revoke",
        "OpenID": "oA",
        "AppID": "wx1",
        "RevokeInfo": "1",
        "FromUserName": posts.PLATFORM_SENDER,
    },
}
"""None: anything, but something."""


@pytest.mark.parametrize("name", DOES)
async def test_it_posts_the_documented_fields(name: str):
    callback = answering(Answer())
    async with server_of(callback) as wechat:
        await DOES[name](wechat)
    found, wanted = callback.posted[0].fields, FIELDS[name]
    always = {"ToUserName": "gh_simulated", "FromUserName": "oA", "CreateTime": "1750000000"}
    numbered: dict[str, str | None] = {"MsgId": None} if "MsgType" in wanted else {"MsgType": "event"}
    assert found.keys() == (always | numbered | wanted).keys()
    for field, value in (always | numbered | wanted).items():
        assert found[field] == value if value is not None else found[field]


SILENT = ("unsubscribe", "TEMPLATESENDJOBFINISH", "revoke")


@pytest.mark.parametrize("name", DOES)
async def test_who_is_shown_a_reply_and_who_a_fault(name: str):
    async def says(posted: Posted) -> Answer:
        return Answer(body=says_text(posted.fields["FromUserName"], "好"))

    async with server_of(Callback(says=says)) as wechat:
        answered = await DOES[name](wechat)
    async with server_of(answering(Answer(body="oops"))) as wechat:
        failed = await DOES[name](wechat)
        assert [sight.way for sight in wechat.seen("oA")] == ([] if name in SILENT else [Way.FAULT])
    assert answered.text == ("" if name in (*SILENT, "VIEW") else "好")
    assert failed.text == ("" if name in SILENT else FAULT)


async def test_the_published_bodies_are_ours():
    """The same fields as the documents' own examples, for every type that the simulator posts."""
    entries = json.loads(require_shared("fixtures/wechat_inbound_xml.json").read_text("utf-8"))
    kinds = {posted_kind(FIELDS[name]) for name in DOES}
    compared = set()
    for entry in entries:
        if not entry["id"].startswith(("wx-wpy", "wx-doc")) or ":sequence" in entry["kind"]:
            continue
        fields = entry["expected"].get("fields", {})
        if (kind := posted_kind(fields)) in kinds and "scanbarcode" not in str(fields):
            mine = {
                field
                for name in DOES
                if posted_kind(FIELDS[name]) == kind
                for field in FIELDS[name].keys() | {"ToUserName", "FromUserName", "CreateTime", "MsgId"}
            } | {"MsgType"}
            assert fields.keys() - {"scanimage"} <= mine, entry["id"]
            compared.add(kind)
    assert len(compared) >= 12


def posted_kind(fields: dict[str, Any]) -> str:
    return str(fields.get("Event") or fields.get("MsgType") or "")


async def test_following_and_leaving_are_remembered():
    async with server_of(answering(Answer())) as wechat:
        await wechat.follow("oA", "33")
        assert (wechat.people["oA"].is_following, wechat.people["oA"].scene) == (True, "33")
        await wechat.unfollow("oA")
        assert not wechat.people["oA"].is_following
        await wechat.follow("oA")
        assert (wechat.people["oA"].is_following, wechat.people["oA"].scene) == (True, "")


NEWS = (
    "<ArticleCount>{count}</ArticleCount><Articles>"
    "<item><Title>一</Title><Description>甲</Description><PicUrl>p</PicUrl><Url>u</Url></item>"
    "<item><Title>二</Title></item></Articles>"
)


async def heard(inside: str, kind: str, *, by_click: bool = False) -> tuple[Seen, WeChatServer]:
    callback = answering(Answer(body=reply("oA", inside, kind=kind)))
    async with server_of(callback) as wechat:
        media_id = wechat.media.add("image", b"x").id
        callback.says = answering(Answer(body=reply("oA", inside.replace("MEDIA", media_id), kind=kind))).says
        seen = await (wechat.click("oA", "K") if by_click else wechat.say("oA", "你好"))
        return seen, wechat


async def test_a_picture():
    seen, wechat = await heard("<Image><MediaId>MEDIA</MediaId></Image>", "image")
    assert (seen.kind, seen.text) == ("image", "[图片]")
    assert wechat.media.has(wechat.seen("oA")[0].media_id)


async def test_a_picture_that_was_never_uploaded_is_a_fault():
    seen, _ = await heard("<Image><MediaId>else</MediaId></Image>", "image")
    assert seen.is_fault


async def test_news_one_article_to_a_message_and_more_to_an_event():
    seen, wechat = await heard(NEWS.format(count=2), "news")
    assert (seen.kind, seen.text) == ("news", "一\n甲")
    assert [article.url for article in wechat.seen("oA")[0].articles] == ["u"]
    seen, _ = await heard(NEWS.format(count=2), "news", by_click=True)
    assert seen.text == "一\n甲\n二"


async def test_a_hand_over_shows_nothing_and_is_noted():
    inside = "<TransInfo><KfAccount>test1@test</KfAccount></TransInfo>"
    for written, account in ((inside, "test1@test"), ("", "")):
        seen, wechat = await heard(written, "transfer_customer_service")
        assert (seen.text, seen.kind, wechat.seen("oA")) == ("", "transfer_customer_service", ())
        assert wechat.people["oA"].transfers == [account]


@pytest.mark.parametrize(
    ("kind", "inside"),
    [
        ("image", ""),
        ("image", "<Image><MediaId></MediaId></Image>"),
        ("voice", ""),
        ("video", "<Video/>"),
        ("music", "<Music/>"),
        ("news", NEWS.format(count=1)),
        ("news", NEWS.format(count="two")),
        ("news", "<ArticleCount>0</ArticleCount><Articles/>"),
        ("news", "<ArticleCount>1</ArticleCount><Articles><item><Url>u</Url></item></Articles>"),
        ("text", ""),
        ("text", "<Content>" + "汉" * 683 + "</Content>"),
        ("text", "<Content>" + "x" * 2048 + "</Content>"),
        ("voicemail", ""),
        ("", "<Content>x</Content>"),
    ],
)
def test_a_reply_that_is_not_whole_is_none(kind: str, inside: str):
    with pytest.raises(BadReply):
        read_reply(reply("oA", inside, kind=kind).encode(), ACCOUNT, "oA")


@pytest.mark.parametrize("created", ["", "soon", "[1682391258]", "1.5"])
def test_createtime_is_a_whole_number(created: str):
    with pytest.raises(BadReply, match="CreateTime"):
        read_reply(reply("oA", "<Content>x</Content>", created=created).encode(), ACCOUNT, "oA")


@pytest.mark.parametrize("text", ["x" * 2047, "汉" * 682, "😀" * 511])
def test_two_thousand_and_forty_seven_bytes_fit(text: str):
    read = read_reply(says_text("oA", text).encode(), ACCOUNT, "oA")
    assert read is not None
    assert read.text == text


def test_published_replies_are_understood():
    entries = json.loads(require_shared("fixtures/wechat_reply_xml.json").read_text("utf-8"))
    kinds = set()
    for entry in entries:
        expected = entry["expected"]
        body = expected.get("xml") or expected.get("body", "")
        if not expected.get("fields"):
            continue
        account = Account(app_id="wx1", token="t", original_id=expected["fields"]["FromUserName"])
        read = read_reply(body.strip().encode(), account, expected["fields"]["ToUserName"])
        assert read is not None, entry["id"]
        assert read.kind == expected["fields"]["MsgType"]
        assert read.text == expected["fields"].get("Content", read.text)
        kinds.add(read.kind)
    assert kinds == {"text", "image", "voice", "video", "music", "news", "transfer_customer_service"}


def test_compatible_mode_takes_either_reply():
    account = Account(app_id="wx1", token="t", aes_key=KEY, mode=Mode.COMPATIBLE)
    plain = says_text("oA", "好")
    sealed = envelope.encrypt(plain, aes_key=KEY, app_id="wx1")
    signed = envelope.signature("t", "1", "2", sealed)
    wrapped = (
        f"<xml><Encrypt>{sealed}</Encrypt><MsgSignature>{signed}</MsgSignature>"
        "<TimeStamp>1</TimeStamp><Nonce>2</Nonce></xml>"
    )
    for body in (plain, wrapped):
        read = read_reply(body.encode(), account, "oA")
        assert read is not None
        assert read.text == "好"
    with pytest.raises(BadReply):
        read_reply(wrapped.encode(), ACCOUNT, "oA")


LINK = '回复“<a href="weixin://bizmsgmenu?msgmenucontent=继续&amp;msgmenuid=1">继续看</a>”'


async def test_what_can_be_tapped_arrives_as_if_it_were_typed():
    async def says(posted: Posted) -> Answer:
        return Answer(body=says_text("oA", LINK if posted.fields["Content"] == "长" else "后面的"))

    callback = Callback(says=says)
    async with server_of(callback) as wechat:
        first = await wechat.say("oA", "长")
        assert (first.text, first.shown) == (LINK, "回复“继续看”")
        assert [tap.content for tap in first.taps] == ["继续"]
        second = await wechat.tap("oA", "继续看")
        with pytest.raises(LookupError):
            await wechat.tap("oA", "人工")
    assert (second.text, callback.posted[1].fields["Content"]) == ("后面的", "继续")
    assert callback.posted[1].fields["bizmsgmenuid"] == "1"


async def test_another_link_cannot_be_tapped_for_words():
    body = says_text("oA", '<a href="https://e.cn/?a=1&amp;b=2">看</a> &lt;')
    async with server_of(answering(Answer(body=body))) as wechat:
        seen = await wechat.say("oA", "你好")
    assert (seen.shown, seen.taps) == ("看 <", ())


async def test_raw_xml_counts_as_what_it_says():
    async with server_of(echoing()) as wechat:
        seen = await wechat.raw(wechat.xml("oA", "text", {"Content": "你好"}, 5), "oA")
        assert (seen.text, wechat.people["oA"].window.left(wechat.clock.now())) == ("听到：你好", 5)
        await wechat.raw(wechat.xml("oB", "event", {"Event": "unsubscribe"}), "oB")
        assert not wechat.people["oB"].is_following
        nobody = await wechat.raw(wechat.xml("oC", "text", {"Content": "你好"}, 6))
    assert (nobody.text, wechat.people.find("oC")) == ("听到：你好", None)


async def test_raw_xml_that_is_none_is_posted_as_it_is():
    callback = answering(Answer())
    async with server_of(callback) as wechat:
        assert (await wechat.raw("<xml><a>", "oA")).text == ""
        assert (await wechat.raw("<xml><a/></xml>", "oA")).text == ""
    assert callback.posted[0].body == b"<xml><a>"
