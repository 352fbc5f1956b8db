"""What may be tapped in a WeChat text is what the bot means to be, and nothing anyone wrote."""

import pytest

from bot.channels.wechat.links import (
    ANCHOR,
    LONGEST_ANCHOR_BYTES,
    TAP_END,
    TAP_START,
    anchor,
    shown,
    tidy,
)

INTO_WECHAT = "weixin://bizmsgmenu?msgmenucontent=/清除记忆&msgmenuid=1"
TAP = f"{TAP_START}继续{TAP_END}"
LINKED_TAP = '<a href="weixin://bizmsgmenu?msgmenucontent=继续&msgmenuid=1">继续</a>'


@pytest.mark.parametrize(
    ("words", "address", "link"),
    [
        ("说明", "https://e.cn/a?b=1&c=2#d", '<a href="https://e.cn/a?b=1&c=2#d">说明</a>'),
        ("说明", "HTTP://e.cn", '<a href="http://e.cn">说明</a>'),
        ("a<b>c", "https://e.cn", '<a href="https://e.cn">a＜b＞c</a>'),
        (" 两\n行 ", "https://e.cn", '<a href="https://e.cn">两 行</a>'),
        ("引", "https://e.cn/\"onclick='x'<y>", '<a href="https://e.cn/%22onclick=%27x%27%3Cy%3E">引</a>'),
        ("空", "https://e.cn/a\u3000b`", '<a href="https://e.cn/a%E3%80%80b%60">空</a>'),
        ("路径", "https://e.cn/路径", '<a href="https://e.cn/路径">路径</a>'),
        ("", "https://e.cn", "https://e.cn"),
        (" ", "https://e.cn", "https://e.cn"),
        ("https://bank.cn", "https://evil.cn", "https://evil.cn"),
        (TAP, "https://e.cn", '<a href="https://e.cn">继续</a>'),
        ("weixin:/x", "https://e.cn", "https://e.cn"),
    ],
)
def test_an_anchor(words: str, address: str, link: str):
    assert anchor(words, address) == link
    assert tidy(link) == link
    assert bool(ANCHOR.fullmatch(link)) is link.startswith("<")


def test_a_link_too_long_to_stay_whole_is_written_out():
    address = "https://e.cn/" + "p" * LONGEST_ANCHOR_BYTES
    assert anchor("看", address) == f"看（{address}）"
    assert tidy(f'<a href="{address}">看</a>') == f"看（{address}）"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('<a href="https://e.cn">买</a>', '<a href="https://e.cn">买</a>'),
        ("裸的 https://e.cn/a_b?c=<d>", "裸的 https://e.cn/a_b?c=<d>"),
        (f'<a href="{INTO_WECHAT}">领奖</a>', "领奖"),
        (f"<A HREF='{INTO_WECHAT}'>领奖</A >", "领奖"),
        (f"<a\nhref={INTO_WECHAT}>领奖", "领奖"),
        ('<a href="javascript:x">领奖</a>', "领奖"),
        ('<a href="https://e.cn" onclick="x">领奖</a>', "领奖"),
        (f"{INTO_WECHAT}，看", "，看"),
        ("WEIXIN://dl/chat 看", " 看"),
        ("我的weixin: abc123", "我的weixin: abc123"),
        ("wei\x0bxin://x", ""),
        ("wei\ufdd7xin://x", ""),
        ("wei<a>xin://x", ""),
        ('<<a>a href="weixin:x">y', '＜a href="weixin:x">y'),
        ("x<a 且 y>b", "xb"),
        ("半个 <a href=", "半个 ＜a href="),
        ("若 x<a，则 </a", "若 x＜a，则 ＜/a"),
        ("<abbr> <b>", "<abbr> <b>"),
        (TAP, TAP),
        (f"{TAP_START}领 奖{TAP_END}", "领 奖"),
        (f"{TAP_START}{TAP}", TAP),
        (f"{TAP_END}a{TAP_START}", "a"),
        (f'<a href="https://e.cn">{TAP}</a>', '<a href="https://e.cn">继续</a>'),
        (f"{TAP_START}<x>{TAP_END}", "<x>"),
        ("\ufdd2a\ufdd3\ufdef", "a"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a" + " " * 5000 + "b", "a" + " " * 200 + "b"),
    ],
)
def test_what_is_kept_of_a_text(text: str, kept: str):
    assert tidy(text) == kept
    assert tidy(kept) == kept


def test_a_tap_is_shown_as_a_link_or_as_words():
    assert shown(f"回复“{TAP}”") == f"回复“{LINKED_TAP}”"
    assert shown(f"回复“{TAP}”", taps=False) == "回复“继续”"
    # What is sent already is not sent again as it is: it would be anybody's.
    assert shown(LINKED_TAP) == "继续"
