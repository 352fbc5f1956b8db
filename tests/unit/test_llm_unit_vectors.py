"""What may pass as a vector, and what may not."""

import numpy as np
import pytest

from bot.conversation.errors import EmbedderUnavailable
from bot.llm.unit_vectors import unit_rows


def test_rows_come_out_normalised_as_float32() -> None:
    matrix = unit_rows([[3, 4], [0, -2]], 2, 2)
    assert matrix.dtype == np.float32
    assert np.allclose(matrix, [[0.6, 0.8], [0, -1]])


def test_no_rows_keep_the_dimension() -> None:
    assert unit_rows([], 0, 7).shape == (0, 7)


@pytest.mark.parametrize(
    ("rows", "dimension"),
    [
        ([[0.0, 0.0]], None),
        ([[float("nan"), 1.0]], None),
        ([[float("inf"), 1.0]], None),
        ([[]], None),
        ([None], None),
        (["AAAA"], None),
        ([{"a": 1}], None),
        ([[1.0, 2.0, 3.0]], 2),
        ([[1.0], [1.0]], 1),
        ([], None),
    ],
    ids=["zero", "nan", "infinite", "empty", "null", "text", "object", "wrong-d", "too-many", "none"],
)
def test_one_vector_was_wanted(rows: list[object], dimension: int | None) -> None:
    with pytest.raises(EmbedderUnavailable):
        unit_rows(rows, 1, dimension)


def test_rows_of_unequal_length_are_refused() -> None:
    with pytest.raises(EmbedderUnavailable):
        unit_rows([[1.0, 2.0], [1.0]], 2, None)
