"""Core statements, compiled once to text and run on the driver's own connection.

Invariant: nothing of SQLAlchemy runs when a statement does. (Core per call costs 60–90 times the statement.)
"""

import sqlite3
from collections.abc import Callable, Mapping
from operator import itemgetter
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

    __slots__ = ("_constants", "_needed", "_pick", "text")

    def __init__(self, core: ClauseElement) -> None:
        compiled: Any = core.compile(dialect=_DIALECT)
        self.text: str = str(compiled)
        if "POSTCOMPILE" in self.text:
            raise TypeError("an expanding parameter has no fixed text: use json_each")
        names: tuple[str, ...] = tuple(compiled.positiontup)
        self._constants: dict[str, object] = {
            name: compiled.params[name] for name in names if not compiled.binds[name].required
        }
        self._needed = len(set(names) - set(self._constants))
        self._pick = _picking(names)

    def bind(self, **params: object) -> tuple[object, ...]:
        """The positional values. Raises TypeError for a missing or superfluous name."""
        return self._values(params)

    def run(self, connection: sqlite3.Connection, **params: object) -> sqlite3.Cursor:
        """For `rowcount` and `lastrowid`."""
        return connection.execute(self.text, self._values(params))

    def rows(self, connection: sqlite3.Connection, **params: object) -> list[Row]:
        return connection.execute(self.text, self._values(params)).fetchall()

    def first(self, connection: sqlite3.Connection, **params: object) -> Row | None:
        """The first row. Reads to the end, so that no open cursor outlives the call."""
        rows = connection.execute(self.text, self._values(params)).fetchall()
        return rows[0] if rows else None

    def _values(self, params: dict[str, object]) -> tuple[object, ...]:
        if len(params) != self._needed:
            raise TypeError(f"{self.text!r} takes {self._needed} parameters, got {sorted(params)}")
        try:
            return self._pick({**self._constants, **params} if self._constants else params)
        except KeyError as error:
            raise TypeError(f"{self.text!r} lacks the parameter {error}") from error


def _picking(names: tuple[str, ...]) -> Callable[[Mapping[str, object]], tuple[object, ...]]:
    """What takes the values of `names` in order, in C: a loop costs as much as the smaller statements."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: tuple([values[name] for name in names])


def insert_into(table: Table, *columns: str) -> Insert:
    """INSERT of these columns, each a parameter of its own name. Chain `on_conflict_do_…`."""
    return sqlite.insert(table).values({name: bindparam(name) for name in columns})


def constant(value: str | int) -> ColumnElement[Any]:
    """A value written into the text: a partial index only serves a query that spells its condition out."""
    return literal_column(str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'")
