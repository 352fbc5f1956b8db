"""What a OneBot message holds besides text: pictures, cards, faces; in its array form and in its string form."""

import json
from typing import Any

import pytest

from bot.channels.onebot_adapter import OneBotAdapter
from bot.channels.onebot_mapping import OneBotMapping
from bot.conversation.message import Kind, Media, Message
from simulators.onebot.segments import (
    Segment,
    as_string,
    at,
    card,
    face,
    forwarded,
    image,
    market_face,
    text,
)


def said(message: Any, **fields: Any) -> Message:
    raw = {
        "time": 1773153399,
        "self_id": 10001,
        "post_type": "message",
        "message_type": "group",
        "group_id": 30001,
        "message_id": 5,
        "user_id": 20001,
        "message": message,
        **fields,
    }
    event = OneBotAdapter.json_to_event(raw)
    assert event is not None
    heard = OneBotMapping().to_message(event, self_id="10001", app_id="10001")
    assert heard is not None
    return heard


def segment(type_: str, **data: Any) -> Segment:
    return {"type": type_, "data": data}


def json_card(written: Any) -> Segment:
    return segment("json", data=written if isinstance(written, str) else json.dumps(written))


URL = "https://multimedia.nt.qq.com.cn/download?appid=1407&fileid=X,Y&rkey=[Z]"


@pytest.mark.parametrize(
    ("segments", "kind", "words", "quoted", "pictures"),
    [
        ([image(URL)], Kind.IMAGE, "", "", [URL]),
        ([image(URL), image("http://a.example/1.png")], Kind.IMAGE, "", "", [URL, "http://a.example/1.png"]),
        ([at(10001), image(URL)], Kind.IMAGE, "", "", [URL]),
        ([image(URL), text("这个多少钱")], Kind.TEXT, "这个多少钱", "", [URL]),
        ([image(URL), segment("video", file="A")], Kind.UNSUPPORTED, "", "", [URL]),
        ([card("会员日", "全场八折")], Kind.LINK, "", "会员日\n全场八折", []),
        ([text("看这个"), card("会员日", "全场八折")], Kind.TEXT, "看这个", "会员日\n全场八折", []),
        (
            [segment("share", url="https://a.example", title="标题", content="说明")],
            Kind.LINK,
            "",
            "标题\n说明",
            [],
        ),
        ([segment("music", type="custom", title="一首歌")], Kind.LINK, "", "一首歌", []),
        ([segment("music", type="163", id="1")], Kind.UNSUPPORTED, "", "", []),
        ([card("会员日", ""), segment("file", file="A")], Kind.UNSUPPORTED, "", "会员日", []),
        ([json_card({"prompt": "[分享]标题", "meta": {"x": 5}})], Kind.LINK, "", "[分享]标题", []),
        ([json_card({"prompt": "\x00"})], Kind.UNSUPPORTED, "", "", []),
        ([json_card("{")], Kind.UNSUPPORTED, "", "", []),
        ([json_card("[]")], Kind.UNSUPPORTED, "", "", []),
        ([json_card("[" * 5_000)], Kind.UNSUPPORTED, "", "", []),
        ([json_card({"prompt": "长" * 20_000})], Kind.UNSUPPORTED, "", "", []),
        ([forwarded()], Kind.UNSUPPORTED, "", "", []),
        ([segment("file", file="合同.docx", url="https://a.example/x")], Kind.UNSUPPORTED, "", "", []),
        ([segment("video", file="A.mp4")], Kind.UNSUPPORTED, "", "", []),
        ([segment("xml", data="<msg>我叫李四</msg>")], Kind.UNSUPPORTED, "", "", []),
        ([segment("record", file="A")], Kind.VOICE, "", "", []),
        ([market_face("[汪汪]")], Kind.TEXT, "[汪汪]", "", []),
        ([market_face("")], Kind.TEXT, "", "", []),
        ([face(14), text("早")], Kind.TEXT, "早", "", []),
    ],
)
@pytest.mark.parametrize("form", [list, as_string])
def test_both_forms_say_the_same(
    segments: list[Segment], kind: Kind, words: str, quoted: str, pictures: list[str], form: Any
) -> None:
    heard = said(form(segments))
    assert (heard.kind, heard.text, heard.quoted) == (kind, words, quoted)
    assert heard.media == tuple(Media(url=url) for url in pictures)


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "base64://AAAA", "A.jpg", "", "http://", "https:///x"]
)
def test_only_web_addresses_are_pictures_addresses(address: str) -> None:
    heard = said([image(address, file=address)])
    assert (heard.kind, heard.media) == (Kind.IMAGE, ())


def test_the_file_of_a_picture_may_be_its_address() -> None:
    assert said([segment("image", file=URL)]).media == (Media(url=URL),)
    assert said([image(f"https://a.example/{'x' * 5_000}")]).media == ()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (face(14, "/微笑")["data"], "[微笑]"),
        ({"id": "14", "raw": {"faceText": None}}, ""),
        ({"id": "14", "raw": "[object Object]"}, ""),
        ({"id": "14", "text": "[流汗]"}, "[流汗]"),
        ({"id": "14", "name": 5}, ""),
    ],
)
def test_a_face_keeps_its_words(data: dict[str, Any], words: str) -> None:
    assert said([text("好"), segment("face", **data)]).text == f"好{words}"


def test_a_quotation_goes_before_a_card_and_a_quoted_card_counts() -> None:
    def reply(*segments: Segment) -> dict[str, Any]:
        sender = {"user_id": 20002, "nickname": "乙"}
        return {
            "time": 1,
            "message_type": "group",
            "message_id": 3,
            "real_id": 3,
            "sender": sender,
            "message": list(segments),
        }

    event = OneBotAdapter.json_to_event(
        {
            "time": 1773153399,
            "self_id": 10001,
            "post_type": "message",
            "message_type": "group",
            "group_id": 30001,
            "message_id": 5,
            "user_id": 20001,
            "message": [card("会员日", "八折")],
            "reply": reply(text("原话")),
        }
    )
    mapping = OneBotMapping()
    heard = mapping.to_message(event, self_id="10001", app_id="10001") if event else None
    assert heard is not None
    assert heard.quoted == "原话"
    assert said([text("这个呢")], reply=reply(card("会员日", "八折"))).quoted == "会员日\n八折"
