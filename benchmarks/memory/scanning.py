"""Bytes looked for in files, and rows compared one by one.

Invariant: reads only; every file of a folder is read whole, whatever its name.
"""

import base64
import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from bot.conversation.ports import Vector

SLICE_BYTES = 16
"""Of a vector: a BLOB that overflows its page is not in one piece, and four floats are nobody else's."""
LEAST_BYTES = 6
"""A shorter piece is found anywhere."""

Rows: TypeAlias = dict[str, list[tuple[object, ...]]]
"""Of a database, by the name of their table."""


@dataclass(frozen=True, slots=True)
class Hit:
    file: str
    form: str


def forms_of(words: str) -> dict[str, bytes]:
    """How words may stand in a file."""
    encoded = words.encode()
    forms = {
        "utf-8": encoded,
        "utf-16le": words.encode("utf-16-le"),
        "utf-16be": words.encode("utf-16-be"),
        "gb18030": words.encode("gb18030"),
        "\\u": words.encode("ascii", "backslashreplace"),
        "\\U": "".join(c if c.isascii() else f"\\u{ord(c):04X}" for c in words).encode(),
        "hex": encoded.hex().encode(),
    }
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + encoded)
        # The first and last characters mix with what stands beside them.
        forms[f"base64+{shift}"] = whole[4 if shift else 0 : len(whole) - 4]
    return {name: form for name, form in forms.items() if len(form) >= LEAST_BYTES}


def forms_of_vector(vector: Vector) -> dict[str, bytes]:
    """As the stores keep it, and half as exact."""
    single, half = vector.astype("<f4").tobytes(), vector.astype("<f2").tobytes()
    return dict(_slices("float32", single)) | dict(_slices("float16", half))


def scan(folder: Path, forms: dict[str, bytes], *, but: Sequence[str] = ()) -> list[Hit]:
    """Where they are found, by file. `but`: endings of names that are not read."""
    return [
        Hit(str(path.relative_to(folder)), name)
        for path, content in _files(folder, but)
        for name, form in forms.items()
        if form in content
    ]


def size_of(folder: Path, *, but: Sequence[str] = ()) -> tuple[int, int]:
    """Files, and bytes of all of them."""
    sizes = [len(content) for _, content in _files(folder, but)]
    return len(sizes), sum(sizes)


def all_rows(path: Path) -> Rows:
    with closing(sqlite3.connect(path)) as connection:
        named = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            name: connection.execute(f'SELECT * FROM "{name}"').fetchall()
            for (name,) in named
            if not name.startswith("sqlite_")
        }


def digest(row: tuple[object, ...]) -> str:
    return hashlib.sha256(repr(row).encode("utf-8", "surrogatepass")).hexdigest()


class Owners:
    """Whose each row is, by the accounts of one person."""

    def __init__(self, rows: Rows, columns: dict[str, list[str]], accounts: set[int]) -> None:
        self._columns = columns
        self._accounts = accounts
        self._persons = self._values(rows, "account", "person_id", "id", accounts)
        self._shelves = self._values(rows, "shelf", "id", "account_id", accounts)
        self._inboxes = self._values(rows, "inbox", "id", "account_id", accounts)
        inbox = [self._at("inbox", name) for name in ("channel", "app_id", "key", "id")]
        self._keys = {
            tuple(row[at] for at in inbox[:3]) for row in rows["inbox"] if row[inbox[3]] in self._inboxes
        }

    def owns(self, table: str, row: tuple[object, ...]) -> bool:
        def value(name: str) -> object:
            return row[self._at(table, name)]

        if table == "person":
            return value("id") in self._persons
        if table == "account":
            return value("id") in self._accounts
        if table == "seg":
            return int(str(value("id"))) >> 20 in self._shelves
        if table == "seal":
            return (value("channel"), value("app_id"), value("key")) in self._keys
        columns = self._columns[table]
        return (
            ("account_id" in columns and value("account_id") in self._accounts)
            or ("shelf_id" in columns and value("shelf_id") in self._shelves)
            or ("inbox_id" in columns and value("inbox_id") in self._inboxes)
        )

    def _values(self, rows: Rows, table: str, wanted: str, by: str, among: set[int]) -> set[object]:
        wanted_at, by_at = self._at(table, wanted), self._at(table, by)
        return {row[wanted_at] for row in rows[table] if row[by_at] in among}

    def _at(self, table: str, name: str) -> int:
        return self._columns[table].index(name)


def columns_of(path: Path) -> dict[str, list[str]]:
    with closing(sqlite3.connect(path)) as connection:
        named = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            name: [row[1] for row in connection.execute(f'PRAGMA table_info("{name}")')] for (name,) in named
        }


def _slices(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    for at in range(0, len(content) - SLICE_BYTES + 1, SLICE_BYTES):
        yield f"{name}[{at}]", content[at : at + SLICE_BYTES]


def _files(folder: Path, but: Sequence[str]) -> Iterator[tuple[Path, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.endswith(tuple(but) or ("\0",)):
            yield path, path.read_bytes()
