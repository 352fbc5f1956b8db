"""Packed segments hold exactly what was appended and not taken out, whatever the order of events."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine
from sqlalchemy.pool import StaticPool

from bot.conversation.errors import StoreUnavailable
from bot.storage.sql import segments
from bot.storage.sql.schema import metadata, seg

DIMENSION = 3
SHELF = 7

Step = tuple[str, int]
steps = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 400)),
        st.tuples(st.just("forget"), st.integers(0, 10**6)),
        st.tuples(st.just("drop"), st.just(0)),
    ),
    min_size=1,
    max_size=12,
)


def empty_database() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    metadata.create_all(engine, tables=[seg])
    return connection


def rows_of(ids: list[int]) -> segments.PackedRows:
    numbers = np.array(ids, dtype=np.int64)
    return segments.PackedRows(
        fact_ids=numbers,
        said_at=numbers * 10,
        matrix=np.stack([numbers, numbers + 1, numbers + 2], axis=1).astype(np.float32),
    )


@given(steps)
@settings(deadline=None, max_examples=60)
def test_segments_hold_what_was_stored(events: list[Step]) -> None:
    with closing(empty_database()) as connection:
        for neighbour in (SHELF - 1, SHELF + 1):
            segments.append(connection, neighbour, 0, rows_of([1, 2, 3, 4, 5]))
        kept: list[int] = []
        size = fresh = 0
        for event, number in events:
            if event == "append":
                new = list(range(fresh, fresh + number))
                fresh += number
                size = segments.append(connection, SHELF, size, rows_of(new))
                kept += new
            elif event == "forget":
                gone = [each for each in kept if (each * 2654435761 + number) % 7 == 0]
                size = segments.rewrite_without(connection, SHELF, size, DIMENSION, [*gone, 10**9])
                kept = [each for each in kept if each not in set(gone)]
            else:
                segments.drop(connection, SHELF)
                size, kept = 0, []
            rows = segments.load(connection, SHELF, size, DIMENSION)
            assert rows.fact_ids.tolist() == kept
            assert rows.said_at.tolist() == [each * 10 for each in kept]
            assert rows.matrix[:, 2].tolist() == [each + 2 for each in kept]
        for neighbour in (SHELF - 1, SHELF + 1):
            assert segments.load(connection, neighbour, 5, DIMENSION).fact_ids.tolist() == [1, 2, 3, 4, 5]


@given(st.integers(0, 200_000))
def test_slots_lie_one_after_the_other(slot: int) -> None:
    number, offset = segments.locate(slot)
    following = (number, offset + 1) if offset + 1 < segments.capacity(number) else (number + 1, 0)
    assert segments.locate(slot + 1) == following


def test_the_first_slot() -> None:
    assert segments.locate(0) == (0, 0)
    assert [segments.capacity(number) for number in range(6)] == [4, 16, 64, 256, 256, 256]


def test_segments_before_the_first_row_that_goes_are_not_written() -> None:
    with closing(empty_database()) as connection:
        size = segments.append(connection, SHELF, 0, rows_of(list(range(30))))
        before = connection.total_changes
        segments.rewrite_without(connection, SHELF, size, DIMENSION, [29])
        # One row deleted, the same put back: of three segments.
        assert connection.total_changes - before == 2


def test_missing_segments_are_noticed() -> None:
    with closing(empty_database()) as connection:
        size = segments.append(connection, SHELF, 0, rows_of(list(range(30))))
        connection.execute("DELETE FROM seg WHERE id = ?", (SHELF << 20 | 2,))
        with pytest.raises(StoreUnavailable):
            segments.load(connection, SHELF, size, DIMENSION)
