"""Facts by columns are the facts they were made of."""

from dataclasses import replace
from datetime import timedelta

from bot.memory.fact import Fact, FactKind
from bot.memory.fact_rows import FactRows
from tests.memory_fakes import NOW, make_fact

FACTS = [
    replace(
        make_fact(number, f"第{number}件"),
        kind=kind,
        importance=number / 3,
        said_at=NOW - timedelta(microseconds=number),
        said_again_at=NOW + timedelta(days=1, microseconds=7) if number % 2 else None,
        channel="qq" if number == 2 else "wechat",
    )
    for number, kind in enumerate(FactKind, 1)
]


def test_each_row_is_its_fact() -> None:
    rows = FactRows.of(FACTS)
    assert list(rows) == FACTS
    assert rows == tuple(FACTS)
    assert rows != tuple(FACTS[1:])
    assert rows[-1] == FACTS[-1]
    assert list(rows[1:3]) == FACTS[1:3]
    assert FactRows.of(rows) is rows


def test_none_are_none() -> None:
    assert FactRows.of(()) == ()
    assert list(FactRows.of(()) + FACTS) == FACTS
    assert FactRows.of(()).by_time() == ()


def test_by_time_and_then_by_id() -> None:
    def at(number: int, seconds: int) -> Fact:
        return replace(make_fact(number, str(number)), said_at=NOW + timedelta(seconds=seconds))

    rows = FactRows.of([at(4, 1), at(2, 0), at(3, 1), at(9, -5)])
    assert [fact.id for fact in rows.by_time()] == [9, 2, 3, 4]
    assert rows.by_time().by_time() is not rows
    assert (ordered := rows.by_time()).by_time() is ordered
