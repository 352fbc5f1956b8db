import pytest

from bot.memory.listed_numbers import numbers_named
from bot.memory.normalise import normalise


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("第3条", (3,)),
        ("3", (3,)),
        ("第一条", (1,)),
        ("第十二条吧", (12,)),
        ("第1条 第2条", (1, 2)),
        ("第1条第2条", (1, 2)),
        ("2、1", (1, 2)),
        ("第1和第3件事", (1, 3)),
        ("第2到4条", (2, 3, 4)),
        ("第1条和第2条，全部", (1, 2)),
        ("编号 3", (3,)),
    ],
)
def test_numbers_of_a_list(words: str, numbers: tuple[int, ...]) -> None:
    assert numbers_named(normalise(words)) == numbers


@pytest.mark.parametrize(
    "words",
    [
        "2026-12",
        "138 0013 8000",
        "两条",
        "12月3号",
        "第二条路",
        "3.5",
        "第4到2条",
        "第1到999条",
        "",
        "第一次去北京",
    ],
)
def test_what_is_no_number_of_a_list(words: str) -> None:
    assert numbers_named(normalise(words)) == ()
