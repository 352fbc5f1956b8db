"""Pages rejoin to the text as QQ shows it and never exceed the limit."""

from hypothesis import given
from hypothesis import strategies as st

from bot.channels.onebot_pages import LONGEST, pages_of, shown
from bot.conversation.taps import as_shown

PIECES = st.one_of(
    st.text(alphabet="一句话。，\n aé😀👩\u200d\ufe0f\u0301🇨🇳", max_size=200),
    st.sampled_from(["👩\u200d👩\u200d👧", "🇨🇳" * 700, "👍🏽" * 800, "e\u0301" * 900, "字" * 1600]),
    st.text(max_size=300),
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)


@given(TEXTS)
def test_pages_rejoin_and_fit(text: str) -> None:
    pages = pages_of(text)
    assert "".join(pages) == shown(text)
    assert all(0 < len(page) <= LONGEST for page in pages)


@given(st.sampled_from(["👩\u200d👩\u200d👧", "🇨🇳", "👍🏽", "e\u0301", "1\ufe0f\u20e3"]), st.integers(0, 30))
def test_no_page_begins_inside_a_character(cluster: str, offset: int) -> None:
    text = "字" * offset + cluster * LONGEST
    for page in pages_of(text):
        assert page.removeprefix("字" * offset).replace(cluster, "") == ""


def test_the_best_place_to_cut_is_found() -> None:
    sentence = "这一句话正好有二十个字，用来试试怎么切。"
    paragraph = sentence * 30
    assert pages_of(f"{paragraph}\n\n{paragraph}\n\n{paragraph}")[0] == f"{paragraph}\n\n{paragraph}\n\n"
    assert all(page.endswith("。") for page in pages_of(sentence * 200))


def test_short_and_empty_texts() -> None:
    assert pages_of(" 好 ") == ("好",)
    assert pages_of(" \n") == ()


def test_no_markdown_and_no_tap_is_left() -> None:
    text = "## 退货\n**看**[说明](https://e.cn/a_b)，回复“\ufdd0人工\ufdd1”\n```\n**码**\n```"
    assert pages_of(text) == ("退货\n看说明（https://e.cn/a_b），回复“人工”\n**码**",)
    assert pages_of(as_shown("**码**") + "\n(1/2) 回复“\ufdd0继续\ufdd1”") == ("**码**\n(1/2) 回复“继续”",)
