"""Columns that grow: each state stays what it was, whatever is added to it or to another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.memory.growing import Growing

ADDED = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), max_size=12)
"""Which of the states there are something is added to, and how many rows."""


def _columns(first: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    numbers = np.arange(first, first + count)
    return (
        numbers,
        numbers[:, np.newaxis] / np.ones((1, 3)),
        np.array([f"第 {each} 条" for each in numbers], object),
    )


@given(st.integers(0, 20), ADDED)
def test_a_state_stays_what_it_was(loaded: int, added: list[tuple[int, int]]) -> None:
    states = [(Growing(_columns(0, loaded)), list(range(loaded)))]
    first = loaded
    for place, count in added:
        before, numbers = states[place % len(states)]
        grown = before.with_added(_columns(first, count))
        states.append((grown, numbers + list(range(first, first + count))))
        first += count
    for state, numbers in states:
        told, matrix, texts = state.columns
        assert told.tolist() == numbers and len(state) == len(numbers)
        assert matrix.tolist() == [[each] * 3 for each in numbers]
        assert texts.tolist() == [f"第 {each} 条" for each in numbers]
    for state, numbers in states:
        for other, others in states:
            assert not state.grew_from(other) or numbers[: len(others)] == others


@pytest.mark.parametrize(
    "more", [(np.zeros(2), np.zeros((2, 1))), (np.zeros(2), np.zeros((1, 3))), (np.zeros(2),)]
)
def test_what_does_not_fit_is_refused(more: tuple[np.ndarray, ...]) -> None:
    state = Growing((np.arange(3.0), np.ones((3, 3))))
    with pytest.raises(ValueError):
        state.with_added(more)
    assert len(state) == 3


def test_adding_a_little_each_time_copies_seldom() -> None:
    state, copies = Growing(_columns(0, 1_000)), 0
    for number in range(1_000, 3_000):
        before, state = state, state.with_added(_columns(number, 1))
        copies += not state.grew_from(before)
    assert copies == 3
    assert state.size_bytes < 2 * (len(state) * (8 + 24 + 8))
