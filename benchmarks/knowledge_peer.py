"""langchain's splitter and FAISS store, for the knowledge benchmark: what most who build such a bot begin with.

Invariant: it gets the same files and the same embedder as ours, and nothing of our splitting or ranking.
"""

import asyncio
import warnings
from collections.abc import Callable

from bot.conversation.ports import Embedder

PEER_CHARACTERS = 500
"""Of a chunk: what the embedder reads of a text. langchain's default of 4,000 would be read in part."""
PEER_OVERLAP = 50
PEER_SEPARATORS = ["\n\n", "\n", "。", "！", "？", "；", "，", " ", ""]  # fmt: skip
"""langchain's own with the Chinese stops that its documentation recommends."""


class Peer:
    """langchain's splitter and store over the same pages, with the same embedder."""

    def __init__(self, embedder: Embedder) -> None:
        """Raises ImportError where langchain isn't installed."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from langchain_community.vectorstores import FAISS  # pyright: ignore[reportMissingImports]
            from langchain_core.embeddings import Embeddings  # pyright: ignore[reportMissingImports]
            from langchain_text_splitters import (  # pyright: ignore[reportMissingImports]
                RecursiveCharacterTextSplitter,
            )

        loop = asyncio.get_running_loop()

        class SameEmbedder(Embeddings):
            """Our embedder as langchain's: it calls from a thread, the embedder lives on the loop."""

            on_count: Callable[[int, int], object] = staticmethod(lambda done, total: None)

            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                rows: list[list[float]] = []
                for text in texts:
                    asked = asyncio.run_coroutine_threadsafe(embedder.embed_passages([text]), loop)
                    rows.append(asked.result()[0].tolist())
                    self.on_count(len(rows), len(texts))
                return rows

            def embed_query(self, text: str) -> list[float]:
                return asyncio.run_coroutine_threadsafe(embedder.embed_query(text), loop).result().tolist()

        self._embeddings = SameEmbedder()
        self._make_store = FAISS.from_texts
        self._splitter = RecursiveCharacterTextSplitter(
            chunk_size=PEER_CHARACTERS,
            chunk_overlap=PEER_OVERLAP,
            separators=PEER_SEPARATORS,
            keep_separator="end",
        )

    async def ingest(self, pages: dict[str, bytes], on_count: Callable[[int, int], object]) -> int:
        """Returns the number of chunks."""
        chunks = [chunk for text in pages.values() for chunk in self._splitter.split_text(text.decode())]
        self._embeddings.on_count = on_count
        self._store = await asyncio.to_thread(self._make_store, chunks, self._embeddings)
        return len(chunks)

    async def search(self, question: str, k: int) -> list[str]:
        found = await asyncio.to_thread(self._store.similarity_search, question, k)
        return [each.page_content for each in found]
