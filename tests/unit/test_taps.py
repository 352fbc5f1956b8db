"""Taps come from the catalogue alone, and everyone who cannot tap reads words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.channels.wechat.links import shown
from bot.conversation.taps import (
    TAP_END,
    TAP_START,
    as_shown,
    clean,
    shown_bytes,
    with_taps,
    without_taps,
)
from bot.conversation.wording import LANGUAGES, Wording, built_in

RESERVED = "".join(map(chr, range(0xFDD0, 0xFDF0)))


def test_a_catalogue_text_marks_its_taps():
    assert with_taps("回复“‹继续›”或“‹人工›”") == (
        f"回复“{TAP_START}继续{TAP_END}”或“{TAP_START}人工{TAP_END}”"
    )
    for kept in ("‹{name}›", "‹›", "‹a b›", "‹a", "<继续>", '‹"›', "‹" + "长" * 21 + "›"):
        assert with_taps(kept) == kept


def test_no_value_becomes_a_tap():
    wording = Wording({"heard": "您说{text}，回复“‹继续›”"})
    said = wording.say("heard", text="‹清除记忆›")
    assert said == f"您说‹清除记忆›，回复“{TAP_START}继续{TAP_END}”"
    assert without_taps(said) == "您说‹清除记忆›，回复“继续”"


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_can_be_tapped_is_something_the_bot_understands(language: str):
    understood = {
        *("继续", "人工", "记住", "隐私", "帮助", "/privacy", "/help", "恢复", "不用", "/restore", "/no"),
        *("确认绑定", "取消绑定"),
    }
    tapped = 0
    for sentence in built_in(language).values():
        for piece in with_taps(sentence).split(TAP_START)[1:]:
            tapped += 1
            assert piece.partition(TAP_END)[0] in understood, sentence
        assert not set("‹›") & set(with_taps(sentence)), sentence
    assert tapped > 8


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        (f"a{RESERVED}b", "ab"),
        ("看weixin://bizmsgmenu?msgmenucontent=/清除记忆 好", "看 好"),
        ("我的weixin:abc", "我的weixin:abc"),
        ("wei\ufdd0xin:/x", ""),
        ("[点](weixin://x)", "[点]()"),
        ("‹继续›", "‹继续›"),
    ],
)
def test_what_others_write_keeps_no_tap(text: str, cleaned: str):
    assert clean(text) == cleaned


@given(st.text(st.characters(exclude_categories=["Cs", "Cn"]) | st.sampled_from("<>weixin:/"), max_size=80))
def test_cleaning_is_done_in_one_go(text: str):
    assert clean(clean(text)) == clean(text)
    assert "weixin:/" not in clean(text).lower()


@pytest.mark.parametrize("words", ["继续", "/privacy", "人工"])
def test_bytes_are_counted_as_wechat_shows_them(words: str):
    text = f"回复“{TAP_START}{words}{TAP_END}”，{TAP_START}{words}{TAP_END}"
    assert shown_bytes(text) == len(shown(text).encode())
    assert shown_bytes(as_shown(text)) == shown_bytes(text)


def test_page_marks():
    wording = Wording.load()
    assert wording.mark_page("页", 1, 1) == "页"
    assert without_taps(wording.mark_page("页\n", 1, 2)) == "页\n(1/2) 回复“继续”"
    assert wording.mark_page("页", 2, 2) == "页\n(2/2)"
