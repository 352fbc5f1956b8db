"""People who chat by the clock: with the bot's own recall and store, or with a bare index each.

Invariant: chats begin by the clock, whether or not those before are done, so that waiting is measured and not avoided.
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from benchmarks.core.trial import DIMENSION, MODEL, SEED, Population, SystemClock, random_units
from benchmarks.memory.people import RECALL_K
from benchmarks.memory.recall_lists import SETS
from bot.conversation.errors import StoreUnavailable
from bot.conversation.message import AccountKey, Conversation, Kind, Message
from bot.conversation.ports import Matrix
from bot.memory.asked_time import AskedTimes
from bot.memory.entities import EntityType, SeenEntity
from bot.memory.fact import FactKind, NewFact
from bot.memory.query import Query
from bot.memory.recall import Recall
from bot.metrics import Metrics
from bot.pointing import Pointing
from bot.recollection import Recollection
from bot.storage.sql.database import Database
from bot.storage.sql.entities import SqlEntities
from bot.storage.sql.turn_log import SqlTurnLog
from bot.storage.vectors.person_index import PersonIndex
from identity.model import Account

RATE = 200
LAG_PROBE_SECONDS = 0.005
LATEST_SECONDS = 60.0
"""What isn't done so long after the last chat began is counted as never done."""
NAMED_EVERY = 8
"""Of the memories told in a chat, one in so many names an order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What is told and asked."""

    told: tuple[str, ...]
    asked: tuple[str, ...]

    def memory(self, number: int) -> str:
        """Two of the list's memories in one, each number another: when all pairs are gone, with how often they were."""
        count = len(self.told)
        round_, place = divmod(number, count * count)
        pair = f"{self.told[place % count]}，{self.told[(place * 7 + place // count) % count]}"
        return f"{pair}，说第 {round_ + 1} 遍" if round_ else pair


@dataclass(slots=True)
class Load:
    """Milliseconds of each chat's parts, and of the loop's lateness."""

    searches: list[float] = field(default_factory=list[float])
    upserts: list[float] = field(default_factory=list[float])
    lags: list[float] = field(default_factory=list[float])
    bare_searches: list[float] = field(default_factory=list[float])
    bare_upserts: list[float] = field(default_factory=list[float])
    recalled: int = 0
    cpu_seconds: float = 0.0
    """Of the process, all threads: tells what a chat takes on a machine that has other work."""
    left: int = 0
    """Chats that weren't done in the end, or for which the store was too busy."""


def read_words(lists: Path) -> Words:
    """Raises FileNotFoundError."""
    rows = [row for name in SETS for row in _rows(lists / f"recall_{name}_memories.jsonl")]
    told = dict.fromkeys(each["text"] for row in rows for each in row["memories"])
    names = [*(f"recall_{name}.jsonl" for name in SETS), "time_bound.jsonl"]
    asked = dict.fromkeys(row["query"] for name in names for row in _rows(lists / name))
    return Words(told=tuple(told), asked=tuple(asked))


def _rows(path: Path) -> Iterable[dict[str, Any]]:
    return map(json.loads, filter(None, path.read_text("utf-8").splitlines()))


def vectors_of(person: int, size: int) -> Matrix:
    """The person's memories: made anew for the peer."""
    return random_units(np.random.default_rng((SEED, person)), size)


def told_as(text: str, at: datetime) -> NewFact:
    return NewFact(kind=FactKind.EVENT, text=text, importance=0.5, said_at=at)


def _named(number: int, at: datetime) -> tuple[SeenEntity, ...]:
    if number % NAMED_EVERY:
        return ()
    order = f"SF{10**12 + number}"
    return (SeenEntity(type=EntityType.ORDER_ID, value=order, normalised=order, seen_at=at),)


