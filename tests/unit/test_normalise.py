"""One form for what means the same."""

import pytest

from bot.memory.normalise import normalise, number_forms, searchable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ＳＦ１２３４　５６", "sf1234 56"),
        ("你好，世界。", "你好,世界."),
        ("“好”「的」《书》", '"好""的""书"'),
        ("\\u6211\\u5bf9花生过敏", "我对花生过敏"),
        ("\\ud83d\\ude00", "😀"),
        ("  a \n\t b ", "a b"),
        ("", ""),
    ],
)
def test_equal_meaning_compares_equal(text: str, expected: str) -> None:
    assert normalise(text) == expected


def test_a_lone_escaped_surrogate_can_still_be_encoded() -> None:
    assert normalise("\\ud83dx").encode("utf-8").endswith(b"x")


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("三百块", ("300块",)),
        ("两千三百元和十五天", ("2300元", "15天")),
        ("一千零五十人", ("1050人",)),
        ("三个", ("3个",)),
        ("二〇二六年", ("2026年",)),
        ("百度", ()),
        ("万一", ()),
        ("300块", ()),
        ("千千万万人", ()),
        ("三四十三码", ()),
    ],
)
def test_numerals_before_a_unit_are_read(text: str, forms: tuple[str, ...]) -> None:
    assert number_forms(text) == forms


def test_what_is_searched_holds_both_forms() -> None:
    assert searchable("退款三百块") == "退款三百块 300块"
