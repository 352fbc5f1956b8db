"""People with dated memories in a real database, and recall over them as the bot has it.

Invariant: everything goes through the stores' own doors; the vectors are those of the embedder of this run.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bot.conversation.message import AccountKey
from bot.conversation.ports import Embedder, Matrix, Vector
from bot.memory.asked_time import AskedTimes
from bot.memory.fact import FactKind, NewFact
from bot.memory.recall import Recall, RecalledFact
from bot.pointing import Pointed, Pointing
from bot.storage.sql.accounts import SqlAccounts
from bot.storage.sql.database import Database
from bot.storage.sql.entities import SqlEntities
from bot.storage.sql.facts import SqlFacts
from bot.storage.sql.turn_log import SqlTurnLog
from bot.storage.vectors.person_index import PersonIndex
from identity.model import Account

RECALL_K = 5
"""Memories for an ordinary question: the setting's default."""
AT_ONCE = 64
"""Texts embedded in one call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One memory of a list."""

    id: str
    text: str
    at: datetime


@dataclass
class HandClock:
    """Stands where the question is asked."""

    time: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


@dataclass
class Texts:
    """Embeds each text once a run: the lists share many."""

    embedder: Embedder
    known: dict[str, Vector] = field(default_factory=dict[str, Vector])

    async def matrix(self, texts: Sequence[str]) -> Matrix:
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        for start in range(0, len(new), AT_ONCE):
            some = new[start : start + AT_ONCE]
            self.known.update(zip(some, await self.embedder.embed_passages(some), strict=True))
        return np.stack([self.known[text] for text in texts])


class Town:
    """The database, and the bot's way from a question to its memories."""

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self.clock = HandClock()
        self.facts = SqlFacts(database, self.clock)
        self.embedder = embedder
        self.texts = Texts(embedder)
        self.index = PersonIndex(self.facts, self.clock, model_id=lambda: embedder.model_id)
        self.recall = Recall(facts=self.facts, index=self.index, clock=self.clock)
        self.pointing = Pointing(SqlEntities(database), RECALL_K, times=AskedTimes(SqlTurnLog(database)))
        self.accounts = SqlAccounts(database, self.clock)

    async def settle(self, name: str, memories: Sequence[Told]) -> tuple[Account, dict[int, Told]]:
        """A person with these memories: their account, and what was told by the id of its fact."""
        account = await self.accounts.create_account(
            AccountKey(channel="wechat", app_id="wx0", openid=name), ""
        )
        facts = [
            NewFact(kind=FactKind.EVENT, text=each.text, importance=0.5, said_at=each.at.astimezone(UTC))
            for each in memories
        ]
        matrix = await self.texts.matrix([each.text for each in memories])
        ids = await self.facts.keep(
            account.scope(""), facts, matrix, self.embedder.model_id, source_turn=None
        )
        return account, dict(zip(ids, memories, strict=True))

    async def ask(
        self, account: Account, question: str, at: datetime
    ) -> tuple[Pointed, tuple[RecalledFact, ...]]:
        """What the bot recalls for a question asked at that time."""
        self.clock.time = at.astimezone(UTC)
        scope = account.scope("")
        pointed = await self.pointing.read(question, self.clock.time, scope, ())
        query = await self.embedder.embed_query(pointed.query)
        window = pointed.window
        recalled = await self.recall.recall(
            scope, pointed.query, pointed.k, query, window, also_told=pointed.is_of_deeds
        )
        return pointed, recalled.facts


@asynccontextmanager
async def open_town(folder: Path, embedder: Embedder) -> AsyncGenerator[Town]:
    """Closed at the end; the folder is the caller's."""
    database = Database(folder / "jide.sqlite3")
    database.prepare()
    await database.open()
    try:
        yield Town(database, embedder)
    finally:
        await database.close()
