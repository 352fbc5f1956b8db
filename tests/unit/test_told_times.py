"""The times that a memory names, and what is written of them."""

from datetime import UTC, datetime

import pytest

from bot.memory.time_zh import OPEN_END, OPEN_START, Window
from bot.memory.told_times import read_written, times_told, written

SAID_AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("我对花生过敏", 0),
        ("昨天买了鞋", 1),
        ("3月10号到货", 2),
        ("每周一开会", 0),
    ],
)
def test_what_is_written_is_read_as_it_was(text: str, count: int) -> None:
    told = times_told(text, SAID_AT)
    assert len(told) == count
    assert read_written(written(told)) == told


def test_open_windows_are_written_too() -> None:
    always = (Window(start=OPEN_START, end=OPEN_END),)
    assert read_written(written(always)) == always
    assert written(()) == ""
    assert read_written("") == ()


def test_what_nobody_wrote_is_refused() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        read_written("1,二")
