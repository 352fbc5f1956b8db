"""Replies become pages WeChat delivers, cut where a reader would cut them."""

from xml.etree import ElementTree

import pytest

from bot.channels.wechat.graphemes import is_boundary
from bot.channels.wechat.links import ANCHOR, TAP_END, TAP_START, anchor, shown
from bot.channels.wechat.message import Article, Message, MessageSegment
from bot.channels.wechat.rendering import (
    HEADING_BYTES,
    LAST,
    MARK_BYTES,
    MORE,
    PAGE_BYTES,
    mark_page,
    pages,
    shorten,
)
from bot.channels.wechat.replies import image_xml, message_xml, news_xml, reply_xml, transfer_xml

FAMILY = "👨‍👩‍👧‍👦"
TAP = f"{TAP_START}继续{TAP_END}"
ENDS = {"to_user": "oA", "from_user": "gh_1", "created": 1_700_000_000}


def content_of(xml: str) -> str:
    return ElementTree.fromstring(xml).findtext("Content") or ""


def reply(text: str) -> str:
    return content_of(reply_xml(**ENDS, text=text))


def sizes(cut: tuple[str, ...]) -> list[int]:
    return [len(shown(page).encode()) for page in cut]


def test_a_short_text_is_one_page():
    assert pages("你好。") == ("你好。",)
    assert pages("a" * PAGE_BYTES) == ("a" * PAGE_BYTES,)


@pytest.mark.parametrize("text", ["", " \n ", "\x00", "\ufdd5", "<a>"])
def test_nothing_to_say_is_no_page(text: str):
    assert pages(text) == ()


def test_white_space_around_a_reply_goes_but_not_what_indents_its_first_line():
    assert pages("\n  \n  缩进\n  再缩进 \n\n") == ("  缩进\n  再缩进",)


def test_1024_characters_are_cut_by_bytes_with_room_for_the_marks():
    first, second = pages("汉" * 1024)
    assert first + second == "汉" * 1024
    assert len(first.encode()) <= PAGE_BYTES - MARK_BYTES - HEADING_BYTES
    room = PAGE_BYTES - MARK_BYTES - HEADING_BYTES
    assert sizes(pages("汉" * 5000))[1] in range(room - 3, room + 1)


def test_the_marks_say_which_page_it_is_and_how_to_get_the_next():
    cut = pages("汉" * 1400)
    marked = [mark_page(page, number, len(cut)) for number, page in enumerate(cut, start=1)]
    assert [shown(page, taps=False).replace("汉", "") for page in marked] == [
        "\n(1/3) 回复“继续”",
        "\n(2/3) 回复“继续”",
        "\n(3/3)",
    ]
    assert max(len(shown(page).encode()) for page in marked) <= PAGE_BYTES
    assert mark_page("一页", 1, 1) == "一页"


def test_the_default_marks_fit_the_room_left_for_them():
    for mark in (MORE, LAST):
        filled = mark.replace("{number}", "9999").replace("{total}", "9999")
        assert len(shown(filled).encode()) <= MARK_BYTES


def test_marks_may_be_worded_otherwise_and_read_no_template_in_a_page():
    assert mark_page("{total}\n", 1, 2, more=" [{number} of {total}]") == "{total} [1 of 2]"
    assert mark_page("x", 2, 2, last=" [end]") == "x [end]"


def test_the_cut_prefers_a_sentence_with_its_closing_quote():
    text = "他说“" + "很长，" * 180 + "好。”" + "然后呢" * 80
    assert pages(text)[0].endswith("好。”")


def test_the_cut_settles_for_a_pause():
    assert pages("很长，" * 400)[0].endswith("，")


def test_a_sentence_end_in_the_first_half_is_no_cut():
    first = pages("短。" + "汉" * 1500)[0]
    assert len(first.encode()) > PAGE_BYTES - MARK_BYTES - HEADING_BYTES - 10


def test_an_emoji_at_the_limit_is_not_split():
    for padding in range(1740, 1790):
        text = "a" * padding + FAMILY * 12
        cut = pages(text)
        assert len(cut) == 2
        assert all(FAMILY[1] not in page.replace(FAMILY, "") for page in cut)


def test_one_cluster_longer_than_a_page_is_cut_all_the_same():
    heap = "e" + "\u0301" * 3000
    cut = pages(heap)
    assert "".join(cut) == heap
    assert max(sizes(cut)) <= PAGE_BYTES


@pytest.mark.parametrize("padding", range(1560, 1800, 7))
@pytest.mark.parametrize("link", [anchor("看 这，里。好", "https://e.cn/a?b=1，2"), TAP])
def test_no_link_is_cut(link: str, padding: int):
    text = "a" * padding + link + "b" * 900
    cut = pages(text)
    assert "".join(cut) == text
    assert sum(link in page for page in cut) == 1
    assert max(sizes(cut)) <= PAGE_BYTES - MARK_BYTES


def test_a_link_glued_to_a_heap_of_joiners_is_not_cut_either():
    text = "\u200d" * 580 + anchor("看", "https://e.cn/" + "p" * 300) + "b" * 900
    cut = pages(text)
    assert "".join(cut) == text
    assert sum(len(ANCHOR.findall(page)) for page in cut) == 1
    assert max(sizes(cut)) <= PAGE_BYTES


