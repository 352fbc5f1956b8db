"""Durable turns a second, 200 at once: the ledger beside plain aiosqlite that awaits each statement.

Invariant: both commit the very same statements with the same values to copies of one file, each commit
synced (`synchronous=FULL`); the peer's statements are recorded from the ledger, not written here.
"""

import asyncio
import shutil
import sqlite3
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import aiosqlite

from benchmarks.core.trial import Progress, at_least, median_ratio, open_database, percentile, sig
from benchmarks.report import Figure
from bot.conversation.message import AccountKey, Conversation, Kind, Message, Reply
from bot.conversation.turn import Turn
from bot.ports import Delivery, DeliveryState
from bot.storage.sql.accounts import SqlAccounts
from bot.storage.sql.database import Database
from bot.storage.sql.inbox import SqlInbox
from bot.storage.sql.ledger import SqlLedger
from identity.model import Account

GOAL = 10.0
AT_ONCE = 200
ROUNDS = 7
OURS_A_ROUND = 2_000
PEERS_A_ROUND = 400
"""Fewer, since each takes ten times as long: a round of either is well under a second."""
NOW = datetime(2026, 3, 1, tzinfo=UTC)
REPLY = Reply(text="好的，我记住了：您对花生过敏，以后推荐零食会避开它。", decided_by="model")

T = TypeVar("T")
Recorded: TypeAlias = list[tuple[str, tuple[Any, ...]]]
"""The statements of one transaction, with their values."""


class _StandingClock:
    """Stands still, so that the values recorded are those committed."""

    def now(self) -> datetime:
        return NOW


class _Pending:
    """A message admitted and answered, to be committed."""

    def __init__(self, inbox_id: int, account: Account, message: Message) -> None:
        self.inbox_id = inbox_id
        self._account = account
        self._message = message

    async def commit(self, ledger: SqlLedger) -> Turn | None:
        delivery = Delivery(
            inbox_id=self.inbox_id,
            pages=(REPLY.text,),
            next_page=0,
            state=DeliveryState.HELD,
            decided_by=REPLY.decided_by,
            question=self._message.text,
            at=NOW,
        )
        return await ledger.commit_turn(
            self.inbox_id, self._account.scope(""), self._message, REPLY, delivery, consolidate=True
        )


async def measure(folder: Path, progress: Progress) -> list[Figure]:
    """Turns a second of both, and how long one of ours waits."""
    progress("准备收件箱")
    source = folder / "jide.db"
    pending = await _fill_inbox(folder, AT_ONCE + ROUNDS * OURS_A_ROUND)
    peer_file, recording_file = folder / "peer.db", folder / "recording.db"
    shutil.copyfile(source, peer_file)
    shutil.copyfile(source, recording_file)
    progress("记下语句")
    recorded = await _record(recording_file, pending[: AT_ONCE + ROUNDS * PEERS_A_ROUND])
    async with open_database(folder) as database, _open_peer(peer_file) as peer:
        ledger, lock = SqlLedger(database, _StandingClock()), asyncio.Lock()

        async def commit(one: _Pending) -> None:
            assert await one.commit(ledger) is not None

        async def replay(statements: Recorded) -> None:
            async with lock:
                await _replay(peer, statements)

        ours, peers, waits = [], [], []
        await _turns_a_second(commit, pending[:AT_ONCE], [])
        await _turns_a_second(replay, recorded[:AT_ONCE], [])
        for number in range(ROUNDS):
            progress(f"第 {number + 1}/{ROUNDS} 轮")
            start = AT_ONCE + number * OURS_A_ROUND
            ours.append(await _turns_a_second(commit, pending[start : start + OURS_A_ROUND], waits))
            start = AT_ONCE + number * PEERS_A_ROUND
            peers.append(await _turns_a_second(replay, recorded[start : start + PEERS_A_ROUND], []))
    return _figures(ours, peers, waits, statements=len(recorded[-1]))


