"""The writer commits groups, isolates failures and tells the truth; readers see whole commits."""

import asyncio
import contextlib
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import bindparam, select

from bot.conversation.errors import StoreUnavailable
from bot.storage.sql import database as database_module
from bot.storage.sql import folding as folding_module
from bot.storage.sql import writer as writer_module
from bot.storage.sql.database import Database
from bot.storage.sql.schema import stamp
from bot.storage.sql.statements import Statement, insert_into
from bot.storage.sql.writer import GROUP_LIMIT
from tests.integration.database_fixture import open_database

INSERT = Statement(insert_into(stamp, "name", "value"))
ALL = Statement(select(stamp.c.name, stamp.c.value).order_by(stamp.c.value))
ONE = Statement(select(stamp.c.value).where(stamp.c.name == bindparam("name")))


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(tmp_path) as database:
        yield database


def put(name: str, value: int = 0) -> Callable[[sqlite3.Connection], int]:
    def work(connection: sqlite3.Connection) -> int:
        INSERT.run(connection, name=name, value=value)
        return value

    return work


async def test_a_returned_write_is_read_by_every_reader(database: Database) -> None:
    assert await database.write(put("a", 7)) == 7
    assert await asyncio.gather(*(database.read(ONE, name="a") for _ in range(6))) == [[(7,)]] * 6


async def test_a_failing_transaction_is_rolled_back_alone(database: Database) -> None:
    def spoil(connection: sqlite3.Connection) -> None:
        INSERT.run(connection, name="spoilt", value=-1)
        raise LookupError("on purpose")

    def twice(connection: sqlite3.Connection) -> None:
        INSERT.run(connection, name="twice", value=-2)
        INSERT.run(connection, name="twice", value=-2)

    works = [put("a", 1), spoil, put("b", 2), twice, put("c", 3)]
    outcomes = await asyncio.gather(*map(database.write, works), return_exceptions=True)
    assert [outcomes[0], outcomes[2], outcomes[4]] == [1, 2, 3]
    assert isinstance(outcomes[1], LookupError)
    assert isinstance(outcomes[3], sqlite3.IntegrityError)
    assert await database.read(ALL) == [("a", 1), ("b", 2), ("c", 3)]


@asynccontextmanager
async def held_writer(database: Database) -> AsyncIterator[list[str]]:
    """Holds the writer, so that what is submitted meanwhile is one group; gives the SQL it then runs."""
    loop = asyncio.get_running_loop()
    started, gate = asyncio.Event(), threading.Event()
    ran: list[str] = []

    def hold(connection: sqlite3.Connection) -> None:
        loop.call_soon_threadsafe(started.set)
        gate.wait()
        connection.set_trace_callback(ran.append)

    holding = asyncio.create_task(database.write(hold))
    await started.wait()
    try:
        yield ran
    finally:
        gate.set()
        await holding


async def test_many_share_one_commit_and_return_in_order(database: Database) -> None:
    returned: list[int] = []

    async def submit(number: int) -> None:
        returned.append(await database.write(put(str(number), number)))

    async with held_writer(database) as ran:
        tasks = [asyncio.create_task(submit(number)) for number in range(GROUP_LIMIT + 1)]
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    assert returned == list(range(GROUP_LIMIT + 1))
    # The holder's own, then one for the group, then one for the one too many.
    assert [text for text in ran if "COMMIT" in text or "BEGIN" in text] == [
        *("COMMIT", "BEGIN IMMEDIATE", "COMMIT", "BEGIN IMMEDIATE", "COMMIT")
    ]


async def test_a_failing_commit_fails_everyone_in_it(database: Database) -> None:
    """A foreign key checked only at COMMIT stands for any COMMIT that fails."""

    def break_commit(connection: sqlite3.Connection) -> int:
        connection.execute("PRAGMA defer_foreign_keys = ON")
        return connection.execute(
            "INSERT INTO shelf (account_id, place, version, size, model, dimension) VALUES (404, '', 0, 0, '', 0)"
        ).rowcount

    async with held_writer(database):
        works = (put("a"), break_commit, put("b"))
        group = [asyncio.create_task(database.write(work)) for work in works]
        await asyncio.sleep(0)
    outcomes = await asyncio.gather(*group, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [StoreUnavailable] * 3
    assert await database.read(ALL) == []
    assert await database.write(put("after")) == 0


async def test_a_full_disk_is_unavailable_and_heals(database: Database) -> None:
    def fill(connection: sqlite3.Connection) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 1}")
        try:
            connection.execute("INSERT INTO stamp VALUES (?, 0)", ("大" * 200_000,))
        finally:
            connection.execute("PRAGMA max_page_count = 1000000")

    with pytest.raises(StoreUnavailable, match="full"):
        await database.write(fill)
    assert await database.write(put("after", 1)) == 1
    assert await database.read(ALL) == [("after", 1)]


