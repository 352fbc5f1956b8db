"""Ingest: an operator's files become stored, searchable passages.

Invariant: a document is replaced whole or left as it was; a file that cannot be read never stops the
others; a passage without a vector is still found by its words.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread
import numpy as np

from bot.conversation.errors import EmbedderUnavailable, RejectedInput
from bot.conversation.ports import Embedder, Matrix
from bot.knowledge.passage import NewPassage
from bot.knowledge.ports import PassageStore, PassageTokens, StoredDocument, TokenEmbedder, TokenMatrix
from bot.knowledge.splitting import decode, searchable_text, split

MARKDOWN_SUFFIXES = (".md", ".markdown")
SUFFIXES = (*MARKDOWN_SUFFIXES, ".txt")
"""What is read."""
_SPLITTING_VERSION = 2
"""Part of the digest: raise it when `splitting` cuts differently, so that documents are cut anew."""
_LIMIT_BYTES = 20 * 1024 * 1024
"""A larger text is a log or a mistake: it would be 20,000 passages, hours of embedding."""
_BATCH = 8
"""Passages embedded at a time: 8 × 400 characters take ~7 s on one core, so progress is seen moving."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport:
    """What an ingest did."""

    documents: int
    """Stored anew or replaced."""
    passages: int
    """In those documents."""
    skipped: int
    """Documents already stored as they are."""
    without_vectors: int = 0
    """Stored passages that no embedder answered for: found by keyword only until ingested again."""
    unreadable: tuple[tuple[str, str], ...] = ()
    """(document, reason in 简体中文) of files left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    name: str
    digest: str
    passages: list[NewPassage]


class Ingest:
    """Reads, cuts, embeds and stores documents."""

    def __init__(
        self, store: PassageStore, embedder: Embedder | None, tokens: TokenEmbedder | None = None
    ) -> None:
        """Without an embedder passages are stored without vectors. `tokens`: makes those that rank closely."""
        self._store = store
        self._embedder = embedder
        self._tokens = tokens

    async def ingest(
        self,
        path: Path,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
        *,
        app_id: str = "",
    ) -> IngestReport:
        """Ingest a file, or the .md and .txt files of a folder and its folders.

        A document's name is its path within the folder, the folder's own name first; a file's is the
        same as if its folder were ingested. `on_progress` gets (passages embedded, passages in all).
        `app_id`: the official account or bot that alone may answer from them; "" for all. A document of
        one is never taken over by another.

        Raises:
            RejectedInput: there is no such file or folder, or the file is of another type.
        """
        files = await anyio.to_thread.run_sync(_files, path)
        changed: list[_Document] = []
        unreadable: list[tuple[str, str]] = []
        skipped = 0
        for name, file in files:
            try:
                document = await anyio.to_thread.run_sync(_read, name, file)
            except RejectedInput as refusal:
                unreadable.append((name, str(refusal)))
                continue
            stored = await self._store.find_document(name)
            if stored is not None and stored.app_id != app_id:
                unreadable.append((name, _owned(stored.app_id)))
            elif self._is_stored(document.digest, stored):
                skipped += 1
            else:
                changed.append(document)
        total = sum(len(document.passages) for document in changed)
        without_vectors = await self._store_all(changed, app_id, total, on_progress)
        return IngestReport(
            documents=len(changed),
            passages=total,
            skipped=skipped,
            without_vectors=without_vectors,
            unreadable=tuple(unreadable),
        )

    async def _store_all(
        self,
        documents: Sequence[_Document],
        app_id: str,
        total: int,
        on_progress: Callable[[int, int], None],
    ) -> int:
        """Store each document; returns how many passages got no vector."""
        done = without_vectors = 0
        is_embedding = self._embedder is not None
        on_progress(done, total)
        for document in documents:
            vectors = tokens = None
            if is_embedding:
                start = done
                try:
                    vectors, tokens = await self._embed(
                        document.passages, lambda count, start=start: on_progress(start + count, total)
                    )
                except EmbedderUnavailable:
                    # One failure stands for all: each further try would wait for a time-out.
                    is_embedding = False
            if vectors is None:
                without_vectors += len(document.passages)
            model_id = self._embedder.model_id if self._embedder is not None and vectors is not None else ""
            digest = _digest(document.digest, model_id, tokens.model_id if tokens is not None else "")
            await self._store.replace_document(
                document.name, digest, document.passages, vectors, model_id, app_id, tokens
            )
            done += len(document.passages)
            on_progress(done, total)
        return without_vectors

    async def _embed(
        self, passages: Sequence[NewPassage], on_count: Callable[[int], None]
    ) -> tuple[Matrix, PassageTokens | None]:
        assert self._embedder is not None
        parts = [np.zeros((0, self._embedder.dimension), np.float32)]
        matrices: list[TokenMatrix] = []
        for start in range(0, len(passages), _BATCH):
            batch = [searchable_text(each.heading, each.text) for each in passages[start : start + _BATCH]]
            parts.append(await self._embedder.embed_passages(batch))
            if self._tokens is not None:
                matrices += await self._tokens.embed_passages(batch)
            on_count(start + len(batch))
        tokens = None
        if self._tokens is not None:
            tokens = PassageTokens(model_id=self._tokens.model_id, matrices=matrices)
        return np.concatenate(parts), tokens

    def _is_stored(self, digest: str, stored: StoredDocument | None) -> bool:
        """Whether the stored document has this content, and vectors as good as we could make."""
        if stored is None or not stored.digest.startswith(f"{digest}:"):
            return False
        if self._embedder is None:
            return True
        tokens_id = self._tokens.model_id if self._tokens is not None else ""
        return stored.digest == _digest(digest, self._embedder.model_id, tokens_id)


def _digest(content: str, model_id: str, tokens_id: str) -> str:
    """What tells whether a document must be stored anew."""
    return ":".join(filter(None, (f"{content}:{model_id}", tokens_id)))


def _owned(app_id: str) -> str:
    whose = f"公众号或机器人 {app_id} 的资料" if app_id else "大家共用的资料"
    return f"同名的已经是{whose}；换个文件夹名再存"


def _files(path: Path) -> list[tuple[str, Path]]:
    """(document name, file), by name. Hidden files and folders are left out."""
    path = path.expanduser().resolve()
    if path.is_file():
        if path.suffix.lower() not in SUFFIXES:
            raise RejectedInput(f"只能读取 .md 和 .txt 文件：{path.name}")
        return [(f"{path.parent.name}/{path.name}", path)]
    if not path.is_dir():
        raise RejectedInput(f"找不到文件或文件夹：{path}")
    found: list[tuple[str, Path]] = []
    for file in path.rglob("*"):
        inner = file.relative_to(path)
        is_hidden = any(part.startswith(".") for part in inner.parts)
        if file.suffix.lower() in SUFFIXES and not is_hidden and file.is_file():
            found.append((f"{path.name}/{inner.as_posix()}", file))
    return sorted(found)


def _read(name: str, file: Path) -> _Document:
    """Raises RejectedInput when the file cannot be read as text."""
    try:
        if file.stat().st_size > _LIMIT_BYTES:
            raise RejectedInput(f"文件超过 {_LIMIT_BYTES // 1024 // 1024} MB，请拆成几个")
        raw = file.read_bytes()
    except OSError as error:
        raise RejectedInput(f"无法读取：{error.strerror}") from error
    return _Document(
        name=name,
        digest=f"{_SPLITTING_VERSION}:{hashlib.sha256(raw).hexdigest()}",
        passages=split(decode(raw), is_markdown=file.suffix.lower() in MARKDOWN_SUFFIXES),
    )
