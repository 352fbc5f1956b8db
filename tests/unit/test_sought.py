"""Words that are to be forgotten are known again however they were written."""

import pytest

from bot.memory.sought import Sought, codes_in


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("SF123456", "我的ｓｆ１２３４５６呢"),
        ("SF123456", "SF 123456 到哪了"),
        ("不吃香菜", "我不吃 香菜"),
        ("300块", "退了三百块"),
        ("IPhone 15", "我有一台 iphone15"),
        ("a@b.com", "写信到 A@B.com"),
    ],
)
def test_is_found(words: str, text: str) -> None:
    assert Sought.of([words]).is_in(text)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("12", "我2012年毕业"),
        ("SF123", "SF1234"),
        ("300块", "1300块"),
        ("M", "我穿 M 码"),
        ("花生", "花  了生气"),
    ],
)
def test_is_not_found_in_something_else(words: str, text: str) -> None:
    assert not Sought.of([words]).is_in(text)


def test_codes_are_what_nobody_else_says_by_chance() -> None:
    found = codes_in(["我的单号是SF123456，2026-05-06 下的单，电话13812345678，2012年毕业，iphone15"])
    assert found.codes == {"sf123456", "13812345678", "iphone15"}


def test_nothing_is_sought_by_nothing() -> None:
    assert not Sought.of(["", "我", " "])
    assert not Sought().is_in("我")
