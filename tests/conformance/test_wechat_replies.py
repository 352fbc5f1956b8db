"""Every published passive reply, as this adapter writes it, and as the simulated WeChat reads it."""

import json
from typing import Any
from xml.etree import ElementTree

import pytest

from bot.channels.wechat.links import shown
from bot.channels.wechat.message import Article, Message, MessageSegment
from bot.channels.wechat.rendering import PAGE_BYTES, pages
from bot.channels.wechat.replies import message_xml
from bot.channels.wechat_mapping import pages_of
from tests.conformance.wechat_app import ACCOUNT, SAFE_ACCOUNT, Bot, Event, wechat_app
from tests.shared_files import require_shared

ENTRIES: list[dict[str, Any]] = json.loads(
    require_shared("fixtures/wechat_reply_xml.json").read_text("utf-8")
)
SAMPLES = [entry for entry in ENTRIES if entry["kind"].startswith("wechat_reply_xml:")]
RENDERED = [entry for entry in ENTRIES if entry["kind"] == "wechat_reply_render"]
MEASURED_BYTES = 2047
"""What WeChat is known to deliver."""


def test_every_entry_is_one_of_these():
    assert len(SAMPLES) + len(RENDERED) == len(ENTRIES) == 25
    assert {entry["kind"].rpartition(":")[2] for entry in SAMPLES} == {
        "image",
        "music",
        "news",
        "text",
        "transfer_customer_service",
        "video",
        "voice",
    }


def fields_of(element: ElementTree.Element) -> Any:
    """As the fixtures write them: text, children by name, a list where a name repeats."""
    if not len(element):
        return element.text or ""
    fields: dict[str, Any] = {}
    for child in element:
        value = fields_of(child)
        if child.tag not in fields:
            fields[child.tag] = value
        elif isinstance(fields[child.tag], list):
            fields[child.tag].append(value)
        else:
            fields[child.tag] = [fields[child.tag], value]
    return fields


def read(xml: str) -> dict[str, Any]:
    return fields_of(ElementTree.fromstring(xml.strip()))


def message_of(fields: dict[str, Any]) -> str | Message:
    """The reply whose XML has these fields."""
    kind = fields["MsgType"]
    if kind == "text":
        return fields["Content"]
    if kind == "transfer_customer_service":
        return Message(MessageSegment.transfer(fields.get("TransInfo", {}).get("KfAccount", "")))
    if kind == "news":
        items = fields["Articles"]["item"]
        articles = [
            Article(
                title=item["Title"],
                description=item["Description"],
                picture_url=item["PicUrl"],
                url=item["Url"],
            )
            for item in items
        ]
        return Message(MessageSegment.news(articles))
    inner = fields[{"image": "Image", "voice": "Voice", "video": "Video", "music": "Music"}[kind]]
    if kind == "music":
        segment = MessageSegment.music(
            inner["ThumbMediaId"],
            inner["MusicUrl"],
            inner["HQMusicUrl"],
            inner["Title"],
            inner["Description"],
        )
    elif kind == "video":
        segment = MessageSegment.video(inner["MediaId"], inner["Title"], inner["Description"])
    elif kind == "voice":
        segment = MessageSegment.voice(inner["MediaId"])
    else:
        segment = MessageSegment.image(inner["MediaId"])
    return Message(segment)


def rendered(fields: dict[str, Any], reply: str | Message) -> str:
    ends = {"to_user": fields["ToUserName"], "from_user": fields["FromUserName"]}
    return message_xml(reply, **ends, created=int(fields["CreateTime"]))


@pytest.mark.parametrize("entry", SAMPLES, ids=lambda entry: entry["id"])
def test_a_sample_of_another_sdk_has_the_same_fields(entry: dict[str, Any]):
    fields = entry["expected"]["fields"]
    assert read(entry["expected"]["xml"]) == fields
    assert read(rendered(fields, message_of(fields))) == fields


def given(entry: dict[str, Any]) -> str | Message:
    """The reply an entry asks for."""
    asked = entry["input"]
    match asked["type"]:
        case "text":
            return asked["content"]
        case "success":
            return ""
        case "news":
            card = Article(title="t", url="https://e.cn")
            return Message(MessageSegment.news([card] * asked["articles"]))
        case "transfer_customer_service":
            return Message(MessageSegment.transfer(asked.get("account", "")))
        case "video":
            texts = {name: asked[name] for name in ("title", "description") if name in asked}
            return Message(MessageSegment.video(asked["media_id"], **texts))
        case kind:
            return Message(MessageSegment(kind, {"media_id": asked["media_id"]}))


@pytest.mark.parametrize("entry", RENDERED, ids=lambda entry: entry["id"])
async def test_a_reply_is_rendered_to_the_byte(entry: dict[str, Any]):
    asked, body = entry["input"], entry["expected"]["body"]
    if body == "INVALID":
        with pytest.raises(TypeError):
            message_xml("x", to_user="o1", from_user="gh", created=[1682391258])  # type: ignore[arg-type]
    elif body == "ERROR":
        with pytest.raises(ValueError, match="articles"):
            given(entry)
    elif body in ("SPLIT", "success"):
        await check_in_the_app(asked.get("content", ""), is_split=body == "SPLIT")
    else:
        ends = {"to_user": asked["to"], "from_user": asked["frm"]}
        xml = message_xml(given(entry), **ends, created=asked["time"])
        assert xml == body
        assert read(xml) == entry["expected"]["fields"]


async def check_in_the_app(text: str, *, is_split: bool) -> None:
    """What a person sees of a text that does not fit, or is none."""
    cut = pages(text)
    assert (len(cut) > 1) is is_split
    assert "".join(cut) == text
    assert all(len(page.encode()) <= PAGE_BYTES for page in cut)

    async def answer(bot: Bot, event: Event) -> None:
        await bot.send(event, text)

    for account in (ACCOUNT, SAFE_ACCOUNT):
        async with wechat_app(account, handler=answer) as app, app.wechat() as wechat:
            seen = await wechat.say("oA", "你好")
        assert not seen.is_fault
        assert len(seen.text.encode()) <= MEASURED_BYTES
        assert seen.text.rstrip("…") == text[: len(seen.text.rstrip("…"))]
        # In safe mode `success` is not encrypted either.
        assert seen.bodies == (b"success",) if not text else seen.text


async def test_a_page_of_markdown_is_what_the_person_sees():
    (page,) = pages_of("## 退货\n看[说明](https://e.cn/a?b=1&c=2)，`c++` 与 #话题#\n> 回复“\ufdd0人工\ufdd1”")

    async def answer(bot: Bot, event: Event) -> None:
        await bot.send(event, page)

    for account in (ACCOUNT, SAFE_ACCOUNT):
        async with wechat_app(account, handler=answer) as app, app.wechat() as wechat:
            seen = await wechat.say("oA", "怎么退货")
        assert seen.text == shown(page)
        assert seen.text == (
            '退货\n看<a href="https://e.cn/a?b=1&c=2">说明</a>，c++ 与 #话题#\n'
            '回复“<a href="weixin://bizmsgmenu?msgmenucontent=人工&msgmenuid=1">人工</a>”'
        )
