"""What runs for each message, or at each start, goes by index however long the tables have grown."""

from pathlib import Path

import pytest

from bot.storage.sql import (
    account_statements,
    closed_facts,
    delivery_statements,
    inbox,
    jobs,
    scopes,
    shelves,
)
from bot.storage.sql.statements import Statement
from tests.integration.database_fixture import open_database

HOT = {
    "admit again": inbox._FIND,
    "unfinished": inbox._UNFINISHED,
    "undelivered": inbox._UNDELIVERED,
    "close": inbox._CLOSE,
    "sealed": delivery_statements.SEALED,
    "oldest held": delivery_statements.OLDEST_HELD,
    "crashed": delivery_statements.CRASHED,
    "taken scopes": jobs._TAKEN_SCOPES,
    "may become a turn": inbox._STATE,
    "current": scopes._CURRENT,
    "shelf": scopes._FIND_SHELF,
    "find account": account_statements.FIND,
    "outdated": closed_facts._OUTDATED,
    "owner of a unionid": account_statements.OWNER_OF_UNIONID,
}


_OF_LISTS = ("SCALAR", "CORRELATED SCALAR", "LIST SUBQUERY", "SCAN json_each")


@pytest.mark.parametrize("name", HOT)
async def test_hot_statements_go_by_index(name: str, tmp_path: Path) -> None:
    statement: Statement = HOT[name]
    places = [None] * statement.text.count("?")
    async with open_database(tmp_path) as database:
        plan = await database.write(
            lambda connection: connection.execute("EXPLAIN QUERY PLAN " + statement.text, places).fetchall()
        )
    steps = [row[-1] for row in plan]
    assert steps
    for step in steps:
        assert "USING" in step or step.startswith(_OF_LISTS), steps
        assert "TEMP B-TREE" not in step, steps


async def test_what_a_scope_covers_goes_by_index(tmp_path: Path) -> None:
    """At each recall. Only its few shelves are sorted."""
    statement = shelves.COVERED_SHELVES
    places = [None] * statement.text.count("?")
    async with open_database(tmp_path) as database:
        plan = await database.write(
            lambda connection: connection.execute("EXPLAIN QUERY PLAN " + statement.text, places).fetchall()
        )
    steps = [row[-1] for row in plan if row[-1] != "USE TEMP B-TREE FOR ORDER BY"]
    assert len(steps) == 4
    assert all(step.startswith("SEARCH") and "USING" in step for step in steps), steps
