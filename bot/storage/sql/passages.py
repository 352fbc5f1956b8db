"""The operator's documents in SQL: passages with their vectors.

Invariant: a document is replaced whole or not at all, and each change of any document raises one number.
"""

import asyncio
import sqlite3
from collections.abc import Sequence

import numpy as np
from sqlalchemy import bindparam, delete, func, select

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Clock, Matrix
from bot.knowledge.passage import NewPassage, Passage
from bot.knowledge.ports import PassageSheet, StoredDocument
from bot.storage.sql.database import Database
from bot.storage.sql.schema import document, passage, stamp, to_ms
from bot.storage.sql.statements import Row, Statement, insert_into

_STAMP = "knowledge"

_VERSION = Statement(select(stamp.c.value).where(stamp.c.name == _STAMP))
_RAISE_VERSION = Statement(
    insert_into(stamp, "name", "value").on_conflict_do_update(
        index_elements=[stamp.c.name], set_={"value": stamp.c.value + 1}
    )
)
_FIND = Statement(select(document.c.digest, document.c.app_id).where(document.c.name == bindparam("name")))
_DELETE = Statement(delete(document).where(document.c.name == bindparam("name")))
_INSERT = Statement(insert_into(document, "name", "digest", "at", "app_id"))
_INSERT_PASSAGE = Statement(
    insert_into(passage, "document_id", "position", "heading", "text", "model", "vector")
)
_PASSAGES = Statement(
    select(passage.c.id, document.c.name, passage.c.heading, passage.c.text, document.c.app_id)
    .join_from(passage, document, document.c.id == passage.c.document_id)
    .order_by(passage.c.id)
)
_VECTORS = Statement(
    select(passage.c.id, passage.c.vector)
    .where(passage.c.model == bindparam("model"), func.length(passage.c.vector) == bindparam("size"))
    .order_by(passage.c.id)
)


class SqlPassages:
    """`PassageStore`."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def knowledge_version(self) -> int:
        rows = await self._database.peek(_VERSION)
        return rows[0][0] if rows else 0

    async def passage_sheet(self, model_id: str, dimension: int) -> PassageSheet:
        async with self._database.snapshot() as read:
            version = await read(_VERSION)
            passages = await read(_PASSAGES)
            vectors = await read(_VECTORS, model=model_id, size=4 * dimension) if dimension else []
        return await asyncio.to_thread(_sheet, version[0][0] if version else 0, passages, vectors, dimension)

    async def find_document(self, name: str) -> StoredDocument | None:
        rows = await self._database.read(_FIND, name=name)
        return StoredDocument(digest=rows[0][0], app_id=rows[0][1]) if rows else None

    async def replace_document(
        self,
        name: str,
        digest: str,
        passages: Sequence[NewPassage],
        vectors: Matrix | None,
        model_id: str,
        app_id: str = "",
    ) -> None:
        """See `PassageStore`. Without vectors the passages are found by keyword.

        Raises EmbedderUnavailable when `vectors` are no `(len(passages), d)` finite numbers, d > 0.
        """
        packed = await asyncio.to_thread(_pack, vectors, len(passages))
        model = model_id if vectors is not None else ""
        at = to_ms(self._clock.now())

        def replace(connection: sqlite3.Connection) -> None:
            _DELETE.run(connection, name=name)
            document_id = _INSERT.run(connection, name=name, digest=digest, at=at, app_id=app_id).lastrowid
            connection.executemany(
                _INSERT_PASSAGE.text,
                [
                    _INSERT_PASSAGE.bind(
                        document_id=document_id,
                        position=position,
                        heading=each.heading,
                        text=each.text,
                        model=model,
                        vector=packed[position],
                    )
                    for position, each in enumerate(passages)
                ],
            )
            raise_version(connection)

        await self._database.write(replace)


def raise_version(connection: sqlite3.Connection) -> None:
    """In the transaction of every change of a document or a passage's vector."""
    _RAISE_VERSION.run(connection, name=_STAMP, value=1)


def _sheet(version: int, passages: Sequence[Row], vectors: Sequence[Row], dimension: int) -> PassageSheet:
    numbers = np.frombuffer(b"".join(row[1] for row in vectors), dtype="<f4")
    return PassageSheet(
        version=version,
        passages=tuple(
            Passage(id=row[0], document=row[1], heading=row[2], text=row[3], app_id=row[4])
            for row in passages
        ),
        embedded_ids=np.array([row[0] for row in vectors], dtype=np.int64),
        matrix=numbers.reshape(len(vectors), dimension),
    )


def _pack(vectors: Matrix | None, count: int) -> list[bytes | None]:
    """One BLOB a passage."""
    if vectors is None:
        return [None] * count
    rows = np.asarray(vectors, dtype="<f4")
    is_whole = rows.ndim == 2 and rows.shape[0] == count and rows.shape[1] > 0
    if count and not (is_whole and bool(np.isfinite(rows).all())):
        raise EmbedderUnavailable(f"no {count} usable vectors: shape {rows.shape}")
    return [row.tobytes() for row in rows] if count else []
