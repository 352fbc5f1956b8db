import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation.text import after_slash, clean, clip, content, is_blank, normalise


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("　你好\u00a0 世界\u200b ", "你好 世界"),
        ("Ｃ＋＋ ＡＢＣ", "c++ abc"),
        ("退\u200b款", "退款"),
        ("多\n行\r\n文字", "多 行 文字"),
        ("ＳＦ１２３", "sf123"),
    ],
)
def test_what_looks_equal_is_normalised_to_equal(written: str, seen: str) -> None:
    assert normalise(written) == seen


def test_cleaning_keeps_case_and_width() -> None:
    assert clean(" Ａb　C ") == "Ａb C"


def test_content_is_letters_and_digits() -> None:
    assert content("「退款」吗？👍🏽 1️⃣ -C++") == "退款吗1c"


@pytest.mark.parametrize("text", ["", "  ", "\u3000\u00a0", "\u200b\ufeff", "\ufe0f\n\t"])
def test_what_shows_nothing_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["。", "a", "👍"])
def test_what_shows_something_is_not(text: str) -> None:
    assert not is_blank(text)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("/帮助", "帮助"),
        ("／帮助", "帮助"),
        ("\u200b　／ 忘记 尺码", "忘记 尺码"),
        ("/记住 我叫 Ａnna\n第二行", "记住 我叫 Ａnna\n第二行"),
        ("帮助", None),
        ("/", None),
        ("//comment", None),
        ("/::)", None),
        ("/:rose", None),
        ("", None),
    ],
)
def test_slash_in_any_width(text: str, rest: str | None) -> None:
    assert after_slash(text) == rest


def test_clipping_says_that_something_is_missing() -> None:
    assert clip("一二三四五", 5) == "一二三四五"
    assert clip("一二三四五六", 5) == "一二三四…"


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_is_accepted_and_the_result_can_be_sent(text: str) -> None:
    for form in (clean(text), normalise(text), content(text), clip(text, 5), after_slash(text) or ""):
        assert isinstance(form, str)
    normalise(text).encode()
    clean(text).encode()


@given(st.text())
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    assert normalise(normalise(text)) == normalise(text)
