"""Whatever the text: pages rejoin to it, fit, are valid XML, and split no character, link or tap."""

import re
from xml.etree import ElementTree

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.channels.wechat.links import ANCHOR, TAP, TAP_END, TAP_START, anchor, shown, tidy
from bot.channels.wechat.message import Article, Message, MessageSegment
from bot.channels.wechat.parsing import read_fields
from bot.channels.wechat.rendering import HEADING_BYTES, MARK_BYTES, PAGE_BYTES, mark_page, pages
from bot.channels.wechat.replies import message_xml, reply_xml
from bot.channels.wechat_mapping import pages_of
from bot.conversation.markdown import flatten

untimed = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
"""A slow machine is no failure."""
CLUSTERS = [
    "汉",
    "a",
    "。",
    "，",
    " ",
    "\n",
    "”",
    "👨‍👩‍👧‍👦",
    "🇨🇳",
    "👍🏽",
    "e\u0301",
    "1️⃣",
    "각",
    "क्षि",
    "😀",
]
LINKS = [
    anchor("看 这，里。", "https://e.cn/a?b=1&c=2"),
    anchor("长" * 40, "https://e.cn/" + "p" * 600),
    f"{TAP_START}继续{TAP_END}",
    f"{TAP_START}/privacy{TAP_END}",
]
BROKEN = [
    "<a ",
    "</a>",
    'href="',
    "weixin://",
    "]]>",
    TAP_START,
    TAP_END,
    "\ufdd2",
    "\x0b",
    "**",
    "```\n",
    "](http://",
]
any_text = st.text(st.characters(codec=None, categories=None), max_size=200)
pieces = st.one_of(st.sampled_from([*CLUSTERS, *LINKS, *BROKEN]), any_text)
long_text = st.builds(
    lambda parts, times: "".join(parts) * times, st.lists(pieces, max_size=30), st.integers(1, 40)
)
ENDS = {"to_user": "oA", "from_user": "gh_1", "created": 1}


def trimmed(text: str) -> str:
    """As pages begin and end: no empty lines before, no white space behind."""
    lines = tidy(text).rstrip().split("\n")
    while len(lines) > 1 and not lines[0].strip(" \t"):
        del lines[0]
    return "\n".join(lines)


NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def strictly_parsed(xml: str) -> str:
    """The content of a reply, by expat, which forgives nothing."""
    assert not NOT_IN_XML.search(xml)
    return ElementTree.fromstring(xml.encode("utf-8", "strict")).findtext("Content") or ""


@untimed
@given(long_text)
def test_pages_rejoin_to_the_text_and_fit(text: str):
    cut = pages(text)
    assert "".join(cut) == trimmed(text)
    for number, page in enumerate(cut, start=1):
        size = len(shown(page).encode())
        assert 0 < size <= PAGE_BYTES
        if len(cut) > 1:
            assert size <= PAGE_BYTES - MARK_BYTES - (HEADING_BYTES if number == 1 else 0)
        marked = shown(mark_page(page, number, len(cut)))
        assert len(marked.encode()) <= PAGE_BYTES


@untimed
@given(long_text)
def test_a_page_arrives_as_it_is(text: str):
    for page in pages(text):
        xml = reply_xml(**ENDS, text=page)
        assert strictly_parsed(xml) == shown(page) if page.strip() else xml == ""
        without = reply_xml(**ENDS, text=page, taps=False)
        assert strictly_parsed(without) == TAP.sub(r"\1", page) if page.strip() else without == ""


@untimed
@given(long_text)
def test_no_link_and_no_tap_is_cut(text: str):
    cut = pages(text)
    for form in (ANCHOR, TAP):
        assert sum(len(form.findall(page)) for page in cut) == len(form.findall(trimmed(text)))
    for page in cut:
        assert not re.search(r"</?a\b", ANCHOR.sub("", page), re.IGNORECASE)
        assert tidy(page) == page


@untimed
@given(long_text)
def test_a_text_is_tidy_once_and_for_all(text: str):
    once = tidy(text)
    assert tidy(once) == once
    assert "weixin:/" not in ANCHOR.sub("", once).lower()


@untimed
@given(long_text)
def test_markdown_makes_no_page_unsendable(text: str):
    cut = pages_of(text)
    assert "".join(cut) == trimmed(flatten(text, link=anchor))
    for page in cut:
        assert len(shown(page).encode()) <= PAGE_BYTES


@untimed
@given(
    st.lists(st.sampled_from(CLUSTERS), min_size=1, max_size=60), st.integers(20, 200), st.integers(400, 900)
)
def test_no_cluster_is_cut(clusters: list[str], times: int, limit_bytes: int):
    # Letters between, or trimming would shift what follows, and blanks would add up.
    clusters = ["a", *[*clusters, "a"] * times]
    ends, at = set(), 0
    for cluster in clusters:
        at += len(cluster)
        ends.add(at)
    at = 0
    for page in pages("".join(clusters), limit_bytes=limit_bytes):
        at += len(page)
        assert at in ends


@untimed
@given(st.one_of(any_text, st.sampled_from(BROKEN)))
def test_any_reply_is_valid_xml(text: str):
    xml = reply_xml(**ENDS, text=text)
    assert xml == "" or 0 < len(strictly_parsed(xml).encode()) <= PAGE_BYTES
    picture = message_xml(Message(MessageSegment.image(text)), **ENDS)
    assert ElementTree.fromstring(picture.encode()).findtext("MsgType") == "image"
    card = Article(title=text, description=text, url=text, picture_url=text)
    cards = message_xml(Message(MessageSegment.news([card, card])), **ENDS)
    assert len(ElementTree.fromstring(cards.encode()).findall("Articles/item")) == 2


@untimed
@given(st.one_of(st.binary(max_size=300), any_text))
def test_no_body_raises(body: bytes | str):
    fields = read_fields(body)
    assert fields is None or isinstance(fields, dict)


def assert_stays_text(typed: str) -> None:
    """As WeChat wraps it: unescaped, in CDATA. Either read as typed, or the whole post is unreadable."""
    xml = f"<xml><FromUserName>oA</FromUserName><Content><![CDATA[{typed}]]></Content><MsgId>1</MsgId></xml>"
    fields = read_fields(xml)
    if fields is not None:
        assert set(fields) == {"FromUserName", "Content", "MsgId"}
        assert fields["FromUserName"] == "oA"


PIECES = [
    "]]>",
    "<![CDATA[",
    "<Content>",
    "</Content>",
    "<UnionId>",
    "</UnionId>",
    "<FromUserName>",
    "</xml>",
]
PIECES += [
    "</FromUserName>",
    "<!--",
    "-->",
    "<xml>",
    "<a>",
    "</a>",
    "x",
    "<?",
    "?>",
    "&lt;",
    "<Content ",
    "'",
]


@settings(untimed, max_examples=1000)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_no_assembly_of_markup_becomes_another_field(typed: str):
    assert_stays_text(typed)
