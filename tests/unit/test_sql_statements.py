"""Statements are text and positions; times are exact."""

import sqlite3
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import bindparam, func, select, update

from bot.storage.sql.schema import from_ms, stamp, to_ms
from bot.storage.sql.statements import Statement, constant, insert_into


@pytest.fixture
def connection():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE stamp (name TEXT PRIMARY KEY, value INTEGER)")
    yield connection
    connection.close()


def test_parameters_go_to_their_places_and_literals_stay(connection: sqlite3.Connection) -> None:
    insert = Statement(insert_into(stamp, "name", "value"))
    add = Statement(
        update(stamp)
        .where(stamp.c.name == bindparam("which"), stamp.c.value < 10)
        .values(value=stamp.c.value + bindparam("amount"))
        .returning(stamp.c.value)
    )
    insert.run(connection, value=7, name="a")
    assert add.first(connection, amount=5, which="a") == (12,)
    assert add.first(connection, amount=5, which="a") is None


def test_one_name_in_two_places(connection: sqlite3.Connection) -> None:
    twice = Statement(select(func.max(bindparam("x"), bindparam("y")) + bindparam("x")))
    assert twice.first(connection, x=3, y=2) == (6,)


@pytest.mark.parametrize(
    "params", [{}, {"name": "a"}, {"name": "a", "valu": 1}, {"name": "a", "value": 1, "x": 1}]
)
def test_missing_and_superfluous_names_are_refused(
    connection: sqlite3.Connection, params: dict[str, object]
) -> None:
    with pytest.raises(TypeError):
        Statement(insert_into(stamp, "name", "value")).run(connection, **params)


def test_an_expanding_list_is_refused_and_json_serves(connection: sqlite3.Connection) -> None:
    with pytest.raises(TypeError, match="json_each"):
        Statement(select(stamp.c.name).where(stamp.c.value.in_([1, 2])))
    connection.executemany("INSERT INTO stamp VALUES (?, ?)", [("a", 1), ("b", 2), ("c", 3)])
    each = func.json_each(bindparam("values")).table_valued("value")
    listed = Statement(select(stamp.c.name).where(stamp.c.value.in_(select(each.c.value))))
    assert listed.rows(connection, values="[1, 3]") == [("a",), ("c",)]


def test_a_constant_is_quoted(connection: sqlite3.Connection) -> None:
    assert Statement(select(constant("it's"), constant(3))).first(connection) == ("it's", 3)


@given(st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1), timezones=st.just(UTC)))
def test_times_are_kept_to_the_millisecond(moment: datetime) -> None:
    kept = from_ms(to_ms(moment))
    assert timedelta(0) <= moment - kept < timedelta(milliseconds=1)
    assert from_ms(to_ms(kept)) == kept
