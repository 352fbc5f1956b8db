"""Core statements, compiled once to text and run on the driver's own connection.

Invariant: nothing of SQLAlchemy runs when a statement does. (Core per call costs 60–90 times the statement.)
"""

import sqlite3
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Table, bindparam, literal_column
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.sqlite import Insert
from sqlalchemy.sql import ClauseElement

Row: TypeAlias = tuple[Any, ...]

_DIALECT = sqlite.dialect(paramstyle="qmark")  # pyright: ignore[reportUnknownMemberType]


class Statement:
    """One statement: `bindparam` names become keyword arguments, literal values are kept inside.

    For a list of ids, pass JSON and select from `func.json_each(bindparam("ids"))`: an expanding IN has no
    fixed text.
    """

    __slots__ = ("_constants", "_names", "_needed", "text")

    def __init__(self, core: ClauseElement) -> None:
        compiled: Any = core.compile(dialect=_DIALECT)
        self.text: str = str(compiled)
        if "POSTCOMPILE" in self.text:
            raise TypeError("an expanding parameter has no fixed text: use json_each")
        self._names: tuple[str, ...] = tuple(compiled.positiontup)
        self._constants: dict[str, object] = {
            name: compiled.params[name] for name in self._names if not compiled.binds[name].required
        }
        self._needed = len(set(self._names) - set(self._constants))

    def bind(self, **params: object) -> tuple[object, ...]:
        """The positional values. Raises TypeError for a missing or superfluous name."""
        if len(params) != self._needed:
            raise TypeError(f"{self.text!r} takes {self._needed} parameters, got {sorted(params)}")
        constants = self._constants
        try:
            return tuple([params[name] if name in params else constants[name] for name in self._names])
        except KeyError as error:
            raise TypeError(f"{self.text!r} lacks the parameter {error}") from error

    def run(self, connection: sqlite3.Connection, **params: object) -> sqlite3.Cursor:
        """For `rowcount` and `lastrowid`."""
        return connection.execute(self.text, self.bind(**params))

    def rows(self, connection: sqlite3.Connection, **params: object) -> list[Row]:
        return connection.execute(self.text, self.bind(**params)).fetchall()

    def first(self, connection: sqlite3.Connection, **params: object) -> Row | None:
        """The first row. Reads to the end, so that no open cursor outlives the call."""
        rows = connection.execute(self.text, self.bind(**params)).fetchall()
        return rows[0] if rows else None


def insert_into(table: Table, *columns: str) -> Insert:
    """INSERT of these columns, each a parameter of its own name. Chain `on_conflict_do_…`."""
    return sqlite.insert(table).values({name: bindparam(name) for name in columns})


def constant(value: str | int) -> ColumnElement[Any]:
    """A value written into the text: a partial index only serves a query that spells its condition out."""
    return literal_column(str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'")
