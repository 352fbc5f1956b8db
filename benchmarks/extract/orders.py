"""「那个单号」 after twenty turns: which order of their own does a customer mean?

Each customer's turns go through the story's own extraction, one minute apart, with what is said twice within a
minute once; the question is then read for its reference, which is resolved over all that was seen. Beside it:
the nearest turn by the embedded embedder's vectors alone, which is right where it holds the answer. Customers who
can't be told apart are right where exactly those meant are handed back to be asked about.

Invariant: each customer is alone; the answers are looked at only to count.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import Figure, at_least
from bot.conversation.ports import Embedder, Vector
from bot.conversation.text import content
from bot.memory.entities import EntityType, SeenEntity, extract, newest_distinct
from bot.memory.naming import named_in, promised_in
from bot.memory.references import Ambiguous, Resolved, understand

BEGUN = datetime(2026, 3, 4, 1, tzinfo=UTC)
GOAL_TOP_1 = 0.98

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Customer:
    kind: str
    turns: tuple[tuple[int, str, str], ...]
    """Place, words, and the bot's answer; "" where none is listed."""
    asked: tuple[int, str]
    answer: str | None
    candidates: tuple[str, ...]


def read_customers(path: Path) -> list[Customer]:
    """Raises FileNotFoundError."""
    return [_customer(json.loads(line)) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _customer(row: dict[str, Any]) -> Customer:
    return Customer(
        kind=row["kind"],
        turns=tuple((turn["n"], turn["text"], turn.get("bot", "")) for turn in row["turns"]),
        asked=(row["question"]["n"], row["question"]["text"]),
        answer=row["answer"],
        candidates=tuple(row.get("candidates") or ()),
    )


def meant(customer: Customer) -> Resolved | Ambiguous | None:
    """What the story takes the question to point at."""
    seen = newest_distinct(
        each
        for number, text, answer in customer.turns
        for each in (*named_in(text, _at(number)), *promised_in(answer, _at(number)))
    )
    return understand(customer.asked[1], seen)


def _at(number: int) -> datetime:
    return BEGUN + timedelta(minutes=number)


def names_of(text: str) -> frozenset[str]:
    """What a listed answer may be called: as written, and normalised."""
    bare = "".join(text.split()).replace("-", "").upper()
    return frozenset({bare, *(each.normalised.upper() for each in extract(text, BEGUN))})


def is_right(customer: Customer) -> bool:
    found = meant(customer)
    if customer.answer is not None:
        if not isinstance(found, Resolved):
            return False
        return _holds(found.entity, customer.answer)
    if not isinstance(found, Ambiguous) or len(found.candidates) != len(customer.candidates):
        return False
    return all(any(_holds(each, candidate) for each in found.candidates) for candidate in customer.candidates)


def _holds(entity: SeenEntity, listed: str) -> bool:
    """It is what is listed; of a promise, where that begins and ends is anybody's: one has the words of the other."""
    if entity.type is EntityType.PROMISE:
        said = content(listed)
        return said in entity.normalised or entity.normalised in said
    return bool(_names(entity) & names_of(listed))


def _names(entity: SeenEntity) -> frozenset[str]:
    return frozenset({entity.normalised.upper(), "".join(entity.value.split()).replace("-", "").upper()})


async def figures(
    path: Path, embedder: Embedder | None, misses: list[str], on_progress: OnProgress
) -> list[Figure]:
    """`embedder` None: without the comparison. Raises FileNotFoundError."""
    customers = read_customers(path)
    told = [each for each in customers if each.answer is not None]
    doubtful = [each for each in customers if each.answer is None]
    right = [each for each in customers if is_right(each)]
    misses += [
        f"指代 {each.kind} {each.asked[1]}: {meant(each)} ≠ {each.answer or each.candidates}"
        for each in customers
        if each not in right
    ]
    share = _share(told, right)
    goal, holds = at_least(share, GOAL_TOP_1)
    by_vectors = await _by_vectors(told, embedder, on_progress) if embedder is not None else None
    return [
        Figure(
            measure="指代找到的单号 top-1",
            value=round(share, 4),
            unit="",
            goal=goal,
            holds=holds,
            peer=None if by_vectors is None else {"只用向量": round(by_vectors, 4)},
            includes=f"{len(told)} 个顾客",
        ),
        *(
            Figure(
                measure=f"　其中 {kind}",
                value=round(_share([each for each in told if each.kind == kind], right), 4),
                unit="",
            )
            for kind in sorted({each.kind for each in told})
        ),
        Figure(
            measure="分不清时给出恰好那几个",
            value=round(_share(doubtful, right), 4),
            unit="",
            includes=f"{len(doubtful)} 个顾客",
        ),
    ]


def _share(customers: list[Customer], right: list[Customer]) -> float:
    return sum(each in right for each in customers) / len(customers) if customers else 1.0


async def _by_vectors(customers: list[Customer], embedder: Embedder, on_progress: OnProgress) -> float:
    texts = sorted({text for each in customers for _, text, _ in each.turns})
    vectors: dict[str, Vector] = {}
    for place, text in enumerate(texts):
        vectors[text] = (await embedder.embed_passages([text]))[0]
        on_progress(place + 1, len(texts))
    right = 0
    for each in customers:
        query = await embedder.embed_query(each.asked[1])
        said = [text for _, text, _ in each.turns]
        nearest = said[int(np.argmax(np.stack([vectors[text] for text in said]) @ query))]
        assert each.answer is not None
        right += bool(
            names_of(each.answer)
            & {name for entity in extract(nearest, BEGUN) for name in (entity.normalised.upper(),)}
        )
    return right / len(customers)
