"""A shelf's vectors, packed into few rows: one read brings a person's memory, one small write adds to it.

Invariant: slot s of a shelf lies at one place, a pure function of s; slots 0 to `shelf.size` - 1 are
filled, in the order they were stored. All functions run inside the caller's transaction.

A shelf has two sides, 0 and 1: vectors of two models never share one. Which side answers, `shelf.side` says.

One row per vector takes 8 to 20 times as long to load. The first segments are small, so that the many people
with three facts cost little, and a full one is half a megabyte, so that no write is long.
"""

import sqlite3
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import bindparam, delete, select

from bot.conversation.errors import StoreUnavailable, VectorsOfAnotherModel
from bot.conversation.ports import Matrix
from bot.storage.sql.schema import seg
from bot.storage.sql.statements import Statement, insert_into

STARTS = (0, 4, 20, 84, 340)
"""First slots of segments 0 to 4: capacities 4, 16, 64, 256. From segment 3 on each holds 256."""
FULL = 256
SHELF_BITS = 20
"""A segment's id is shelf << 20 | side << 19 | n: a shelf's segments lie together in the table, in order."""
SIDE_BITS = 19
META_BYTES = 16
"""int64 fact id, int64 said_at in milliseconds; little-endian."""
FLOAT_BYTES = 4
PIECE_BYTES = 64 << 10
"""Read at once: what the processor still has at hand when it is put in its place. Whole segments took a tenth longer."""

_META = Statement(
    select(seg.c.id, seg.c.meta)
    .where(seg.c.id >= bindparam("first"), seg.c.id < bindparam("end"))
    .order_by(seg.c.id)
)
_INSERT = Statement(insert_into(seg, "id", "meta", "vecs"))
_DELETE = Statement(delete(seg).where(seg.c.id >= bindparam("first"), seg.c.id < bindparam("end")))


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedRows:
    """Rows of one shelf, in the order of their slots."""

    fact_ids: NDArray[np.int64]
    """`(n,)`"""
    said_at: NDArray[np.int64]
    """`(n,)`, milliseconds."""
    matrix: Matrix
    """`(n, d)`"""

    def at(self, chosen: NDArray[np.bool_] | NDArray[np.intp] | slice) -> "PackedRows":
        return PackedRows(
            fact_ids=self.fact_ids[chosen], said_at=self.said_at[chosen], matrix=self.matrix[chosen]
        )


def locate(slot: int) -> tuple[int, int]:
    """(segment, offset within it) of a slot."""
    if slot >= STARTS[3]:
        full, offset = divmod(slot - STARTS[3], FULL)
        return 3 + full, offset
    for number, (start, end) in enumerate(pairwise(STARTS)):
        if slot < end:
            return number, slot - start
    raise AssertionError(slot)


def capacity(number: int) -> int:
    """How many slots a segment has."""
    return STARTS[number + 1] - STARTS[number] if number < 3 else FULL


def append(connection: sqlite3.Connection, shelf: int, size: int, rows: PackedRows, side: int = 0) -> int:
    """Fill the slots from `size` on. Returns the new size, which the caller notes in `shelf.size`."""
    done = 0
    total = len(rows.fact_ids)
    while done < total:
        number, offset = locate(size + done)
        part = rows.at(slice(done, min(total, done + capacity(number) - offset)))
        _put(connection, _id(shelf, side, number), capacity(number), offset, part)
        done += len(part.fact_ids)
    return size + total


