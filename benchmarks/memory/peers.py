"""Other stores of memories over the same vectors: langchain's FAISS, mem0 over FAISS and over Qdrant, and Chroma.

Each holds everybody's memories in one collection with whose they are beside each, and is asked with a filter, as its
documentation says. They are filled through their bulk doors: mem0 writes its whole index anew for each memory added
by `Memory.add(infer=False)`, so what that would store is handed to its vector store at once.

Invariant: they embed by looking up the vectors of this run, so that the retrieval alone differs; none of them calls
home.
"""

import hashlib
import logging
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from bot.conversation.ports import Matrix, Vector

LANGCHAIN, LANGCHAIN_ALL = "langchain", "langchain fetch_k=N"
MEM0_FAISS, MEM0_QDRANT = "mem0+FAISS", "mem0+Qdrant"
CHROMA = "Chroma"
PACKAGES = ("langchain-community", "mem0ai", "qdrant-client", "chromadb")
AT_ONCE = 5_000
"""Rows of one call: Chroma takes no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bank:
    """Everybody's memories, row by row, and the vectors of the questions."""

    owners: Sequence[str]
    texts: Sequence[str]
    """No text twice: it says which row was found."""
    vectors: Matrix
    questions: dict[str, Vector] = field(default_factory=dict[str, Vector])


class Peer(Protocol):
    """Somebody else's memory, filled."""

    name: str

    def search(self, owner: str, question: str, k: int) -> list[str]:
        """The texts found, best first. Blocks."""
        ...

    def close(self) -> None: ...


def keep_quiet(folder: Path) -> None:
    """Before the first import of any: nothing is reported to anybody, nothing is kept in the home folder."""
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ["MEM0_DIR"] = str(folder)
    os.environ["ANONYMIZED_TELEMETRY"] = "False"
    warnings.filterwarnings("ignore")
    # What it has to say of what isn't installed is said in the figures.
    logging.getLogger("mem0").setLevel(logging.ERROR)


def versions() -> str:
    """Of the packages of the peers. Raises ModuleNotFoundError where one isn't installed."""
    return "，".join(f"{package} {version(package)}" for package in PACKAGES)


class Langchain:
    """FAISS of langchain-community. `fetches_all`: fetch_k is the whole store, else its default of 20."""

    def __init__(self, bank: Bank, folder: Path, *, fetches_all: bool = False) -> None:
        from langchain_community.vectorstores import FAISS  # pyright: ignore[reportMissingImports]
        from langchain_core.embeddings import Embeddings  # pyright: ignore[reportMissingImports]

        class Known(Embeddings):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                raise NotImplementedError("filled with vectors")

            def embed_query(self, text: str) -> list[float]:
                return bank.questions[text].tolist()

        self.name = LANGCHAIN_ALL if fetches_all else LANGCHAIN
        self._more: dict[str, Any] = {"fetch_k": len(bank.texts)} if fetches_all else {}
        self._store = FAISS.from_embeddings(
            zip(bank.texts, bank.vectors.tolist(), strict=True),
            Known(),
            metadatas=[{"person": owner} for owner in bank.owners],
        )

    def search(self, owner: str, question: str, k: int) -> list[str]:
        found = self._store.similarity_search(question, k=k, filter={"person": owner}, **self._more)
        return [each.page_content for each in found]

    def close(self) -> None: ...


class Mem0:
    """mem0 with `infer=False`: no model, what is told is kept as it is. `store`: "faiss" or "qdrant", in a folder."""

    def __init__(self, bank: Bank, folder: Path, *, store: str) -> None:
        from mem0 import Memory  # pyright: ignore[reportMissingImports]
        from mem0.embeddings.base import EmbeddingBase  # pyright: ignore[reportMissingImports]

        class Known(EmbeddingBase):
            def embed(self, text: str, memory_action: str | None = None) -> list[float]:
                return bank.questions[text].tolist()

        self.name = MEM0_FAISS if store == "faiss" else MEM0_QDRANT
        settings = {
            "collection_name": "memories",
            "path": str(folder / f"mem0-{store}"),
            "embedding_model_dims": bank.vectors.shape[1],
        }
        # A client that is never asked: the embedder takes its place, and `infer=False` needs no model.
        unused = {"provider": "openai", "config": {"api_key": "unused"}}
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": store, "config": settings},
                "llm": unused,
                "embedder": unused,
                "history_db_path": str(folder / f"mem0-{store}.db"),
            }
        )
        self._memory.embedding_model = Known()
        payloads = [
            {
                "data": text,
                "hash": hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
                "user_id": owner,
                "role": "user",
                "text_lemmatized": text,
            }
            for owner, text in zip(bank.owners, bank.texts, strict=True)
        ]
        self._memory.vector_store.insert(vectors=bank.vectors.tolist(), payloads=payloads)

    def search(self, owner: str, question: str, k: int) -> list[str]:
        found = self._memory.search(question, filters={"user_id": owner}, top_k=k)
        return [each["memory"] for each in found["results"]]

    def close(self) -> None:
        self._memory.close()


class Chroma:
    """chromadb in memory, with its default index."""

    def __init__(self, bank: Bank, folder: Path) -> None:
        import chromadb  # pyright: ignore[reportMissingImports]

        self.name = CHROMA
        self._questions = bank.questions
        self._client = chromadb.EphemeralClient(
            chromadb.Settings(anonymized_telemetry=False, allow_reset=True)
        )
        self._client.reset()
        self._store = self._client.create_collection("memories", embedding_function=None)
        for start in range(0, len(bank.texts), AT_ONCE):
            rows = slice(start, start + AT_ONCE)
            self._store.add(
                ids=[str(row) for row in range(len(bank.texts))[rows]],
                embeddings=bank.vectors[rows],
                documents=list(bank.texts[rows]),
                metadatas=[{"person": owner} for owner in bank.owners[rows]],
            )

    def search(self, owner: str, question: str, k: int) -> list[str]:
        found = self._store.query(
            query_embeddings=[self._questions[question].tolist()], n_results=k, where={"person": owner}
        )
        return list(found["documents"][0])

    def close(self) -> None:
        self._client.reset()


MAKERS: dict[str, Callable[[Bank, Path], Peer]] = {
    LANGCHAIN: Langchain,
    LANGCHAIN_ALL: lambda bank, folder: Langchain(bank, folder, fetches_all=True),
    MEM0_FAISS: lambda bank, folder: Mem0(bank, folder, store="faiss"),
    MEM0_QDRANT: lambda bank, folder: Mem0(bank, folder, store="qdrant"),
    CHROMA: Chroma,
}
"""By name. Raises ImportError where one isn't installed."""