class Town:
    """People who chat with the bot's own parts."""

    def __init__(
        self,
        database: Database,
        people: Sequence[Account],
        shares: NDArray[np.float64],
        words: Words,
        numbers: Iterator[int],
    ) -> None:
        """`numbers`: of memories that nobody has told."""
        clock = SystemClock()
        self.shares = shares
        self._facts = Population(database).facts
        self._people = people
        self._words = words
        self._random = np.random.default_rng(SEED + 3)
        self._numbers = numbers
        self._pointing = Pointing(SqlEntities(database), RECALL_K, times=AskedTimes(SqlTurnLog(database)))
        index = PersonIndex(self._facts, clock, model_id=lambda: MODEL)
        self._recollection = Recollection(
            recall=Recall(facts=self._facts, index=index, clock=clock),
            directory=_nobody(),
            metrics=Metrics(),
            log=SqlTurnLog(database),
        )

    async def chat(self, seconds: int, name: str, say: Callable[[str], None]) -> Load:
        """RATE chats a second for so long."""
        count = RATE * seconds
        who = self._random.choice(len(self._people), size=count, p=self.shares).tolist()
        asked = self._random.integers(len(self._words.asked), size=count).tolist()
        vectors = random_units(self._random, count)
        load = Load()
        probe = asyncio.create_task(_probe(load))
        chats: list[asyncio.Task[None]] = []
        begun = time.perf_counter()
        for number in range(count):
            if number % RATE == 0:
                say(f"{name}，{number // RATE}/{seconds} 秒")
            await asyncio.sleep(max(0.0, begun + number / RATE - time.perf_counter()))
            text = self._words.asked[asked[number]]
            chat = self._one(self._people[who[number]], text, vectors[number : number + 1], load)
            chats.append(asyncio.create_task(chat))
        _, left = await asyncio.wait(chats, timeout=LATEST_SECONDS)
        probe.cancel()
        for each in left:
            each.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        load.left = len(left)
        for each in set(chats) - left:
            if isinstance(error := each.exception(), StoreUnavailable):
                load.left += 1
            elif error is not None:
                raise error
        return load

    async def _one(self, account: Account, text: str, vector: Matrix, load: Load) -> None:
        scope, now = account.scope(""), datetime.now(UTC)
        number = next(self._numbers)
        begun = time.perf_counter()
        pointed = await self._pointing.read(text, now, scope, ())
        query = Query(text=pointed.query, vector=vector[0], talk=None)
        found = await self._recollection.recollect(_message(text, now), account, scope, pointed, query)
        recalled = time.perf_counter()
        kept = await self._facts.keep(
            scope,
            [told_as(self._words.memory(number), now)],
            vector,
            MODEL,
            source_turn=None,
            entities=_named(number, now),
        )
        load.upserts.append((time.perf_counter() - recalled) * 1000)
        load.searches.append((recalled - begun) * 1000)
        load.recalled += len(found.own)
        assert kept


class BareTown:
    """The same people over one index each, all in memory: what search and add cost by themselves."""

    def __init__(self, sizes: NDArray[np.int64], shares: NDArray[np.float64]) -> None:
        self._sizes = sizes
        self._shares = shares
        self._random = np.random.default_rng(SEED + 3)

    async def chat(self, load: Load, seconds: int, say: Callable[[str], None]) -> None:
        """As many as Town's, at its rate, into `load`."""
        faiss.omp_set_num_threads(1)
        count = RATE * seconds
        who = self._random.choice(len(self._sizes), size=count, p=self._shares).tolist()
        vectors = random_units(self._random, count)
        indexes: dict[int, faiss.IndexFlatIP] = {}
        for person in dict.fromkeys(who):
            if len(indexes) % 500 == 0:
                say(f"裸索引：{len(indexes)} 人")
            indexes[person] = faiss.IndexFlatIP(DIMENSION)
            indexes[person].add(vectors_of(person, int(self._sizes[person])))  # pyright: ignore[reportCallIssue]
        begun = time.perf_counter()
        for number, person in enumerate(who):
            await asyncio.sleep(max(0.0, begun + number / RATE - time.perf_counter()))
            vector, index = vectors[number : number + 1], indexes[person]
            started = time.perf_counter()
            index.search(vector, RECALL_K)  # pyright: ignore[reportCallIssue]
            found = time.perf_counter()
            index.add(vector)  # pyright: ignore[reportCallIssue]
            load.bare_upserts.append((time.perf_counter() - found) * 1000)
            load.bare_searches.append((found - started) * 1000)


def _nobody() -> Any:
    """A private message asks for no group's directory."""
    return None


def _message(text: str, at: datetime) -> Message:
    return Message(
        key="1",
        kind=Kind.TEXT,
        sender=AccountKey(channel="wechat", app_id="wx0", openid="o"),
        conversation=Conversation(channel="wechat", app_id="wx0"),
        text=text,
        sent_at=at,
    )


async def _probe(load: Load) -> None:
    while True:
        begun = time.perf_counter()
        await asyncio.sleep(LAG_PROBE_SECONDS)
        load.lags.append((time.perf_counter() - begun - LAG_PROBE_SECONDS) * 1000)