def test_taps_count_as_the_links_they_become():
    text = f"“{TAP}”，" * 200
    cut = pages(text)
    assert "".join(cut) == text
    assert max(sizes(cut)) <= PAGE_BYTES
    assert len(cut) > len(text.encode()) // PAGE_BYTES + 1


@pytest.mark.parametrize(
    "text", ["]]>", "]]]]>>", "<![CDATA[x]]>", "</Content></xml>", "&amp;<b>", "a\nb", "\\n"]
)
def test_markup_in_a_reply_arrives_as_typed(text: str):
    assert reply(text) == text


def test_what_xml_cannot_carry_is_left_out():
    assert reply("a\x00\x08\x0b\x1f\ud800b\ufffe\uffff") == "ab"


def test_a_text_not_cut_into_pages_is_shortened():
    assert reply("汉" * 1000).endswith("汉…")
    assert len(reply("汉" * 1000).encode()) <= PAGE_BYTES
    assert shorten("a" * (PAGE_BYTES - 4) + FAMILY) == "a" * (PAGE_BYTES - 4) + "…"
    link = anchor("看", "https://e.cn/" + "p" * 500)
    assert reply("汉" * 600 + link) == "汉" * 600 + "…"


@pytest.mark.parametrize("text", ["", "  \n", "\x00", "\ufdd0"])
def test_an_empty_text_is_no_reply(text: str):
    assert reply_xml(**ENDS, text=text) == ""


def test_a_tap_becomes_a_link_or_words():
    said = MessageSegment.text("回复“") + MessageSegment.tap("继续") + "”"
    assert content_of(message_xml(said, **ENDS)) == (
        '回复“<a href="weixin://bizmsgmenu?msgmenucontent=继续&msgmenuid=1">继续</a>”'
    )
    assert content_of(message_xml(said, **ENDS, taps=False)) == "回复“继续”"


def test_the_reply_swaps_sender_and_receiver():
    root = ElementTree.fromstring(reply_xml(**ENDS, text="x"))
    assert {child.tag: child.text for child in root} == {
        "ToUserName": "oA",
        "FromUserName": "gh_1",
        "CreateTime": "1700000000",
        "MsgType": "text",
        "Content": "x",
    }


@pytest.mark.parametrize("created", ["1", [1], 1.5, None])
def test_a_time_that_is_no_whole_number_is_a_mistake(created: object):
    with pytest.raises(TypeError):
        reply_xml(to_user="oA", from_user="gh_1", text="x", created=created)  # type: ignore[arg-type]


def test_a_message_is_the_first_thing_in_it_that_is_no_text():
    picture = MessageSegment.image("m]]>1")
    root = ElementTree.fromstring(message_xml("看图" + picture, **ENDS))
    assert (root.findtext("MsgType"), root.findtext("Image/MediaId")) == ("image", "m]]>1")
    assert image_xml(**ENDS, media_id="m]]>1") == message_xml(Message(picture), **ENDS)


def test_articles_of_a_news_reply():
    articles = [Article(title=f"第{n}篇", url=f"https://e.cn/?n={n}&x=<]]>") for n in range(8)]
    root = ElementTree.fromstring(news_xml(**ENDS, articles=articles))
    assert root.findtext("ArticleCount") == "8"
    assert [item.findtext("Url") for item in root.iterfind("Articles/item")] == [a.url for a in articles]
    assert str(MessageSegment.news(articles)) == ""
    for wrong in ([], [*articles, articles[0]]):
        with pytest.raises(ValueError, match="1 to 8"):
            MessageSegment.news(wrong)


def test_a_transfer_names_an_account_or_none():
    assert "TransInfo" not in transfer_xml(**ENDS)
    root = ElementTree.fromstring(transfer_xml(**ENDS, kf_account="a@b"))
    assert root.findtext("MsgType") == "transfer_customer_service"
    assert root.findtext("TransInfo/KfAccount") == "a@b"


def test_a_kind_wechat_does_not_know_is_a_mistake():
    with pytest.raises(ValueError, match="poke"):
        message_xml(Message(MessageSegment("poke")), **ENDS)


@pytest.mark.parametrize(
    "clusters",
    [
        ["a", "b"],
        [FAMILY, FAMILY],
        ["🇨🇳", "🇯🇵", "🇰🇷"],
        ["a", "🇨🇳", "🇯", "a"],
        ["👍🏽", "👍"],
        ["é", "e\u0301", "e"],
        ["1️⃣", "2️⃣"],
        ["❤️", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "x"],
        ["각", "\u1100\u1161\u11a8", "나"],
        ["नि", "क्षि"],
        ["กำ", "ก"],
        ["\r\n", "\n", "\r"],
        ["葛\U000e0100", "汉"],
        [],
    ],
)
def test_clusters(clusters: list[str]):
    text = "".join(clusters)
    ends = {len("".join(clusters[:count])) for count in range(len(clusters) + 1)}
    assert {at for at in range(len(text) + 1) if is_boundary(text, at)} == ends
