"""What was acknowledged survives SIGKILL, also with another process at the file."""

import asyncio
import os
import signal
import sqlite3
import sys
from pathlib import Path

from sqlalchemy import select

from bot.storage.sql.schema import inbox
from bot.storage.sql.statements import Statement
from tests.integration.database_fixture import open_database

KEYS = Statement(select(inbox.c.key))

CHILD = """
import asyncio, pathlib, sys
from tests.integration.database_fixture import a_message, open_stores

async def admit(stores, lane):
    number = 0
    while True:
        key = f"{lane}-{number}"
        await stores.inbox.admit(a_message(key))
        sys.stdout.write(key + "\\n")
        sys.stdout.flush()
        number += 1

async def main():
    async with open_stores(pathlib.Path(sys.argv[1])) as stores:
        await asyncio.gather(*(admit(stores, lane) for lane in range(32)))

asyncio.run(main())
"""

ROUNDS = 3
ACKNOWLEDGED = 400


async def acknowledged_before_kill(folder: Path) -> list[str]:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CHILD, str(folder), stdout=asyncio.subprocess.PIPE
    )
    assert child.stdout is not None
    lines = [await child.stdout.readline() for _ in range(ACKNOWLEDGED)]
    os.kill(child.pid, signal.SIGKILL)
    lines += (await child.stdout.read()).splitlines(keepends=True)
    await child.wait()
    # The last line may be cut: it was not fully said.
    return [line.decode().strip() for line in lines if line.endswith(b"\n")]


async def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    for number in range(ROUNDS):
        folder = tmp_path / str(number)
        async with open_database(folder) as beside:
            acknowledged = await acknowledged_before_kill(folder)
            assert len(acknowledged) >= ACKNOWLEDGED
            stored = {row[0] for row in await beside.read(KEYS)}
            assert set(acknowledged) <= stored
            await beside.quiesce_and_checkpoint()
        with sqlite3.connect(folder / "jide.db") as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert set(acknowledged) <= {row[0] for row in connection.execute("SELECT key FROM inbox")}
        connection.close()
