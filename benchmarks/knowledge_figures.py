"""What the knowledge benchmark asks, finds, and makes of it.

Invariant: a figure comes from what was found in this run alone.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.knowledge_peer import PEER_CHARACTERS, PEER_OVERLAP
from benchmarks.report import Figure

K = 5
GOAL = 0.85
PEER = "langchain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, and strings of the text one of which stands in a right passage."""

    text: str
    answers: tuple[str, ...]

    def is_answered_by(self, passage: str) -> bool:
        return any(answer in without_space(passage) for answer in self.answers)

    def rank(self, passages: Sequence[str]) -> int:
        """Of the first right passage, from 1; 0 for none."""
        return next((at for at, each in enumerate(passages, start=1) if self.is_answered_by(each)), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What both found for a question: the texts of the first `K`."""

    asked: Asked
    ours: list[str]
    """In their contexts, as a model reads them."""
    alone: list[str]
    """The same passages without their contexts, as they are quoted."""
    by_whole: list[str]
    """By words and one vector a passage, without comparing token by token."""
    by_words: list[str]
    theirs: list[str]
    readable: list[str]
    """Of ours, what the floor lets into a prompt."""
    is_quoted: bool
    """Something fits well enough to be quoted without a model."""
    seconds: float


def without_space(text: str) -> str:
    return "".join(text.split())


def figures_of(
    found: Sequence[Found], elsewhere: Sequence[Found], size: int, counts: dict[str, int]
) -> list[Figure]:
    """What is published. `elsewhere`: questions the pages don't answer; `counts`: passages by whose."""
    what = f"真实：切分、向量模型、SQLite、检索；{size} 字节，{len(found)} 个问题"
    same = f"{what}；对照：{PEER_CHARACTERS} 字一段、重叠 {PEER_OVERLAP} 字，同一个向量模型"
    recall = _recall([each.asked.rank(each.ours) for each in found])
    answered = [each for each in found if each.asked.rank(each.ours)]
    kept = [each.asked.rank(each.readable) > 0 for each in answered]
    return [
        Figure(
            measure=f"前 {K} 段里有正确的一段",
            value=round(recall, 3),
            unit="问题的比例",
            goal=f"≥ {GOAL:g}",
            holds=recall >= GOAL,
            peer={
                PEER: round(_recall([each.asked.rank(each.theirs) for each in found]), 3),
                "不带上下文": round(_recall([each.asked.rank(each.alone) for each in found]), 3),
                "不逐词比较": round(_recall([each.asked.rank(each.by_whole) for each in found]), 3),
                "只用关键词": round(_recall([each.asked.rank(each.by_words) for each in found]), 3),
            },
            includes=same,
        ),
        Figure(
            measure=f"平均倒数排名，前 {K} 段",
            value=round(_reciprocal([each.asked.rank(each.ours) for each in found]), 3),
            unit="",
            peer={PEER: round(_reciprocal([each.asked.rank(each.theirs) for each in found]), 3)},
            includes=same,
        ),
        Figure(
            measure=f"前 {K} 段一共有多长，中位数",
            value=statistics.median(sum(map(len, each.ours)) for each in found),
            unit="字",
            peer={PEER: statistics.median(sum(map(len, each.theirs)) for each in found)},
            includes="越长越容易含有答案，模型要读的也越多",
        ),
        Figure(measure="段落", value=counts["ours"], unit="段", peer={PEER: counts[PEER]}, includes=what),
        Figure(
            measure="找到的正确段落能进入提示词",
            value=round(sum(kept) / len(kept), 3) if kept else 0.0,
            unit="比例",
            includes="下限没有挡住它",
        ),
        Figure(
            measure="无关问题说不确定",
            value=round(sum(not each.is_quoted for each in elsewhere) / len(elsewhere), 3),
            unit="比例",
            includes=f"没有模型时；{len(elsewhere)} 个手册里没有答案的日常问题",
        ),
        Figure(
            measure="无关问题没有段落进入提示词",
            value=round(sum(not each.readable for each in elsewhere) / len(elsewhere), 3),
            unit="比例",
            includes="有模型时的下限",
        ),
        Figure(
            measure="一次提问用时，中位数",
            value=round(statistics.median(each.seconds for each in found) * 1000, 1),
            unit="毫秒",
            includes="问题的向量与检索；资料已在内存里",
        ),
    ]


def _recall(ranks: Sequence[int]) -> float:
    return sum(rank > 0 for rank in ranks) / len(ranks)


def _reciprocal(ranks: Sequence[int]) -> float:
    return sum(1 / rank for rank in ranks if rank) / len(ranks)