def load(
    connection: sqlite3.Connection, shelf: int, size: int, dimension: int, *, since: int = 0, side: int = 0
) -> PackedRows:
    """The rows of a shelf from slot `since` on.

    One segment at a time, each read as a stream, in pieces: a row with its BLOB is copied twice as often, and megabytes
    of rows at once are given back to the system and faulted in again at each load, which costs more than
    reading them.

    Raises StoreUnavailable when the segments do not hold what `shelf.size` promises, VectorsOfAnotherModel when
    they are of another dimension.
    """
    rows = empty(size - since, dimension)
    into = rows.matrix.reshape(-1).view(np.uint8).data
    number, offset = locate(since)
    filled = 0
    wanted = {"first": _id(shelf, side, number), "end": _end(shelf, side)}
    for segment, meta in _META.rows(connection, **wanted):
        count = min(len(meta) // META_BYTES - offset, size - since - filled)
        part = slice(filled, filled + count)
        pairs = np.frombuffer(meta, "<i8", 2 * count, offset * META_BYTES).reshape(count, 2)
        rows.fact_ids[part], rows.said_at[part] = pairs[:, 0], pairs[:, 1]
        with connection.blobopen(seg.name, "vecs", segment, readonly=True) as blob:
            if len(blob) * META_BYTES != len(meta) * dimension * FLOAT_BYTES:
                raise VectorsOfAnotherModel(f"shelf {shelf} holds no vectors of {dimension} numbers")
            blob.seek(offset * dimension * FLOAT_BYTES)
            _read(blob, into[filled * dimension * FLOAT_BYTES : (filled + count) * dimension * FLOAT_BYTES])
        filled, offset = filled + count, 0
    if filled < size - since:
        raise StoreUnavailable(f"the segments of shelf {shelf} hold {since + filled} of {size} vectors")
    if sys.byteorder == "big":
        rows.matrix.byteswap(inplace=True)
    return rows


def _read(blob: sqlite3.Blob, into: memoryview) -> None:
    """As many bytes as there is room for."""
    for start in range(0, len(into), PIECE_BYTES):
        piece = into[start : start + PIECE_BYTES]
        piece[:] = blob.read(len(piece))


def rewrite_without(
    connection: sqlite3.Connection,
    shelf: int,
    size: int,
    dimension: int,
    gone: Sequence[int],
    side: int = 0,
) -> int:
    """Take the rows of these facts out, closing the gaps. Returns the new size.

    Segments before the first such row are left alone; of the others no byte survives, if the
    connection has `secure_delete` on.
    """
    rows = load(connection, shelf, size, dimension, side=side)
    stays = ~np.isin(rows.fact_ids, np.asarray(gone, dtype=np.int64))
    if bool(stays.all()):
        return size
    number, offset = locate(int(np.argmin(stays)))
    start = int(np.argmin(stays)) - offset
    tail = rows.at(slice(start, None)).at(stays[start:])
    _DELETE.run(connection, first=_id(shelf, side, number), end=_end(shelf, side))
    return append(connection, shelf, start, tail, side)


def fact_ids(connection: sqlite3.Connection, shelf: int, size: int, side: int) -> list[int]:
    """Whose vectors a side holds, in the order of their slots; no vector is read."""
    wanted = {"first": _id(shelf, side, 0), "end": _end(shelf, side)}
    metas = b"".join(row[1] for row in _META.rows(connection, **wanted)) if size else b""
    return np.frombuffer(metas, "<i8", 2 * size)[::2].tolist()


def drop(connection: sqlite3.Connection, shelf: int) -> None:
    """Delete all segments of a shelf, of both sides. The caller sets `shelf.size` and `shelf.coming_size` to 0."""
    _DELETE.run(connection, first=_id(shelf, 0, 0), end=_end(shelf, 1))


def drop_side(connection: sqlite3.Connection, shelf: int, side: int) -> None:
    """Delete the segments of one side."""
    _DELETE.run(connection, first=_id(shelf, side, 0), end=_end(shelf, side))


def merged(shelves: Sequence[PackedRows], dimension: int, gone: NDArray[np.int64]) -> PackedRows:
    """The rows of several shelves without those of the facts `gone`, time-ordered within each shelf."""
    parts = [_by_time(_without(rows, gone)) for rows in shelves]
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return empty(0, dimension)
    return PackedRows(
        fact_ids=np.concatenate([rows.fact_ids for rows in parts]),
        said_at=np.concatenate([rows.said_at for rows in parts]),
        matrix=np.concatenate([rows.matrix for rows in parts]),
    )


def _id(shelf: int, side: int, number: int) -> int:
    return (shelf << SHELF_BITS) | (side << SIDE_BITS) | number


def _end(shelf: int, side: int) -> int:
    """The id above those of a side's segments."""
    return _id(shelf, side, 0) + (1 << SIDE_BITS)


def _without(rows: PackedRows, gone: NDArray[np.int64]) -> PackedRows:
    if not len(gone):
        return rows
    stays = ~np.isin(rows.fact_ids, gone)
    return rows if bool(stays.all()) else rows.at(stays)


def _by_time(rows: PackedRows) -> PackedRows:
    """A fact embedded late was stored late: its slot is not where its time is."""
    if bool((rows.said_at[1:] >= rows.said_at[:-1]).all()):
        return rows
    return rows.at(np.argsort(rows.said_at, kind="stable"))


def _put(connection: sqlite3.Connection, row: int, slots: int, offset: int, part: PackedRows) -> None:
    meta = np.column_stack((part.fact_ids, part.said_at)).astype("<i8").tobytes()
    vecs = part.matrix.astype("<f4", copy=False).tobytes()
    dimension = part.matrix.shape[1]
    if offset == 0:
        _INSERT.run(
            connection,
            id=row,
            meta=meta.ljust(slots * META_BYTES, b"\0"),
            vecs=vecs.ljust(slots * dimension * FLOAT_BYTES, b"\0"),
        )
        return
    # Writes these bytes only; an UPDATE would write the whole record again.
    with connection.blobopen(seg.name, "meta", row) as blob:
        blob.seek(offset * META_BYTES)
        blob.write(meta)
    with connection.blobopen(seg.name, "vecs", row) as blob:
        blob.seek(offset * dimension * FLOAT_BYTES)
        blob.write(vecs)


def empty(size: int, dimension: int) -> PackedRows:
    """Rows to be filled in."""
    return PackedRows(
        fact_ids=np.empty(size, dtype=np.int64),
        said_at=np.empty(size, dtype=np.int64),
        matrix=np.empty((size, dimension), dtype=np.float32),
    )
