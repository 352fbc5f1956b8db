"""A real database with people in it, for the tests of memory: accounts, turns, facts, deliveries."""

import base64
import sqlite3
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from bot.conversation.message import AccountKey, Conversation, Kind, Message, Reply
from bot.conversation.ports import Matrix, Vector
from bot.conversation.scope import Scope
from bot.conversation.turn import Turn
from bot.memory.fact import FactKind, NewFact
from bot.ports import Delivery, DeliveryState
from bot.storage.sql.accounts import SqlAccounts
from bot.storage.sql.database import Database
from bot.storage.sql.deliveries import SqlDeliveries
from bot.storage.sql.facts import SqlFacts
from bot.storage.sql.inbox import SqlInbox
from bot.storage.sql.jobs import SqlJobs
from bot.storage.sql.ledger import SqlLedger
from bot.storage.sql.reembedding import SqlVectors
from identity.model import Account

MODEL = "model-a"
DIMENSION = 8
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
GROUP = Conversation(channel="wechat", app_id="wx1", group="g1")
PRIVATE = Conversation(channel="wechat", app_id="wx1")


@dataclass
class HandClock:
    """Moves when the test moves it."""

    time: datetime = START

    def now(self) -> datetime:
        return self.time

    def advance(self, **duration: float) -> None:
        self.time += timedelta(**duration)


@dataclass
class Stage:
    """The stores over one file."""

    folder: Path
    database: Database
    clock: HandClock
    facts: SqlFacts
    accounts: SqlAccounts
    inbox: SqlInbox
    ledger: SqlLedger
    deliveries: SqlDeliveries
    jobs: SqlJobs
    count: int = field(default=0)

    async def arrive(self, openid: str, unionid: str = "") -> Account:
        return await self.accounts.create_account(
            AccountKey(channel="wechat", app_id="wx1", openid=openid), unionid
        )

    async def refreshed(self, account: Account) -> Account:
        found = await self.accounts.find_account(account.key)
        assert found is not None
        return found

    def message(self, account: Account, text: str, place: Conversation = PRIVATE) -> Message:
        self.count += 1
        return Message(
            key=f"m{self.count}",
            kind=Kind.TEXT,
            sender=account.key,
            conversation=place,
            text=text,
            sent_at=self.clock.now(),
        )

    async def say(
        self,
        account: Account,
        question: str,
        answer: str = "好的",
        *,
        place: Conversation = PRIVATE,
        state: DeliveryState = DeliveryState.SENT,
        consolidate: bool = False,
    ) -> Turn:
        """One whole turn: admitted, answered, committed, its reply sealed."""
        message = self.message(account, question, place)
        admission = await self.inbox.admit(message)
        delivery = Delivery(
            inbox_id=admission.inbox_id,
            pages=(answer,),
            next_page=1 if state is DeliveryState.SENT else 0,
            state=state,
            decided_by="model",
            question=question,
            at=self.clock.now(),
        )
        reply = Reply(text=answer, decided_by="model")
        turn = await self.ledger.commit_turn(
            admission.inbox_id,
            account.scope(place.place),
            message,
            reply,
            delivery,
            consolidate=consolidate,
        )
        assert turn is not None
        await self.deliveries.seal("wechat", "wx1", message.key, answer.encode(), carries_answer=False)
        return turn

    async def remember(
        self,
        account: Account,
        *texts: str,
        place: Conversation = PRIVATE,
        source_turn: int | None = None,
        vectors: Matrix | None = None,
    ) -> tuple[int, ...]:
        facts = [self.fact(text) for text in texts]
        rows = vectors_of(texts) if vectors is None else vectors
        scope = account.scope(place.place)
        return await self.facts.keep(scope, facts, rows, MODEL, source_turn=source_turn)

    def fact(self, text: str, *, expires_at: datetime | None = None) -> NewFact:
        return NewFact(
            kind=FactKind.PREFERENCE,
            text=text,
            importance=0.5,
            said_at=self.clock.now(),
            expires_at=expires_at,
        )

    async def texts(self, scope: Scope) -> list[str]:
        return [fact.text for fact in (await self.facts.fact_sheet(scope)).facts]

    def dump(self, besides: Sequence[str] = ()) -> dict[str, list[tuple[object, ...]]]:
        """Every row of every table, by a connection of its own."""
        with sqlite3.connect(self.database.path) as connection:
            names = [
                row[0]
                for row in connection.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table'"
                ).fetchall()
            ]
            rows = {
                name: connection.execute(f"SELECT * FROM {name}").fetchall()
                for name in names
                if name not in besides
            }
        connection.close()
        return rows


@asynccontextmanager
async def open_stage(folder: Path) -> AsyncGenerator[Stage]:
    clock = HandClock()
    database = Database(folder / "jide.db")
    await database.open()
    try:
        yield Stage(
            folder=folder,
            database=database,
            clock=clock,
            facts=SqlFacts(database, clock),
            accounts=SqlAccounts(database, clock),
            inbox=SqlInbox(database, clock),
            ledger=SqlLedger(database, clock),
            deliveries=SqlDeliveries(database, clock),
            jobs=SqlJobs(database, clock),
        )
    finally:
        await database.close()


async def renew(stage: Stage, scope: Scope, kind: tuple[str, int]) -> None:
    """Every vector of a scope made anew, of this kind."""
    vectors = SqlVectors(stage.database, stage.clock)
    while (found := await vectors.facts_to_renew(scope, kind, 9, ()))[1]:
        owner, facts = found
        rows = vectors_of([fact.text for fact in facts], kind[1])
        await stage.facts.add_vectors(owner, [fact.id for fact in facts], rows, kind[0])
    await vectors.change_over(scope, kind, ())


def vector_of(text: str, dimension: int = DIMENSION) -> Vector:
    """Some direction, the same for the same text."""
    seed = int.from_bytes(text.encode("utf-8", "surrogatepass"), "little") % 2**63
    vector = np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
    return vector / np.float32(np.linalg.norm(vector))


def vectors_of(texts: Sequence[str], dimension: int = DIMENSION) -> Matrix:
    rows = [vector_of(text, dimension) for text in texts]
    return np.stack(rows) if rows else np.empty((0, dimension), dtype=np.float32)


def traces(folder: Path, text: str, vector: Vector | None = None) -> set[str]:
    """The forms in which `text` or `vector` is found in any file of the folder, byte by byte."""
    forms = dict(_forms(text))
    if vector is not None:
        numbers = vector.astype("<f4").tobytes()
        # Slices, as a BLOB that overflows its page is not in one piece.
        forms |= {f"vector[{at}]": numbers[at : at + 16] for at in range(0, len(numbers) - 15, 16)}
    found: set[str] = set()
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            found |= {name for name, form in forms.items() if form in content}
    return found


def _forms(text: str) -> Iterator[tuple[str, bytes]]:
    encoded = text.encode()
    yield "utf-8", encoded
    yield "escaped", text.encode("ascii", "backslashreplace")
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + encoded)
        # The first and last characters mix with what stands beside it.
        yield f"base64+{shift}", whole[4 if shift else 0 : len(whole) - 4]
