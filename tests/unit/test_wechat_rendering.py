"""Pages and passive replies: Markdown, limits, cuts, and valid XML."""

from xml.etree import ElementTree

import pytest

from bot.channels.wechat.graphemes import is_boundary
from bot.channels.wechat.rendering import PAGE_BYTES, pages, plain, reply_xml, shorten

FAMILY = "👨‍👩‍👧‍👦"


def content_of(xml: str) -> str:
    return ElementTree.fromstring(xml).findtext("Content") or ""


def reply(text: str) -> str:
    return content_of(reply_xml(to_user="oA", from_user="gh_1", text=text, created=1_700_000_000))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**重点**和`代码`", "重点和代码"),
        ("# 标题\n## 二级\n正文", "标题\n二级\n正文"),
        ("看[说明](https://e.cn/a?b=1&c=2)。", "看说明 https://e.cn/a?b=1&c=2。"),
        ("```python\nprint(1)\n```\n完", "print(1)\n完"),
        ("c++ 与 2**3 与 #话题# 与 a_b_c", "c++ 与 2**3 与 #话题# 与 a_b_c"),
        ("第一行\r\n第二行\r第三行", "第一行\n第二行\n第三行"),
        ("a\x00\x0b\ud83db\ufffe", "ab"),
        ("[未完", "[未完"),
        ("  ", ""),
        ("1. 一\n2. 二\n- 三", "1. 一\n2. 二\n- 三"),
    ],
)
def test_markdown_becomes_plain_text(text: str, shown: str):
    assert plain(text) == shown
    assert plain(shown) == shown


def test_a_short_text_is_one_page_without_marks():
    assert pages("你好。") == ("你好。",)
    assert pages("a" * PAGE_BYTES) == ("a" * PAGE_BYTES,)


@pytest.mark.parametrize("text", ["", " \n ", "\x00"])
def test_nothing_to_say_is_no_page(text: str):
    assert pages(text) == ()


def test_1024_characters_are_cut_by_bytes_and_numbered():
    text = "汉" * 1024
    first, second = pages(text)
    assert first.endswith("\n(1/2) 回复“继续”")
    assert second.endswith("\n(2/2)")
    assert first.count("汉") + second.count("汉") == 1024
    assert all(len(page.encode()) <= PAGE_BYTES for page in (first, second))


def test_the_cut_prefers_a_sentence_with_its_closing_quote():
    text = "他说“" + "很长，" * 180 + "好。”" + "然后呢" * 60
    first = pages(text)[0].removesuffix("\n(1/2) 回复“继续”")
    assert first.endswith("好。”")


def test_the_cut_settles_for_a_pause():
    text = "很长，" * 400
    first = pages(text)[0].removesuffix("\n(1/2) 回复“继续”")
    assert first.endswith("，")


def test_a_sentence_end_in_the_first_half_is_no_cut():
    text = "短。" + "汉" * 1500
    assert len(pages(text)[0].encode()) > PAGE_BYTES - 10


def test_an_emoji_at_the_limit_is_not_split():
    for padding in range(1960, 1990):
        text = "a" * padding + FAMILY * 3
        assert all(FAMILY[1] not in page.replace(FAMILY, "") for page in pages(text))


def test_more_than_nine_and_ninety_nine_pages_still_fit():
    for count in (12, 150):
        cut = pages("汉" * 660 * count)
        assert len(cut) > count
        assert cut[-1].endswith(f"\n({len(cut)}/{len(cut)})")
        assert max(len(page.encode()) for page in cut) <= PAGE_BYTES


def test_one_cluster_longer_than_a_page_is_cut_all_the_same():
    heap = "e" + "\u0301" * 3000
    cut = pages(heap)
    assert "".join(page.rpartition("\n")[0] for page in cut) == heap
    assert max(len(page.encode()) for page in cut) <= PAGE_BYTES


def test_marks_may_be_worded_otherwise():
    first, last = pages("汉" * 700, more=" [{page} of {pages}]", last=" [end]")
    assert first.endswith(" [1 of 2]")
    assert last.endswith(" [end]")


@pytest.mark.parametrize("text", ["]]>", "]]]]>>", "<![CDATA[x]]>", "</Content></xml>", "&amp;<b>"])
def test_markup_in_a_reply_arrives_as_typed(text: str):
    assert reply(text) == text


def test_what_xml_cannot_carry_is_left_out():
    assert reply("a\x00\x08\x0b\x1f\ud800b\ufffe\uffff") == "ab"


def test_a_text_not_cut_into_pages_is_shortened():
    assert reply("汉" * 1000).endswith("汉…")
    assert len(reply("汉" * 1000).encode()) <= PAGE_BYTES
    assert shorten("a" * (PAGE_BYTES - 4) + FAMILY) == "a" * (PAGE_BYTES - 4) + "…"


def test_the_reply_swaps_sender_and_receiver():
    root = ElementTree.fromstring(reply_xml(to_user="oA", from_user="gh_1", text="x", created=1_700_000_000))
    assert {child.tag: child.text for child in root} == {
        "ToUserName": "oA",
        "FromUserName": "gh_1",
        "CreateTime": "1700000000",
        "MsgType": "text",
        "Content": "x",
    }


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