def _figures(
    ours: Sequence[float], peers: Sequence[float], waits: Sequence[float], *, statements: int
) -> list[Figure]:
    times = median_ratio(ours, peers)
    goal = at_least(times, GOAL)
    what = (
        f"真实：SQLite 文件、synchronous=FULL、每轮的 {statements} 条语句；同时 {AT_ONCE} 轮；"
        f"对照是直接用 aiosqlite 在一把锁下逐条 await 同样的语句"
    )
    return [
        Figure(
            measure="持久提交，比逐条 await 快",
            value=sig(times),
            unit="倍",
            goal=goal.words,
            holds=goal.holds,
            includes=f"{what}；{ROUNDS} 轮交替，各轮比值的中位数",
        ),
        Figure(
            measure="持久提交",
            value=sig(percentile(ours, 50)),
            unit="轮/秒",
            peer={"aiosqlite": sig(percentile(peers, 50))},
            includes=what,
        ),
        Figure(measure="持久提交 p99", value=sig(percentile(waits, 99)), unit="毫秒", includes=what),
    ]


async def _fill_inbox(folder: Path, count: int) -> list[_Pending]:
    """`count` admitted messages of AT_ONCE people in turn."""
    async with open_database(folder) as database:
        accounts, inbox = SqlAccounts(database, _StandingClock()), SqlInbox(database, _StandingClock())
        people = [
            await accounts.create_account(AccountKey(channel="wechat", app_id="wx0", openid=f"o{number}"), "")
            for number in range(AT_ONCE)
        ]

        async def admit(number: int) -> _Pending:
            account = people[number % AT_ONCE]
            message = Message(
                key=f"m{number}",
                kind=Kind.TEXT,
                sender=account.key,
                conversation=Conversation(channel="wechat", app_id="wx0"),
                text="我对花生过敏，推荐零食的时候请避开，谢谢",
                sent_at=NOW,
            )
            return _Pending((await inbox.admit(message)).inbox_id, account, message)

        return list(await asyncio.gather(*map(admit, range(count))))


class _RecordingDatabase:
    """Runs each transaction at once, and keeps what it executed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.transactions: list[Recorded] = []

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self.transactions.append([])
        self._connection.execute("BEGIN IMMEDIATE")
        result = work(cast(sqlite3.Connection, self))
        self._connection.execute("COMMIT")
        return result

    def execute(self, text: str, values: tuple[Any, ...]) -> sqlite3.Cursor:
        self.transactions[-1].append((text, values))
        return self._connection.execute(text, values)


async def _record(file: Path, pending: Sequence[_Pending]) -> list[Recorded]:
    connection = sqlite3.connect(file, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous = OFF")
        recording = _RecordingDatabase(connection)
        ledger = SqlLedger(cast(Database, recording), _StandingClock())
        for each in pending:
            assert await each.commit(ledger) is not None
        return recording.transactions
    finally:
        connection.close()


@asynccontextmanager
async def _open_peer(file: Path) -> AsyncGenerator[aiosqlite.Connection]:
    """With the pragmas of our writer, but for the log: SQLite's own setting folds it in at every 1,000 pages."""
    async with aiosqlite.connect(file, isolation_level=None, cached_statements=256) as peer:
        for pragma in (
            "journal_mode = WAL",
            "synchronous = FULL",
            "secure_delete = ON",
            "foreign_keys = ON",
            "temp_store = MEMORY",
        ):
            await peer.execute_fetchall(f"PRAGMA {pragma}")
        yield peer


async def _replay(peer: aiosqlite.Connection, statements: Recorded) -> None:
    """One hop a statement: `execute_fetchall` is the quickest way aiosqlite has."""
    await peer.execute_fetchall("BEGIN IMMEDIATE")
    for text, values in statements:
        await peer.execute_fetchall(text, values)
    await peer.execute_fetchall("COMMIT")


async def _turns_a_second(
    commit: Callable[[T], Awaitable[None]], turns: Sequence[T], waits: list[float]
) -> float:
    """AT_ONCE committers share the turns, in order. Adds each one's milliseconds to `waits`."""
    waiting = iter(turns)

    async def keep_committing() -> None:
        for turn in waiting:
            begun = time.perf_counter()
            await commit(turn)
            waits.append((time.perf_counter() - begun) * 1000)

    begun = time.perf_counter()
    await asyncio.gather(*(keep_committing() for _ in range(AT_ONCE)))
    return len(turns) / (time.perf_counter() - begun)
