"""The proof would fail where a byte or a row were left: each form is found, and whose a row is."""

import base64
from pathlib import Path

import numpy as np
import pytest

from benchmarks.memory.canaries import PEOPLE
from benchmarks.memory.scanning import Owners, forms_of, forms_of_vector, scan

WORDS = "青花瓷百灵"
VECTOR = np.linspace(0, 1, 16, dtype=np.float32)
WRITTEN = {
    "utf-8": WORDS.encode(),
    "utf-16le": WORDS.encode("utf-16-le"),
    "utf-16be": WORDS.encode("utf-16-be"),
    "gb18030": WORDS.encode("gb18030"),
    "\\u": WORDS.encode("ascii", "backslashreplace"),
    "base64+0": base64.b64encode(WORDS.encode() + b"!"),
    "base64+1": base64.b64encode(b"x" + WORDS.encode() + b"!"),
    "base64+2": base64.b64encode(b"xy" + WORDS.encode() + b"!"),
    "float32[16]": VECTOR.tobytes()[16:32],
    "float16[0]": VECTOR.astype("<f2").tobytes()[:16],
}


@pytest.mark.parametrize("form", WRITTEN)
def test_each_form_is_found_in_any_file(tmp_path: Path, form: str) -> None:
    forms = forms_of(WORDS) | forms_of_vector(VECTOR)
    (tmp_path / "nested").mkdir()
    (tmp_path / "nested" / "file").write_bytes(b"before" + WRITTEN[form] + b"after")
    assert form in {hit.form for hit in scan(tmp_path, forms)}
    assert scan(tmp_path, forms, but=("file",)) == []


def test_a_row_belongs_to_whom_its_shelf_or_message_does() -> None:
    columns = {
        "person": ["id"],
        "account": ["id", "person_id"],
        "shelf": ["id", "account_id"],
        "inbox": ["id", "channel", "app_id", "key", "account_id"],
        "seg": ["id"],
        "seal": ["channel", "app_id", "key"],
        "fact": ["id", "shelf_id"],
        "delivery": ["inbox_id"],
        "document": ["id"],
    }
    rows: dict[str, list[tuple[object, ...]]] = {
        "account": [(1, 10), (2, 20)],
        "shelf": [(5, 1), (6, 2)],
        "inbox": [(7, "c", "a", "k", 1), (8, "c", "a", "l", 2)],
    }
    mine = Owners(rows, columns, {1})
    owned = {
        "person": [(10,)],
        "account": [(1, 10)],
        "seg": [(5 << 20 | 3,)],
        "seal": [("c", "a", "k")],
        "fact": [(1, 5)],
        "delivery": [(7,)],
    }
    others = {
        "person": [(20,)],
        "account": [(2, 20)],
        "seg": [(6 << 20,)],
        "seal": [("c", "a", "l")],
        "fact": [(1, 6)],
        "delivery": [(8,)],
        "document": [(1,)],
    }
    assert all(mine.owns(table, row) for table, each in owned.items() for row in each)
    assert not any(mine.owns(table, row) for table, each in others.items() for row in each)


def test_nobodys_words_are_part_of_anothers() -> None:
    words = [word for person in PEOPLE for word in person.canaries]
    assert not [(one, other) for one in words for other in words if one != other and one in other]
