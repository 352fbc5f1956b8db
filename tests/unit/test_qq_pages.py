"""Pages for QQ: plain, callable by nobody, without addresses QQ refuses; they rejoin and fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.channels.qq_pages import LONGEST, QQPages, halves, without_dots
from bot.conversation.taps import as_shown

TOLD = "（“。”请换成“.”）"
PAGES = QQPages(TOLD, registered=["OK.cn", ""])
PIECES = st.one_of(
    st.text(alphabet="一句话。，\n aé😀👩\u200d\ufe0f\u0301🇨🇳<@#>.:/", max_size=200),
    st.sampled_from(
        ["https://a.com/b.c", "a.cn", "<@A1>", "@everyone", "字" * 1600, "**重点**", "\x00\ud800", "::"]
    ),
    st.text(max_size=300),
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)


@given(TEXTS)
def test_pages_rejoin_and_fit(text: str) -> None:
    pages = PAGES.pages_of(text)
    assert "".join(pages) == PAGES.shown(text)
    assert all(0 < len(page) <= LONGEST for page in pages)
    "".join(pages).encode()


@given(TEXTS)
def test_a_stored_page_is_shown_as_it_is(text: str) -> None:
    shown = PAGES.shown(text)
    assert PAGES.shown(as_shown(shown)) == shown


@given(TEXTS)
def test_nothing_that_calls_people_is_left(text: str) -> None:
    shown = PAGES.shown(text)
    assert "<@" not in shown
    assert "<faceType=" not in shown


@given(TEXTS, st.sampled_from(["a.cn", "https://a.com/b.c", "字", "ok.cn"]))
def test_it_is_said_once_where_something_was_rewritten(text: str, last: str) -> None:
    shown = PAGES.shown(f"{text} {last}")
    assert shown.count(TOLD) <= 1
    assert shown.endswith(TOLD) or last in ("字", "ok.cn")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("看[这里](https://www.example.com/a?b=c.d)。", "看这里（www。example。com/a?b=c。d）。"),
        ("请看example.com是的", "请看example。com是的"),
        ("写信到 a.b@c.com.", "写信到 a。b@c。com."),
        ("（example.com/a）", "（example。com/a）"),
        ("http://1.2.3.4:80/x", "1。2。3。4:80/x"),
        ("https://nook.cn", "nook。cn"),
        ("https://ok.cn.evil.com/", "ok。cn。evil。com/"),
        ("https://ok.cn@evil.com/", "ok。cn@evil。com/"),
        ("t.me/x", "t。me/x"),
        ("例子.中国", "例子。中国"),
    ],
)
def test_addresses_are_rewritten_and_it_is_said(text: str, shown: str) -> None:
    assert PAGES.shown(text) == f"{shown}\n{TOLD}"


@pytest.mark.parametrize(
    "text",
    [
        "Node.js 3.5 元 main.py README.md ok.So e.g. 1.2.3",
        "https://ok.cn/x?y=z.w https://shop.ok.cn:443",
        "a<b 2>1",
        "a://",
        "看这里…等等",
    ],
)
def test_what_is_no_address_and_what_is_registered_stays(text: str) -> None:
    assert PAGES.shown(text) == text


def test_people_are_not_called() -> None:
    assert PAGES.shown("<@ABC> @everyone <#1> <emoji:4> <qqbot-at-everyone />") == (
        "＜@ABC> ＠everyone ＜#1> ＜emoji:4> ＜qqbot-at-everyone />"
    )


def test_no_markdown_and_no_tap_is_left() -> None:
    text = "## 退货\n**看**说明，回复“\ufdd0人工\ufdd1”\n```\n**码**\n```"
    assert PAGES.pages_of(text) == ("退货\n看说明，回复“人工”\n**码**",)
    assert PAGES.pages_of(" \n") == ()


def test_a_refused_page_loses_every_dot_that_may_be_an_address() -> None:
    page = "见 pd.read、字.字 和 3.5"
    rewritten = PAGES.without_addresses(page)
    assert rewritten == f"见 pd。read、字。字 和 3.5\n{TOLD}"
    assert PAGES.without_addresses(rewritten) == rewritten
    assert PAGES.without_addresses("3.5 元") == "3.5 元"
    assert without_dots("ftp://a.b") == "a。b"


@given(TEXTS)
def test_halves_rejoin(text: str) -> None:
    parts = halves(text)
    if parts is None:
        assert len(text) < 2
    else:
        assert "".join(parts) == text
        assert all(parts)


def test_halves_are_cut_where_a_sentence_ends() -> None:
    assert halves("第一句话。第二句话。第三句话。第四") == ("第一句话。第二句话。", "第三句话。第四")
    assert halves("一二，三四") == ("一二，", "三四")
    assert halves("字👩\u200d👩\u200d👧字") == ("字👩\u200d👩\u200d👧", "字")
