"""Whatever the text: pages rejoin to it, fit, are valid XML, and split no character."""

import re
from xml.etree import ElementTree

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.channels.wechat.parsing import read_fields
from bot.channels.wechat.rendering import PAGE_BYTES, pages, plain, reply_xml

untimed = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
"""A slow machine is no failure."""
MARK = re.compile(r"\n\((\d+)/(\d+)\)( 回复“继续”)?\Z")
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
any_text = st.text(st.characters(codec=None, categories=None), max_size=200)
long_text = st.builds(
    lambda parts, times: "".join(parts) * times,
    st.lists(st.one_of(st.sampled_from(CLUSTERS), any_text), max_size=30),
    st.integers(1, 40),
)


def unmarked(cut: tuple[str, ...]) -> list[str]:
    if len(cut) < 2:
        return list(cut)
    marks = [MARK.search(page) for page in cut]
    assert [(m[1], m[2], bool(m[3])) if m else None for m in marks] == [
        (str(n), str(len(cut)), n < len(cut)) for n in range(1, len(cut) + 1)
    ]
    return [MARK.sub("", page) for page in cut]


@untimed
@given(long_text)
def test_pages_rejoin_to_the_text_and_fit(text: str):
    cut = pages(text)
    assert "".join(unmarked(cut)) == plain(text)
    assert all(0 < len(page.encode()) <= PAGE_BYTES for page in cut)


@untimed
@given(long_text)
def test_a_page_arrives_as_it_is(text: str):
    for page in pages(text):
        xml = reply_xml(to_user="oA", from_user="gh_1", text=page, created=1)
        assert ElementTree.fromstring(xml).findtext("Content") == page


@untimed
@given(st.lists(st.sampled_from(CLUSTERS), min_size=300, max_size=900), st.integers(60, 300))
def test_no_cluster_is_cut(clusters: list[str], limit_bytes: int):
    # Letters at both ends, or trimming would shift what follows.
    clusters = ["a", *clusters, "a"]
    ends, at = set(), 0
    for cluster in clusters:
        at += len(cluster)
        ends.add(at)
    at = 0
    for page in unmarked(pages("".join(clusters), limit_bytes=limit_bytes)):
        at += len(page)
        assert at in ends


@untimed
@given(any_text)
def test_any_reply_is_valid_xml(text: str):
    xml = reply_xml(to_user="oA", from_user="gh_1", text=text, created=1)
    content = ElementTree.fromstring(xml).findtext("Content") or ""
    assert len(content.encode()) <= PAGE_BYTES


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
