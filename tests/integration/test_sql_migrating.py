"""The migrations end at the schema, at once or never, and a newer file is refused in words."""

import asyncio
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine
from sqlalchemy.pool import StaticPool

from bot.conversation.errors import ConfigurationError
from bot.storage.sql import migrating
from bot.storage.sql.database import Database
from bot.storage.sql.schema import metadata

MIGRATIONS = Path(migrating.__file__).parent / "migrations"


def objects(path: Path) -> dict[str, list[str]]:
    """Tables and indexes of a file, by name: their SQL, its constraints in any order."""
    with sqlite3.connect(path) as connection:
        rows = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
    connection.close()
    return {name: parts(sql) for name, sql in rows if name != "alembic_version"}


def parts(sql: str) -> list[str]:
    """In any order: a column that a migration adds is written behind the constraints."""
    return sorted(
        re.split(r", (?=CONSTRAINT |[a-z_]+ [A-Z]+)", " ".join(sql.split()).removesuffix(")").rstrip())
    )


def left_at(path: Path, revision: str, *statements: str) -> None:
    """A file as a program of an earlier revision left it."""
    connection = sqlite3.connect(path, isolation_level=None)
    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as shared:
        config.attributes["connection"] = shared
        command.upgrade(config, revision)
        for statement in statements:
            shared.exec_driver_sql(statement)
    connection.close()


async def opened_once(path: Path) -> None:
    database = Database(path)
    await database.open()
    await database.close()


async def test_the_migrations_end_at_the_schema(tmp_path: Path) -> None:
    migrated, created = tmp_path / "migrated.db", tmp_path / "created.db"
    await opened_once(migrated)
    for path in (migrated, created):
        engine = create_engine(f"sqlite:///{path}")
        with engine.begin() as connection:
            if path == created:
                metadata.create_all(connection)
            else:
                assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        engine.dispose()
    # What alembic does not compare: partial indexes, AUTOINCREMENT, cascades.
    assert objects(migrated) == objects(created)
    assert len(objects(migrated)) > len(metadata.tables)


def test_head_is_the_newest_revision() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_current_head() == migrating.HEAD


async def test_what_the_first_schema_held_stays(tmp_path: Path) -> None:
    path = tmp_path / "jide.db"
    left_at(path, "0001", "INSERT INTO document (name, digest, at) VALUES ('手册/退货.md', 'd', 7)")
    await opened_once(path)
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT name, digest, at, app_id FROM document").fetchall()
    connection.close()
    assert rows == [("手册/退货.md", "d", 7, "")]


async def test_the_places_of_earlier_messages_are_found(tmp_path: Path) -> None:
    """By their payload, or by the turn they became; of private ones there is none."""
    path = tmp_path / "jide.db"
    in_group = '{"conversation": {"channel": "onebot", "app_id": "10001", "group": "7:7"}, "text": "群里"}'
    private = '{"conversation": {"channel": "onebot", "app_id": "10001", "group": ""}, "text": "私下"}'
    payloads = (f"'{in_group}'", f"'{private}'", "NULL", "NULL", "NULL", "'no JSON'")
    left_at(
        path,
        "0002",
        "INSERT INTO person VALUES (1, 0, 0)",
        "INSERT INTO account VALUES (1, 'onebot', '10001', '1', '', 1, 0, 0, 0)",
        *(
            "INSERT INTO inbox (id, channel, app_id, key, payload, state, tries, error, accepted_at)"
            f" VALUES ({number}, 'onebot', '10001', '{number}', {payload}, 'closed', 0, '', 0)"
            for number, payload in enumerate(payloads, 1)
        ),
        "INSERT INTO shelf VALUES (1, 1, 'onebot:10001:8', 0, 0, '', 0), (2, 1, '', 0, 0, '', 0)",
        "INSERT INTO turn VALUES (1, 1, 3, '', '', '', 0), (2, 2, 4, '', '', '', 0)",
    )
    await opened_once(path)
    with sqlite3.connect(path) as connection:
        places = dict(connection.execute("SELECT id, place FROM inbox").fetchall())
        account = connection.execute("SELECT is_open FROM account").fetchall()
        shelves = connection.execute("SELECT cleared_epoch FROM shelf").fetchall()
    connection.close()
    assert places == {1: "onebot:10001:7:7", 2: "", 3: "onebot:10001:8", 4: "", 5: "", 6: ""}
    assert (account, shelves) == ([(0,)], [(0,), (0,)])


async def test_two_starts_at_once_migrate_once(tmp_path: Path) -> None:
    path = tmp_path / "jide.db"
    await asyncio.gather(*(opened_once(path) for _ in range(4)))
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(migrating.HEAD,)]
    connection.close()


async def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "jide.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE turn (mine TEXT)")  # in the way, and late in the migration
    connection.close()
    before = objects(path)
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        await opened_once(path)
    assert objects(path) == before


async def test_a_file_of_a_newer_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "jide.db"
    await opened_once(path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(ConfigurationError, match="数据库由更新版本的程序写成（版本 9999"):
        await opened_once(path)


async def test_something_else_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "jide.db"
    path.write_text("这是一封信，不是数据库。" * 100)
    with pytest.raises(ConfigurationError, match="不是数据库文件"):
        await opened_once(path)
    assert path.read_text().startswith("这是一封信")


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(ConfigurationError, match="无法写入"):
        await opened_once(tmp_path / "data" / "jide.db")


async def test_a_migrated_file_opens_without_alembic(tmp_path: Path) -> None:
    path = tmp_path / "jide.db"
    await opened_once(path)
    script = (
        "import asyncio, pathlib, sys\n"
        "from bot.storage.sql.database import Database\n"
        "async def main():\n"
        "    database = Database(pathlib.Path(sys.argv[1])); await database.open(); await database.close()\n"
        "asyncio.run(main()); print('alembic' in sys.modules)\n"
    )
    ran = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["False"]