async def test_a_lock_held_elsewhere_is_waited_for_then_unavailable(tmp_path: Path) -> None:
    async with open_database(tmp_path, busy_seconds=0.05) as database:
        with contextlib.closing(sqlite3.connect(database.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnavailable):
                await database.write(put("a"))
            assert await database.read(ALL) == []
            other.execute("ROLLBACK")
        assert await database.write(put("b", 1)) == 1


async def test_a_cancelled_caller_leaves_the_writer_working(database: Database) -> None:
    task = asyncio.create_task(database.write(put("a")))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await database.write(put("b", 1)) == 1


async def test_a_snapshot_does_not_move(database: Database) -> None:
    await database.write(put("a", 1))
    async with database.snapshot() as read:
        assert await read(ALL) == [("a", 1)]
        await database.write(put("b", 2))
        assert await read(ALL) == [("a", 1)]
        assert await database.read(ALL) == [("a", 1), ("b", 2)]
    async with database.snapshot() as read:
        assert await read(ONE, name="b") == [(2,)]


async def test_a_cancelled_snapshot_gives_its_reader_back(database: Database) -> None:
    async def linger() -> None:
        async with database.snapshot() as read:
            await read(ALL)
            await asyncio.Event().wait()

    for _ in range(3):
        tasks = [asyncio.create_task(linger()) for _ in range(database_module.READERS)]
        await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    await database.write(put("a", 1))
    assert await database.read(ALL) == [("a", 1)]
    await database.quiesce_and_checkpoint()


async def test_a_view_does_not_move(database: Database) -> None:
    await database.write(put("a", 1))
    has_looked, may_go_on = threading.Event(), threading.Event()

    def look(connection: sqlite3.Connection) -> list[object]:
        before = ALL.rows(connection)
        has_looked.set()
        assert may_go_on.wait(10)
        return [before, ALL.rows(connection)]

    viewing = asyncio.create_task(database.view(look))
    await asyncio.to_thread(has_looked.wait, 10)
    await database.write(put("b", 2))
    may_go_on.set()
    assert await viewing == [[("a", 1)], [("a", 1)]]
    assert await database.view(ALL.rows) == [("a", 1), ("b", 2)]


@pytest.mark.parametrize("error", [LookupError, ValueError])
async def test_what_a_view_raises_is_its_callers(database: Database, error: type[Exception]) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        ALL.rows(connection)
        raise error("on purpose")

    for _ in range(database_module.READERS + 1):
        with pytest.raises(error, match="on purpose"):
            await database.view(fail)
    await database.write(put("a", 1))
    assert await database.view(ALL.rows) == [("a", 1)]
    await database.quiesce_and_checkpoint()


async def test_a_view_cannot_write_and_ends_with_the_database(database: Database) -> None:
    with pytest.raises(StoreUnavailable, match="readonly"):
        await database.view(lambda connection: INSERT.run(connection, name="a", value=1).rowcount)
    await database.close()
    with pytest.raises(StoreUnavailable):
        await database.view(ALL.rows)


async def test_readers_cannot_write(database: Database) -> None:
    with pytest.raises(StoreUnavailable, match="readonly"):
        await database.read(INSERT, name="a", value=1)


async def test_close_finishes_what_was_submitted_and_takes_no_more(tmp_path: Path) -> None:
    database = Database(tmp_path / "jide.db")
    await database.open()
    tasks = [asyncio.create_task(database.write(put(str(number), number))) for number in range(300)]
    await asyncio.sleep(0)
    await database.close()
    assert await asyncio.gather(*tasks) == list(range(300))
    for call in (database.write(put("late")), database.read(ALL), database.quiesce_and_checkpoint()):
        with pytest.raises(StoreUnavailable, match="closed"):
            await call
    await database.close()


async def test_nothing_deleted_is_left_on_disk(database: Database) -> None:
    canary = "八六对花生过敏-canary"
    long = canary + "长" * 30_000
    for name in [f"{canary}{number}" for number in range(300)] + [long]:
        await database.write(put(name))
    await database.read(ALL)
    await database.write(lambda connection: connection.execute("DELETE FROM stamp").rowcount)
    assert any(canary.encode() in path.read_bytes() for path in database.path.parent.iterdir())
    await database.quiesce_and_checkpoint()
    for path in database.path.parent.iterdir():
        assert canary.encode() not in path.read_bytes(), path.name
    assert await database.write(put("after", 1)) == 1


async def test_the_checkpoint_waits_for_our_readers(database: Database) -> None:
    await database.write(put("a"))
    async with database.snapshot() as read:
        await read(ALL)
        checkpoint = asyncio.create_task(database.quiesce_and_checkpoint())
        await asyncio.sleep(0.02)
        assert not checkpoint.done()
    await checkpoint
    assert (database.path.parent / "jide.db-wal").stat().st_size == 0


async def test_the_checkpoint_says_when_another_reader_stays(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "CHECKPOINT_SECONDS", 0.4)
    with contextlib.closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM stamp").fetchone()
        await database.write(put("a"))
        with pytest.raises(StoreUnavailable):
            await database.quiesce_and_checkpoint()
        other.execute("COMMIT")
        await database.write(put("b", 1))
        await database.quiesce_and_checkpoint()  # open beside us, but idle
    assert await database.read(ONE, name="b") == [(1,)]


async def test_an_odd_folder_and_a_private_file(tmp_path: Path) -> None:
    folder = tmp_path / "我的 数据 100%s"
    async with open_database(folder) as database:
        await database.write(put("a"))
        for path in folder.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name


async def test_a_forgotten_close_does_not_hang_the_exit(tmp_path: Path) -> None:
    script = (
        "import asyncio, pathlib, sys\n"
        "from bot.storage.sql.database import Database\n"
        "database = Database(pathlib.Path(sys.argv[1]))\n"
        "asyncio.run(database.open())\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", script, str(tmp_path / "jide.db")]
    ran = await asyncio.to_thread(subprocess.run, command, timeout=30, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr


async def test_a_glance_sees_one_snapshot_of_whole_commits_and_cannot_write(database: Database) -> None:
    await database.write(put("a", 1))
    assert await database.glance(lambda c: [ALL.rows(c), ONE.rows(c, name="a")]) == [[("a", 1)], [(1,)]]
    assert await database.peek(ONE, name="a") == [(1,)]
    with pytest.raises(StoreUnavailable, match="readonly"):
        await database.glance(lambda c: INSERT.run(c, name="b", value=2).rowcount)
    with pytest.raises(LookupError):
        await database.glance(lambda c: [ALL.rows(c), {}["nothing"]])
    await database.write(put("b", 2))
    assert await database.peek(ONE, name="b") == [(2,)]
    await database.close()
    for call in (database.glance(ALL.rows), database.peek(ALL)):
        with pytest.raises(StoreUnavailable, match="closed"):
            await call


async def test_a_glance_at_a_file_that_is_held_waits_in_a_thread(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop_thread, looked = threading.get_ident(), list[bool]()

    def look(connection: sqlite3.Connection) -> int:
        looked.append(threading.get_ident() == loop_thread)
        if looked[-1]:
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY_RECOVERY  # type: ignore[attr-defined]
            raise error
        return len(ALL.rows(connection))

    assert await database.glance(look) == 0
    assert looked == [True, False]


async def look_on(database: Database) -> None:
    while True:
        await database.peek(ALL)
        await asyncio.sleep(0)


async def test_who_looks_within_one_turn_of_the_loop_shares_a_snapshot(
    database: Database,
) -> None:
    await database.write(put("a", 1))
    assert await database.peek(ALL) == [("a", 1)]
    with contextlib.closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        put("b", 2)(other)
    # Nothing was waited for since: the same turn, and in it the same state.
    assert await database.peek(ALL) == await database.glance(ALL.rows) == [("a", 1)]
    await asyncio.sleep(0)
    assert await database.peek(ALL) == [("a", 1), ("b", 2)]


async def test_whoever_was_told_of_a_commit_sees_it_however_many_look(database: Database) -> None:
    async def write_and_look(number: int) -> None:
        for step in range(5):
            name = f"{number}-{step}"
            await database.write(put(name, number))
            assert await database.peek(ONE, name=name) == [(number,)]

    looking = [asyncio.create_task(look_on(database)) for _ in range(5)]
    await asyncio.gather(*(write_and_look(number) for number in range(20)))
    for each in looking:
        each.cancel()


@pytest.mark.parametrize("lookers", [0, 3])
async def test_the_log_is_folded_in_beside_the_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lookers: int
) -> None:
    monkeypatch.setattr(folding_module, "FOLD_SECONDS", 0.01)
    async with open_database(tmp_path) as database:
        looking = [asyncio.create_task(look_on(database)) for _ in range(lookers)]
        for number in range(400):
            await database.write(put(str(number), number))
            if number % 50 == 0:
                await asyncio.sleep(0.05)
        # As much as was written would be five times this.
        assert (tmp_path / "jide.db-wal").stat().st_size < 2_000_000
        for each in looking:
            each.cancel()
        await asyncio.sleep(0.1)
        with contextlib.closing(sqlite3.connect(tmp_path / "jide.db", isolation_level=None)) as other:
            _, pages, folded = other.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        assert pages == folded
        assert await database.read(ALL) == [(str(number), number) for number in range(400)]


async def test_who_writes_alone_waits_for_nobody_and_a_crowd_for_each_other(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(writer_module.time, "sleep", slept.append)
    monkeypatch.setattr(writer_module, "PAUSE_SECONDS", 60.0)
    monkeypatch.setattr(writer_module, "BUSY_SECONDS_EACH", 120.0)
    for number in range(5):
        await database.write(put(str(number), number))
    assert not slept
    async with held_writer(database):
        crowd = [asyncio.create_task(database.write(put(f"crowd {number}"))) for number in range(20)]
        await asyncio.sleep(0)
    await asyncio.gather(*crowd)
    await database.write(put("company"))
    assert slept and max(slept) <= 60
    slept.clear()
    monkeypatch.setattr(writer_module, "BUSY_SECONDS_EACH", 0.0)
    await database.write(put("few write now"))
    assert not slept
