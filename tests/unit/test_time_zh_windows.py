"""Windows of everyday expressions by the conventions of decision 0110, at several references."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from bot.conversation.local_time import LOCAL_TIME
from bot.memory.time_zh import Kind, find_times, window_of

TABLE = Path(__file__).resolve().parents[1] / "data" / "time_windows.txt"
_ONLY_AT_A_CLAUSE = {"刚"}


def _instant(written: str) -> datetime:
    return datetime.fromisoformat(written).replace(tzinfo=LOCAL_TIME)


def _cases() -> Iterator[tuple[str, datetime, datetime, datetime]]:
    now = _instant("2026-11-30")
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("@"):
            now = _instant(line[1:])
        elif not line.startswith("#"):
            names, start, end = (field.strip() for field in line.split("|"))
            for name in names.split("/"):
                yield name, now, _instant(start), now if end == "now" else _instant(end)


@pytest.mark.parametrize(("expression", "now", "start", "end"), list(_cases()))
def test_window(expression: str, now: datetime, start: datetime, end: datetime):
    window = window_of(expression, now)
    assert window is not None
    assert (window.start, window.end) == (start, end)


@pytest.mark.parametrize(
    ("expression", "now"),
    [(case[0], case[1]) for case in _cases() if case[0] not in _ONLY_AT_A_CLAUSE],
)
def test_the_whole_expression_is_found_in_a_sentence(expression: str, now: datetime):
    text = f"你还记得{expression}，我说过什么吗？"
    span = find_times(text, now)[0]
    assert (span.text, span.kind) == (expression, Kind.WINDOW)
