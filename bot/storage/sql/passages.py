"""The operator's documents in SQL: passages with their vectors.

Invariant: a document is replaced whole or not at all, and each change of any document raises one number.
"""

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence

import numpy as np
from sqlalchemy import bindparam, delete, select

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Clock, Matrix
from bot.knowledge.passage import NewPassage, Passage
from bot.knowledge.ports import PassageSheet, PassageTokens, StoredDocument, TokenMatrix
from bot.storage.sql.database import Database
from bot.storage.sql.passage_vectors import STAMP, are_stale, raise_version
from bot.storage.sql.schema import document, passage, passage_tokens, stamp, to_ms
from bot.storage.sql.shelves import as_list, listed
from bot.storage.sql.statements import Row, Statement, insert_into

_VERSION = Statement(select(stamp.c.value).where(stamp.c.name == STAMP))
_FIND = Statement(select(document.c.digest, document.c.app_id).where(document.c.name == bindparam("name")))
_DELETE = Statement(delete(document).where(document.c.name == bindparam("name")))
_INSERT = Statement(insert_into(document, "name", "digest", "at", "app_id"))
_INSERT_PASSAGE = Statement(
    insert_into(
        passage,
        "document_id",
        "position",
        "heading",
        "text",
        "model",
        "vector",
        "coming_model",
        "coming_vector",
    )
)
_INSERT_TOKENS = Statement(insert_into(passage_tokens, "passage_id", "model", "dimension", "vectors"))
_TOKENS = Statement(
    select(passage_tokens.c.passage_id, passage_tokens.c.dimension, passage_tokens.c.vectors).where(
        passage_tokens.c.model == bindparam("model"), passage_tokens.c.passage_id.in_(listed("ids"))
    )
)
_IDS = Statement(
    select(passage.c.id).where(passage.c.document_id == bindparam("document")).order_by(passage.c.position)
)
_PASSAGES = Statement(
    select(passage.c.id, document.c.name, passage.c.heading, passage.c.text, document.c.app_id)
    .join_from(passage, document, document.c.id == passage.c.document_id)
    .order_by(passage.c.id)
)
_VECTORS = Statement(
    select(passage.c.id, passage.c.vector).where(passage.c.model == bindparam("model")).order_by(passage.c.id)
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
        """Without vectors while those of another kind answer: beside passages that have none of this, the others
        would be found first whatever they say."""

        def look(connection: sqlite3.Connection) -> tuple[int, list[Row], list[Row]]:
            version = _VERSION.first(connection)
            is_stale = not dimension or are_stale(connection, (model_id, dimension))
            vectors = [] if is_stale else _VECTORS.rows(connection, model=model_id)
            return version[0] if version else 0, _PASSAGES.rows(connection), vectors

        version, passages, vectors = await self._database.view(look)
        return await asyncio.to_thread(_sheet, version, passages, vectors, dimension)

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
        tokens: PassageTokens | None = None,
    ) -> None:
        """See `PassageStore`. Without vectors the passages are found by keyword.

        Raises EmbedderUnavailable when `vectors` are no `(len(passages), d)` finite numbers, d > 0.
        """
        packed = await asyncio.to_thread(_pack, vectors, len(passages))
        kind = (model_id, vectors.shape[1]) if vectors is not None and len(passages) else ("", 0)
        at = to_ms(self._clock.now())

        def replace(connection: sqlite3.Connection) -> None:
            _DELETE.run(connection, name=name)
            is_coming = bool(kind[0]) and are_stale(connection, kind)
            document_id = _INSERT.run(connection, name=name, digest=digest, at=at, app_id=app_id).lastrowid
            connection.executemany(
                _INSERT_PASSAGE.text,
                [
                    _INSERT_PASSAGE.bind(
                        document_id=document_id,
                        position=position,
                        heading=each.heading,
                        text=each.text,
                        model="" if is_coming else kind[0],
                        vector=None if is_coming else packed[position],
                        coming_model=kind[0] if is_coming else "",
                        coming_vector=packed[position] if is_coming else None,
                    )
                    for position, each in enumerate(passages)
                ],
            )
            if tokens is not None:
                _insert_tokens(connection, document_id, tokens)
            raise_version(connection)

        await self._database.write(replace)

    async def passage_tokens(self, ids: Sequence[int], model_id: str) -> Mapping[int, TokenMatrix]:
        rows = await self._database.read(_TOKENS, model=model_id, ids=as_list(ids))
        return {row[0]: np.frombuffer(row[2], np.int8).reshape(-1, row[1]) for row in rows}


def _insert_tokens(connection: sqlite3.Connection, document_id: int | None, tokens: PassageTokens) -> None:
    ids = [row[0] for row in _IDS.rows(connection, document=document_id)]
    connection.executemany(
        _INSERT_TOKENS.text,
        [
            _INSERT_TOKENS.bind(
                passage_id=each, model=tokens.model_id, dimension=matrix.shape[1], vectors=matrix.tobytes()
            )
            for each, matrix in zip(ids, tokens.matrices, strict=True)
        ],
    )


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
